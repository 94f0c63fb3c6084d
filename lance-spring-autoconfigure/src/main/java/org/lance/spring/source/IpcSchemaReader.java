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

package org.lance.spring.source;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.complex.BaseRepeatedValueVector;
import org.apache.arrow.vector.types.Types;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.ArrowType.ExtensionType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.ExtensionTypeRegistry;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.jspecify.annotations.Nullable;
import org.lance.spring.stream.SchemaMismatchException;
import org.lance.spring.stream.Schemas;

/**
 * Reads the schema message of an IPC stream into memory format, and refuses what Arrow
 * Java would misread or choke on later, by the path of the field.
 */
final class IpcSchemaReader {

	private static final int MAX_DEPTH = 128;

	/**
	 * A field takes more bytes than this; the same table may be referred to many times,
	 * which is how a small message becomes a huge schema.
	 */
	private static final int BYTES_PER_FIELD = 24;

	/**
	 * What no sensible schema has, however long its message.
	 */
	private static final int MAX_FIELDS = 1 << 18;

	/**
	 * An entry of metadata takes more bytes than this, also an empty one.
	 */
	private static final int BYTES_PER_ENTRY = 8;

	private final short version;

	private final BufferAllocator allocator;

	private final Map<Long, Field> dictionaryFields = new LinkedHashMap<>();

	/**
	 * The names down to the field that is being read; joined only for a message.
	 */
	private final Deque<String> path = new ArrayDeque<>();

	private long fieldsLeft;

	private long textLeft;

	private IpcSchemaReader(short version, int metadataLength, BufferAllocator allocator) {
		this.version = version;
		this.allocator = allocator;
		this.fieldsLeft = Math.min(metadataLength / BYTES_PER_FIELD, MAX_FIELDS);
		this.textLeft = 64L * 1024 + 4L * metadataLength;
	}

	/**
	 * Reads a schema.
	 * @param schema the table of the message
	 * @param version the metadata version of the message
	 * @param metadataLength the bytes of the message
	 * @param allocator for vectors that are made to see whether they can be; nothing is
	 * allocated
	 */
	static IpcSchema read(org.apache.arrow.flatbuf.Schema schema, short version, int metadataLength,
			BufferAllocator allocator) {
		if (schema.endianness() != Endianness.Little) {
			throw new UnsupportedIpcException("The Arrow data are big-endian, which Arrow Java can't read. "
					+ "Write them on a little-endian machine, or convert them with Arrow C++ first");
		}
		return new IpcSchemaReader(version, metadataLength, allocator).read(schema);
	}

	private IpcSchema read(org.apache.arrow.flatbuf.Schema schema) {
		List<Field> fields = new ArrayList<>();
		for (int i = 0; i < schema.fieldsLength(); i++) {
			fields.add(field(schema.fields(i)));
		}
		Map<String, String> metadata = new LinkedHashMap<>();
		for (int i = 0; i < schema.customMetadataLength(); i++) {
			put(metadata, schema.customMetadata(i));
		}
		fields.forEach((field) -> IpcFields.check(field, field.getName(), this.allocator));
		this.dictionaryFields.forEach((id, field) -> IpcFields.check(field, "dictionary " + id, this.allocator));
		return new IpcSchema(new Schema(fields, metadata), Map.copyOf(this.dictionaryFields));
	}

	private Field field(org.apache.arrow.flatbuf.@Nullable Field source) {
		if (source == null || --this.fieldsLeft < 0) {
			throw new MalformedIpcException("The schema has more fields than its message has room for");
		}
		String name = source.name();
		count(name);
		this.path.addLast(String.valueOf(name));
		if (this.path.size() > MAX_DEPTH) {
			throw new UnsupportedIpcException(
					"Column '%s' is nested deeper than %d levels".formatted(this.path.getFirst(), MAX_DEPTH));
		}
		Field field = field(source, name);
		this.path.removeLast();
		return field;
	}

	private Field field(org.apache.arrow.flatbuf.Field source, @Nullable String name) {
		ArrowType type = type(source);
		Map<String, String> metadata = new LinkedHashMap<>();
		for (int i = 0; i < source.customMetadataLength(); i++) {
			put(metadata, source.customMetadata(i));
		}
		List<Field> children = new ArrayList<>();
		for (int i = 0; i < source.childrenLength(); i++) {
			children.add(child(type, field(source.children(i))));
		}
		type = IpcFields.withTypeIds(type, children.size());
		IpcFields.checkChildren(type, children, this::path);
		type = extension(type, metadata);
		if (source.dictionary() == null) {
			return new Field(name, new FieldType(source.nullable(), type, null, metadata), children);
		}
		DictionaryEncoding encoding = encoding(source.dictionary());
		register(encoding.getId(),
				new Field("DICT" + encoding.getId(), new FieldType(source.nullable(), type, null, null), children));
		return new Field(name, new FieldType(source.nullable(), encoding.getIndexType(), encoding, metadata), null);
	}

	/**
	 * Gives the child of a list the name that Arrow Java's vector gives it; writers
	 * before 0.8 used another.
	 */
	private static Field child(ArrowType parent, Field child) {
		if ((parent instanceof ArrowType.List || parent instanceof ArrowType.FixedSizeList)
				&& "[DEFAULT]".equals(child.getName())) {
			return new Field(BaseRepeatedValueVector.DATA_VECTOR_NAME, child.getFieldType(), child.getChildren());
		}
		return child;
	}

	private ArrowType type(org.apache.arrow.flatbuf.Field source) {
		byte id = source.typeType();
		if (id == Type.Union) {
			checkUnion(source);
		}
		if (id == Type.Decimal) {
			checkDecimal(source);
		}
		try {
			ArrowType type = ArrowType.getTypeForField(source);
			Types.getMinorTypeForArrowType(type);
			IpcFields.checkParameters(type);
			return type;
		}
		catch (IllegalArgumentException | UnsupportedOperationException ex) {
			String typeName = (id > 0 && id < Type.names.length) ? Type.name(id) : "number " + id;
			throw new UnsupportedIpcException("Field '%s' has a type that Arrow Java can't read (%s): %s. Cast it"
				.formatted(path(), typeName, ex.getMessage()), ex);
		}
	}

	private void checkUnion(org.apache.arrow.flatbuf.Field source) {
		if (this.version < MetadataVersion.V5) {
			throw new UnsupportedIpcException(
					"Field '%s' is a union in the old layout (metadata version V4), which Arrow Java can't read. "
						.formatted(path()) + "Write it with Arrow 1.0 or newer");
		}
		org.apache.arrow.flatbuf.Union union = (org.apache.arrow.flatbuf.Union) source
			.type(new org.apache.arrow.flatbuf.Union());
		if (union != null && (union.typeIdsLength() < 0 || union.typeIdsLength() > IpcFields.MAX_UNION)) {
			throw new MalformedIpcException(
					"Field '%s' is a union that says that it has %d types".formatted(path(), union.typeIdsLength()));
		}
	}

	private void checkDecimal(org.apache.arrow.flatbuf.Field source) {
		org.apache.arrow.flatbuf.Decimal decimal = (org.apache.arrow.flatbuf.Decimal) source
			.type(new org.apache.arrow.flatbuf.Decimal());
		if (decimal != null && (decimal.bitWidth() == 32 || decimal.bitWidth() == 64)) {
			throw new UnsupportedIpcException(
					"Field '%s' is a decimal%d, which Arrow Java can't read. Cast it to decimal128".formatted(path(),
							decimal.bitWidth()));
		}
	}

	private ArrowType extension(ArrowType storage, Map<String, String> metadata) {
		String name = metadata.get(ExtensionType.EXTENSION_METADATA_KEY_NAME);
		ExtensionType registered = (name != null) ? ExtensionTypeRegistry.lookup(name) : null;
		if (registered == null) {
			return storage;
		}
		try {
			return registered.deserialize(storage,
					metadata.getOrDefault(ExtensionType.EXTENSION_METADATA_KEY_METADATA, ""));
		}
		catch (RuntimeException ex) {
			throw new UnsupportedIpcException("Field '%s' can't be read as the registered extension type '%s': %s"
				.formatted(path(), name, ex.getMessage()), ex);
		}
	}

	private DictionaryEncoding encoding(org.apache.arrow.flatbuf.DictionaryEncoding source) {
		org.apache.arrow.flatbuf.Int index = source.indexType();
		if (index == null) {
			return new DictionaryEncoding(source.id(), source.isOrdered(), null);
		}
		switch (index.bitWidth()) {
			case 8, 16, 32, 64 -> {
			}
			default -> throw new MalformedIpcException(
					"The dictionary of field '%s' has indexes of %d bits".formatted(path(), index.bitWidth()));
		}
		return new DictionaryEncoding(source.id(), source.isOrdered(),
				new ArrowType.Int(index.bitWidth(), index.isSigned()));
	}

	private void register(long id, Field values) {
		Field before = this.dictionaryFields.putIfAbsent(id, values);
		if (before != null) {
			try {
				Schemas.checkCompatible(new Schema(List.of(before)), new Schema(List.of(values)));
			}
			catch (SchemaMismatchException ex) {
				throw new MalformedIpcException("Field '%s' uses dictionary %d with values of another type: %s"
					.formatted(path(), id, ex.getMessage()), ex);
			}
		}
	}

	private void put(Map<String, String> metadata, @Nullable KeyValue entry) {
		count(BYTES_PER_ENTRY);
		if (entry != null) {
			String key = entry.key();
			String value = entry.value();
			count(key);
			count(value);
			metadata.put((key != null) ? key : "", (value != null) ? value : "");
		}
	}

	private void count(@Nullable String text) {
		count((text != null) ? text.length() : 0);
	}

	private void count(int length) {
		this.textLeft -= length;
		if (this.textLeft < 0) {
			throw new MalformedIpcException("The schema has more text than its message has room for");
		}
	}

	private String path() {
		return String.join(".", this.path);
	}

}
