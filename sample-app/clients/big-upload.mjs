// Uploads a large Arrow stream, made while it is sent, and reports the memory of the server meanwhile (Linux).
//
// node big-upload.mjs <address of the sample> <process id of the sample> <bytes to send>
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { Float64, makeTable, tableToIPC } from "apache-arrow";

const [address, pid, size] = process.argv.slice(2);
const END = 8;

const rows = 131_072;
const values = () => Float64Array.from({ length: rows }, Math.random);
const table = makeTable({ a: values(), b: values(), c: values(), d: values() });
assert(table.schema.fields[0].type instanceof Float64);
const stream = tableToIPC(table, "stream");
// A message begins with a marker and the length of its metadata; that of a schema has no body.
const schemaLength = 8 + new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
const schema = stream.subarray(0, schemaLength);
const batch = stream.subarray(schemaLength, stream.length - END);
const batches = Math.ceil(Number(size) / batch.length);

async function* body() {
	yield schema;
	for (let i = 0; i < batches; i++) {
		yield batch;
	}
	yield stream.subarray(stream.length - END);
}

const megabytes = (bytes) => Math.round(bytes / 1_048_576);
const peaks = {};

function note(name, bytes) {
	peaks[name] = Math.max(peaks[name] ?? 0, megabytes(bytes));
}

async function meter(name) {
	const response = await fetch(`${address}/actuator/metrics/${name}`);
	return (await response.json()).measurements[0].value;
}

async function sample() {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	for (const name of ["RssAnon", "RssFile"]) {
		note(name, Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) * 1024);
	}
	note("heap", await meter("jvm.memory.used?tag=area:heap"));
	note("Arrow memory", await meter("lance.memory.allocated"));
	note("spill file", await meter("lance.spill.disk.used"));
}

await sample();
const before = { ...peaks };
const timer = setInterval(() => sample().catch((error) => console.error(error)), 200);
const response = await fetch(`${address}/api/tables/big`, {
	method: "POST", body: body(), duplex: "half", headers: { "Content-Type": "application/vnd.apache.arrow.stream" },
});
clearInterval(timer);
const result = await response.json();
console.log(response.status, JSON.stringify(result));
console.log(`MiB before: ${JSON.stringify(before)}`);
console.log(`MiB at most: ${JSON.stringify(peaks)}`);
assert(response.ok, "the upload is stored");
assert.equal(result.rows, rows * batches, "rows");
