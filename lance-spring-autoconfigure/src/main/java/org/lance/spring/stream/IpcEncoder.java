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

package org.lance.spring.stream;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.ipc.message.ArrowDictionaryBatch;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Encodes record batches as the messages of one Arrow IPC stream, without copying their
 * buffers. A dictionary is encoded again only when its version changed, and a version
 * that continues the encoded one as a delta.
 * <p>
 * The byte buffers of a message alias the memory of its batch: they are valid while the
 * batch is held. <b>Ownership.</b> Holds the dictionary versions that it encoded last,
 * until {@link #close()}. <b>Threads.</b> One at a time.
 * <p>
 * Public for the other packages of this library only; may change in any release.
 *
 * @since 0.1.0
 */
public final class IpcEncoder implements AutoCloseable {

	private final Schema schema;

	private final BodyEncoder body;

	private final BodyRewriter rewriter;

	/**
	 * By id, inner dictionaries before the outer ones whose values refer to them.
	 */
	private final Map<Long, ValueEncoder> values = new LinkedHashMap<>();

	/**
	 * What a reader of the messages so far has, by id. References are held, so that the
	 * identity of a version can't be that of a later one.
	 */
	private final Map<Long, DictionaryVersion> encoded = new HashMap<>();

	private boolean started;

	/**
	 * Creates an encoder.
	 * @param schema the schema of all batches, in memory format
	 */
	public IpcEncoder(Schema schema) {
		this(schema, (fields, body) -> new Body(body, 0));
	}

	/**
	 * Creates an encoder of bodies that are rewritten before, such as compressed.
	 * @param schema the schema of all batches, in memory format
	 * @param rewriter rewrites each body
	 */
	public IpcEncoder(Schema schema, BodyRewriter rewriter) {
		this.schema = schema;
		this.body = new BodyEncoder(schema.getFields());
		this.rewriter = rewriter;
	}

	/**
	 * Encodes the schema message; must come first, once.
	 * @param dictionaryFields the value fields of the dictionaries, by id
	 * @return the message
	 * @throws IllegalArgumentException if the field of a dictionary is missing, or is
	 * itself dictionary-encoded, which the IPC format has no words for
	 */
	public Message schema(Map<Long, Field> dictionaryFields) {
		if (this.started) {
			throw new IllegalStateException("The schema of this stream was already encoded");
		}
		MessageFormat format = new MessageFormat(dictionaryFields);
		Schema message = format.convert(this.schema);
		format.valueFields().forEach((id, field) -> this.values.put(id, new ValueEncoder(field)));
		this.started = true;
		return message(MessageSerializer.serializeMetadata(message, IpcOption.DEFAULT));
	}

	/**
	 * Encodes what a batch needs before it: the dictionary versions that are new.
	 * @param batch the batch, borrowed
	 * @return the messages in the order to write them, none if no dictionary changed
	 * @throws SchemaMismatchException if the values of a dictionary have another type
	 * than the schema message said
	 * @throws InvalidRecordBatchException if the batch lacks a dictionary
	 */
	public List<DictionaryMessage> dictionaries(RecordBatch batch) {
		checkStarted();
		if (this.values.isEmpty()) {
			return List.of();
		}
		Map<Long, DictionaryVersion> versions = new HashMap<>();
		batch.dictionaries().forEach((version) -> versions.put(version.id(), version));
		List<DictionaryMessage> messages = new ArrayList<>();
		this.values.forEach((id, encoder) -> {
			DictionaryVersion version = versions.get(id);
			if (version == null) {
				throw new InvalidRecordBatchException("Dictionary %d is missing in the batch".formatted(id));
			}
			if (version != this.encoded.get(id)) {
				encode(version, encoder, messages);
			}
		});
		return messages;
	}

	private void encode(DictionaryVersion version, ValueEncoder encoder, List<DictionaryMessage> messages) {
		Schemas.checkCompatible(encoder.schema, encoder.schema(version.field()));
		DictionaryVersion last = this.encoded.get(version.id());
		Deque<DictionaryVersion> news = new ArrayDeque<>();
		DictionaryVersion current = version;
		while (current != null && current != last) {
			news.addFirst(current);
			current = current.previous();
		}
		for (DictionaryVersion part : news) {
			boolean delta = part.previous() != null;
			Body values = this.rewriter.rewrite(encoder.schema.getFields(), encoder.body.complete(part.values()));
			ArrowDictionaryBatch header = new ArrowDictionaryBatch(part.id(), values.content(), delta);
			messages.add(new DictionaryMessage(part, delta,
					message(MessageSerializer.serializeMetadata(header, IpcOption.DEFAULT), values)));
		}
		this.encoded.put(version.id(), version.retain());
		if (last != null) {
			last.close();
		}
	}

	/**
	 * Encodes a batch; its {@link #dictionaries(RecordBatch)} come before it.
	 * @param batch the batch, borrowed
	 * @return the message
	 */
	public Message batch(RecordBatch batch) {
		checkStarted();
		Body columns = this.rewriter.rewrite(this.schema.getFields(), this.body.complete(batch.body()));
		return message(MessageSerializer.serializeMetadata(columns.content(), IpcOption.DEFAULT), columns);
	}

	/**
	 * Encodes the end marker. Only for a stream that is complete.
	 * @return the message
	 */
	public Message end() {
		checkStarted();
		return message(ByteBuffer.allocate(0));
	}

	/**
	 * Returns the value fields that the dictionaries of a batch have.
	 * @param versions the versions
	 * @return the fields by id
	 */
	public static Map<Long, Field> fields(Collection<DictionaryVersion> versions) {
		Map<Long, Field> fields = new LinkedHashMap<>();
		versions.forEach((version) -> fields.put(version.id(), version.field()));
		return fields;
	}

	private static Message message(ByteBuffer metadata) {
		ByteBuffer head = BodyEncoder.head(metadata);
		return new Message(List.of(head), head.remaining(), 0, 0);
	}

	private static Message message(ByteBuffer metadata, Body body) {
		ByteBuffer head = BodyEncoder.head(metadata);
		List<ByteBuffer> content = BodyEncoder.buffers(body.content());
		List<ByteBuffer> buffers = new ArrayList<>(content.size() + 1);
		buffers.add(head);
		buffers.addAll(content);
		return new Message(buffers, head.remaining(), body.content().computeBodyLength(), body.uncompressedLength());
	}

	private void checkStarted() {
		if (!this.started) {
			throw new IllegalStateException("The schema message comes first");
		}
	}

	/**
	 * Gives the dictionary versions back. Idempotent.
	 */
	@Override
	public void close() {
		this.encoded.values().forEach(DictionaryVersion::close);
		this.encoded.clear();
	}

	/**
	 * One encapsulated message.
	 *
	 * @param buffers its bytes in order, aliasing the batch; padded to 8 bytes
	 * @param metadataLength the bytes of marker, length and metadata with its padding
	 * @param bodyLength the bytes of the body with its padding
	 * @param uncompressedLength the bytes that the body has when it is decompressed, or 0
	 * if it is not compressed
	 * @since 0.1.0
	 */
	public record Message(List<ByteBuffer> buffers, int metadataLength, long bodyLength, long uncompressedLength) {

		/**
		 * Returns the length of the whole message.
		 * @return the bytes
		 */
		public long length() {
			return this.metadataLength + this.bodyLength;
		}

	}

	/**
	 * Rewrites bodies before they are encoded, without changing what they mean.
	 *
	 * @since 0.1.0
	 */
	@FunctionalInterface
	public interface BodyRewriter {

		/**
		 * Rewrites a body.
		 * @param fields its columns, in memory format
		 * @param body the body, borrowed
		 * @return the body itself or another one, which is never closed; valid until its
		 * message was written, which is for the owner of this rewriter to know
		 */
		Body rewrite(List<Field> fields, ArrowRecordBatch body);

	}

	/**
	 * A body that was rewritten.
	 *
	 * @param content its buffers
	 * @param uncompressedLength the bytes that it has when it is decompressed, each
	 * buffer padded to 8 bytes, or 0 if it is not compressed
	 * @since 0.1.0
	 */
	public record Body(ArrowRecordBatch content, long uncompressedLength) {

	}

	/**
	 * The message of a dictionary version.
	 *
	 * @param version the version, borrowed from the batch
	 * @param delta whether it is encoded as a delta
	 * @param message the message
	 * @since 0.1.0
	 */
	public record DictionaryMessage(DictionaryVersion version, boolean delta, Message message) {

	}

	/**
	 * Encodes the values of one dictionary.
	 */
	private static final class ValueEncoder {

		private final Schema schema;

		private final BodyEncoder body;

		ValueEncoder(Field field) {
			this.schema = schema(field);
			this.body = new BodyEncoder(List.of(field));
		}

		/**
		 * The name of the value field is not part of the stream, so it may differ.
		 */
		Schema schema(Field field) {
			FieldType type = new FieldType(true, field.getType(), null);
			return new Schema(List.of(new Field("values", type, field.getChildren())));
		}

	}

}
