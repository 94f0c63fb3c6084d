#!/usr/bin/env bash
#
# Runs a command in a control group of its own that has a limit of memory: in-memory-group.sh BYTES COMMAND...
# Page cache counts. Takes root.

set -euo pipefail
root=/sys/fs/cgroup
if [ -f "$root/cgroup.controllers" ]; then
	limit=memory.max
else
	root=$root/memory
	limit=memory.limit_in_bytes
fi
group=$root/lance-spring-benchmarks-$$
mkdir "$group"
trap 'rmdir "$group"' EXIT
echo "$1" > "$group/$limit"
shift
(
	echo "$BASHPID" > "$group/cgroup.procs"
	exec "$@"
)
