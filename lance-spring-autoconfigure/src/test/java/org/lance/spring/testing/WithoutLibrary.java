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
