#!/usr/bin/env bash
# One analysis: annotations in the log, a summary of the job, SARIF for code scanning, the verdict
# and the SARIF file as outputs.
# Reads COMMAND (check or scan), ARGUMENTS, FAIL_ON and TIMEOUT; the exit code is that of raceproof.
set -uo pipefail
bin="${RUNNER_TEMP:+$RUNNER_TEMP/raceproof/bin/}"
words=()
if [ -n "${ARGUMENTS//[[:space:]]/}" ]; then
    mapfile -t words < <(xargs -n1 printf '%s\n' <<<"$ARGUMENTS")
fi
code=0
"${bin}raceproof" "${COMMAND:-check}" "${words[@]}" --fail-on "$FAIL_ON" --timeout "$TIMEOUT" \
    --format github --also sarif=raceproof.sarif --also json=raceproof.json \
    --also concise=raceproof.txt || code=$?
if [ -s raceproof.json ]; then
    "${bin}python" -c 'import json; print("verdict=" + json.load(open("raceproof.json"))["verdict"])' \
        >>"${GITHUB_OUTPUT:-/dev/null}"
fi
if [ -s raceproof.sarif ]; then
    echo "sarif=$PWD/raceproof.sarif" >>"${GITHUB_OUTPUT:-/dev/null}"
fi
if [ -s raceproof.txt ]; then
    {
        echo "### raceproof ${COMMAND:-check}"
        echo '```'
        cat raceproof.txt
        echo '```'
    } >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$code"
