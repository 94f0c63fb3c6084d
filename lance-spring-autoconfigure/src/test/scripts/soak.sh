#!/usr/bin/env bash
#
# Uses spills in random ways for some minutes (10 unless said otherwise) and prints what happened. Not part of the build.
# To repeat the choices of an earlier run, or one of its rounds again and again, add what that run printed:
#
#   soak.sh 3 -Dsoak.seed=42
#   soak.sh 3 -Dsoak.round=42

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../../.."
minutes=${1:-10}
exec mvn -q -Pfast -pl lance-spring-autoconfigure test -Dtest=SpillSoak -Dsurefire.failIfNoSpecifiedTests=true \
	-Dsoak.minutes="$minutes" "${@:2}"
