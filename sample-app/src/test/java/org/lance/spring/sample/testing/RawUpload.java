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

package org.lance.spring.sample.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * An upload whose body is sent by hand, piece by piece, so that it can be slow or break
 * off.
 */
public final class RawUpload implements AutoCloseable {

	private final Socket socket;

	private final OutputStream out;

	public RawUpload(int port, String table) throws IOException {
		this.socket = new Socket("localhost", port);
		this.socket.setTcpNoDelay(true);
		this.socket.setSoTimeout(60_000);
		this.out = this.socket.getOutputStream();
		String head = "POST /api/tables/" + table + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
				+ SampleClient.STREAM + "\r\nTransfer-Encoding: chunked\r\n\r\n";
		this.out.write(head.getBytes(StandardCharsets.US_ASCII));
		this.out.flush();
	}

	public void send(byte[] bytes, int from, int to) throws IOException {
		this.out.write((Integer.toHexString(to - from) + "\r\n").getBytes(StandardCharsets.US_ASCII));
		this.out.write(bytes, from, to - from);
		this.out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
		this.out.flush();
	}

	public void complete() throws IOException {
		this.out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
		this.out.flush();
	}

	/**
	 * Reads what the server answers until it closes the connection or the body is
	 * complete.
	 */
	public String answer() throws IOException {
		byte[] buffer = new byte[64 * 1024];
		int length = 0;
		while (length < buffer.length) {
			int count = this.socket.getInputStream().read(buffer, length, buffer.length - length);
			if (count < 0) {
				break;
			}
			length += count;
			String text = new String(buffer, 0, length, StandardCharsets.UTF_8);
			if (text.contains("\r\n\r\n") && text.endsWith("}")) {
				break;
			}
		}
		return new String(buffer, 0, length, StandardCharsets.UTF_8);
	}

	/**
	 * Breaks the connection off, so that the server sees a reset.
	 */
	public void reset() throws IOException {
		this.socket.setSoLinger(true, 0);
		this.socket.close();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
