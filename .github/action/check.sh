#!/usr/bin/env bash
# One analysis: annotations in the log, SARIF for code scanning, the verdict as an output.
# Reads ARGUMENTS, FAIL_ON and TIMEOUT; the exit code is that of raceproof check.
set -uo pipefail
bin="${RUNNER_TEMP:+$RUNNER_TEMP/raceproof/bin/}"
words=()
if [ -n "${ARGUMENTS//[[:space:]]/}" ]; then
    mapfile -t words < <(xargs -n1 printf '%s\n' <<<"$ARGUMENTS")
fi
code=0
"${bin}raceproof" check "${words[@]}" --fail-on "$FAIL_ON" --timeout "$TIMEOUT" \
    --format github --also sarif=raceproof.sarif --also json=raceproof.json || code=$?
if [ -s raceproof.json ]; then
    "${bin}python" -c 'import json; print("verdict=" + json.load(open("raceproof.json"))["verdict"])' \
        >>"${GITHUB_OUTPUT:-/dev/null}"
fi
exit "$code"
