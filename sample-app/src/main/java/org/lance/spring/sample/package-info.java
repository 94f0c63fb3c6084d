/**
 * The sample application.
 */
@NullMarked
package org.lance.spring.sample;

import org.jspecify.annotations.NullMarked;
