/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

/**
 * Lance datasets: writes of any source, and a small read side. The only code that works
 * with lance-core (its auto-configuration merely looks whether it is there); it uses
 * {@code stream}, {@code source} and Arrow's C data interface.
 */
@NullMarked
package org.lance.spring.dataset;

import org.jspecify.annotations.NullMarked;
