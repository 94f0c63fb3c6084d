#!/usr/bin/env bash
#
# Measures replay spills beside their peers and prints the table of docs/performance.md.
#
#   benchmarks/run.sh [-r ROUNDS] [-o RESULTS] [NAME...]
#
# ROUNDS   rounds of each experiment, 15 if not given; 0 only prints what RESULTS holds
# RESULTS  the folder of the results, a new one below benchmarks/results if not given; rounds are added to it
# NAME     an experiment or measurement (see Experiments.java and Measurements.java), all if none is given
#
# FILES=folder says where files of up to 11 GB are written: a real disk, not memory. Lance's Rust spill takes part
# where cargo can build it; LANCE=no leaves it out.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

rounds=15
results=results/$(date -u +%Y%m%dT%H%M%SZ)
while getopts r:o: option; do
	case $option in
		r) rounds=$OPTARG ;;
		o) results=$OPTARG ;;
		*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

(cd .. && mvn -B -ntp -q -Dstyle.color=never -Pfast -pl benchmarks -am process-classes dependency:build-classpath \
	-Dmdep.outputFile=target/classpath -Dmdep.includeScope=runtime)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
arrow=$(tr ':' '\n' < target/classpath | sed -n 's/.*arrow-vector-\(.*\)\.jar$/\1/p')

options=("-Dbenchmarks.arrow-version=$arrow" "-Dbenchmarks.revision=$(git describe --always --dirty 2> /dev/null)" "-Dbenchmarks.directory=${FILES:-$PWD/target/files}")
if [ "${LANCE:-yes}" = no ]; then
	echo "Skipped: Lance's Rust spill (LANCE=no)" >&2
elif ! command -v cargo > /dev/null || ! command -v protoc > /dev/null; then
	echo "Skipped: Lance's Rust spill (it takes cargo, and protoc of the package protobuf-compiler)" >&2
else
	export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/cargo}
	if (cd peers/lance-spill && cargo build --release --locked --quiet) >&2; then
		options+=("-Dbenchmarks.lance=$CARGO_TARGET_DIR/release/lance-spill")
		options+=("-Dbenchmarks.lance-version=$(sed -n '/"lance-datafusion"/{n;s/.*"\(.*\)"/\1/p}' peers/lance-spill/Cargo.lock | head -1)")
	else
		echo "Skipped: Lance's Rust spill (it can't be built)" >&2
	fi
fi
if ./in-memory-group.sh $((1 << 30)) true 2> /dev/null; then
	options+=("-Dbenchmarks.memory-group=$PWD/in-memory-group.sh")
else
	echo "Skipped: the measurement in a memory group (it takes root and control groups)" >&2
fi

"$java" "${options[@]}" -cp "target/classes:$(cat target/classpath)" org.lance.spring.benchmarks.Comparison \
	"$results" "$rounds" "$@"
echo "Kept in benchmarks/$results" >&2
