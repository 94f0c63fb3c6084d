#!/usr/bin/env bash
#
# Starts the packaged sample twice, as a user would, and lets libraries that are not ours read what it wrote:
# LanceDB's client the table, Arrow's JavaScript library the rows. Needs the packaged sample (mvn package) and node.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
work=$(mktemp -d)
trap 'kill "${pid:-}" 2> /dev/null || true; wait 2> /dev/null || true; rm -rf "$work"' EXIT
file=src/main/resources/data/flights-200k.arrow

# Waits until the log has a line, and prints it.
await() {
	for _ in $(seq 600); do
		if grep -m 1 -E "$1" "$work/log"; then
			return
		fi
		kill -0 "$pid" 2> /dev/null || break
		sleep 0.2
	done
	echo "The sample does not say '$1':" >&2
	cat "$work/log" >&2
	return 1
}

(cd clients && npm ci --silent)
for start in first second; do
	echo "The $start start:"
	: > "$work/log"
	"${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar target/sample-app-*.jar --server.port=0 --sample.data-directory="$work/data" \
		>> "$work/log" 2>&1 &
	pid=$!
	await "Main job (done: 200,000 rows|failed)" | tee "$work/result"
	grep -q "200,000 rows" "$work/result"
	port=$(await "Netty started on port" | sed 's/.*Netty started on port \([0-9]*\).*/\1/')
	node clients/read-rows.mjs "http://localhost:$port" flights "$file"
	node clients/read-table.mjs "$work/data" flights "$file"
	kill "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 143 ] || { echo "The sample ended with $status instead of 143" >&2; exit 1; }
done
