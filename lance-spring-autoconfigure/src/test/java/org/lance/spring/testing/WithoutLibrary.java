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

package org.lance.spring.testing;

import java.io.IOException;
import java.io.InputStream;

/**
 * Loads our own classes anew, in a class path that lacks a library. A class loader that
 * merely hides names does not do: our classes were linked with the library before.
 */
public final class WithoutLibrary extends ClassLoader {

	private static final String OWN = "org.lance.spring.";

	private final String missing;

	/**
	 * Creates a class loader.
	 * @param missing what the names of the missing classes start with
	 */
	public WithoutLibrary(String missing) {
		super(WithoutLibrary.class.getClassLoader());
		this.missing = missing;
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		synchronized (getClassLoadingLock(name)) {
			if (name.startsWith(this.missing)) {
				throw new ClassNotFoundException(name);
			}
			Class<?> known = findLoadedClass(name);
			if (known != null || !name.startsWith(OWN)) {
				return (known != null) ? known : super.loadClass(name, resolve);
			}
			try (InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
				if (code == null) {
					throw new ClassNotFoundException(name);
				}
				byte[] bytes = code.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			}
			catch (IOException ex) {
				throw new ClassNotFoundException(name, ex);
			}
		}
	}

}
