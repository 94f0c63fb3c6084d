#!/usr/bin/env bash
#
# Uploads a large Arrow stream to the sample while its heap is 256 MB and a spill may hold 64 MB, and reports the
# memory it used. Needs the packaged sample (mvn package) and node; takes about three times the bytes on disk.
#
# sample-app/src/test/scripts/big-upload.sh [bytes, default 2 GiB]

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
bytes=${1:-$((2 * 1024 * 1024 * 1024))}
work=$(mktemp -d)
trap 'kill "${pid:-}" 2> /dev/null || true; wait 2> /dev/null || true; rm -rf "$work"' EXIT

(cd clients && npm ci --silent)
: > "$work/log"
"${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -jar target/sample-app-*.jar --server.port=0 --sample.job.enabled=false \
	--sample.data-directory="$work/data" --lance.spill.directories="$work/spills" --lance.spill.memory-limit=64MB \
	>> "$work/log" 2>&1 &
pid=$!
for _ in $(seq 300); do
	port=$(sed -n 's/.*Netty started on port \([0-9]*\).*/\1/p' "$work/log")
	[ -n "$port" ] && break
	kill -0 "$pid" || { cat "$work/log"; exit 1; }
	sleep 0.2
done
node clients/big-upload.mjs "http://localhost:$port" "$pid" "$bytes"
du -sh "$work/data"
