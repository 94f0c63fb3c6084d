// Reads the table that the sample wrote with LanceDB's own client, and compares it with the file it came from.
//
// node read-table.mjs <directory of the tables> <table> <Arrow file>
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { connect } from "@lancedb/lancedb";
import { tableFromIPC } from "apache-arrow";

const [directory, name, file] = process.argv.slice(2);

function sum(table, column) {
	let total = 0;
	for (const value of table.getChild(column)) {
		total += Number(value);
	}
	return total;
}

const expected = tableFromIPC(readFileSync(file));
const database = await connect(directory);
const table = await database.openTable(name);
const actual = await table.query().toArrow();

assert.equal(expected.numRows, 200_000, "rows of the file");
assert.equal(await table.countRows(), expected.numRows, "rows counted in the table");
assert.equal(actual.numRows, expected.numRows, "rows read from the table");
for (const column of ["delay", "distance"]) {
	assert.equal(sum(actual, column), sum(expected, column), `sum of ${column}`);
}
console.log(`LanceDB's client reads ${actual.numRows} rows of '${name}': `
	+ `sum of delay ${sum(actual, "delay")}, of distance ${sum(actual, "distance")}, as in the file`);
