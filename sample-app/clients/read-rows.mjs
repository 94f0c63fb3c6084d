// Reads the rows of a table from the running sample as an Arrow stream, with Arrow's own JavaScript client.
//
// node read-rows.mjs <address of the sample> <table> <Arrow file>
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { RecordBatchReader, tableFromIPC } from "apache-arrow";

const [address, name, file] = process.argv.slice(2);
const expected = tableFromIPC(readFileSync(file));

const response = await fetch(`${address}/api/tables/${name}/rows`, { headers: { Accept: "application/vnd.apache.arrow.stream" } });
assert.equal(response.status, 200);
assert.equal(response.headers.get("content-type"), "application/vnd.apache.arrow.stream");

const reader = await RecordBatchReader.from(response);
let rows = 0;
let batches = 0;
let delay = 0;
for await (const batch of reader) {
	batches++;
	rows += batch.numRows;
	for (const value of batch.getChild("delay")) {
		delay += value;
	}
}
let expectedDelay = 0;
for (const value of expected.getChild("delay")) {
	expectedDelay += value;
}
assert.equal(rows, expected.numRows, "rows");
assert.equal(delay, expectedDelay, "sum of delay");

const few = await fetch(`${address}/api/tables/${name}/rows?limit=3`);
assert.equal((await few.json()).length, 3, "rows as JSON");
console.log(`Arrow's client reads ${rows} rows of '${name}' in ${batches} batches: sum of delay ${delay}, as in the file`);
