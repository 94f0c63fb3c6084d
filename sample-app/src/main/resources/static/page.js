const REFRESH_MILLIS = 2000;

const byId = (id) => document.getElementById(id);
const number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

async function get(path) {
	const response = await fetch(path, { headers: { Accept: "application/json" } });
	if (!response.ok) {
		throw new Error(`${path} answered ${response.status}`);
	}
	return response.json();
}

/* Text only: names of tables and columns come from whoever uploaded them. */
function row(...cells) {
	const tr = document.createElement("tr");
	for (const cell of cells) {
		const td = tr.insertCell();
		if (cell instanceof Node) {
			td.append(cell);
		}
		else {
			td.textContent = cell;
			td.className = /^-?[\d,.]+( \w+)?$/.test(cell) ? "number" : "";
		}
	}
	return tr;
}

function bar(share) {
	const div = document.createElement("div");
	div.className = "bar";
	div.style.width = `${Math.max(0, share) * 100}%`;
	return div;
}

async function showJob() {
	const { state, result, error } = await get("api/summary");
	byId("job").className = state === "FAILED" ? "failed" : "";
	byId("bands").hidden = !result;
	if (!result) {
		byId("job").textContent = { OFF: "The job at start is switched off.", RUNNING: "The job at start is running…", FAILED: `The job at start failed: ${error}` }[state];
		return;
	}
	const { rows, meanDelay, bands } = result.summary;
	byId("job").textContent = `${number(rows)} flights, ${number(meanDelay, 2)} minutes late on average. `
		+ `Table “${result.table}” has version ${number(result.version)}, written in ${number(result.millis)} ms; `
		+ `${number(result.spilledBytes)} bytes went through a file.`;
	const most = Math.max(...bands.map((band) => band.meanDelay));
	byId("bands").tBodies[0].replaceChildren(...bands.map((band) => row(
		band.to < 0 ? `${number(band.from)} and more` : `${number(band.from)} to ${number(band.to - 1)}`,
		number(band.flights), number(band.meanDelay, 2), bar(band.meanDelay / most))));
}

async function showTables() {
	const tables = await get("api/tables");
	byId("tables").replaceChildren(...tables.map((table) => row(table.table, number(table.rows), number(table.version),
		table.schema.map((column) => `${column.name}: ${column.type}`).join(", "))));
}

/* A meter of executors is asked for each of them: their sum says nothing. */
async function meters(name) {
	const meter = await get(`actuator/metrics/${name}`);
	const executors = name.startsWith("executor.") ? meter.availableTags.find((tag) => tag.tag === "name")?.values ?? [] : [];
	if (!executors.length) {
		return [{ ...meter, label: name }];
	}
	return Promise.all(executors.sort().map(async (executor) => (
		{ ...await get(`actuator/metrics/${name}?tag=name:${encodeURIComponent(executor)}`), label: `${name} of ${executor}` })));
}

/* Counters have the statistic COUNT, gauges VALUE; timers and others are left to Prometheus. */
async function showMeters() {
	const { names } = await get("actuator/metrics");
	const shown = names.filter((name) => name.startsWith("lance.") || /^executor\.(active|queued|pool\.size)$/.test(name)).sort();
	const all = (await Promise.all(shown.map(meters))).flat();
	byId("meters").replaceChildren(...all.map((meter) => {
		const value = meter.measurements.find((one) => one.statistic === "VALUE" || one.statistic === "COUNT") ?? meter.measurements[0];
		const unit = meter.baseUnit ? ` ${meter.baseUnit}` : "";
		// The largest long stands for "none" in meters of limits.
		const shown = value.value > Number.MAX_SAFE_INTEGER ? "no limit" : `${number(value.value)}${unit}`;
		return row(meter.label, shown, meter.description ?? "");
	}));
}

async function refresh() {
	const outcomes = await Promise.allSettled([showJob(), showTables(), showMeters()]);
	const failed = outcomes.find((outcome) => outcome.status === "rejected");
	byId("updated").textContent = failed ? `Not up to date: ${failed.reason.message}.` : `Updated ${new Date().toLocaleTimeString()}.`;
	setTimeout(refresh, REFRESH_MILLIS);
}

byId("hint").textContent = `curl --data-binary @my.arrows -H 'Content-Type: application/vnd.apache.arrow.stream' ${location.origin}/api/tables/mine
curl -T my.arrow -X POST -H 'Content-Type: application/vnd.apache.arrow.file' ${location.origin}/api/tables/mine
curl '${location.origin}/api/tables/mine/rows?limit=5'
curl -H 'Accept: application/vnd.apache.arrow.stream' ${location.origin}/api/tables/mine/rows > mine.arrows`;
refresh();
