#!/usr/bin/env bash
# Validates samples/folders/k8s_indexed_job.yaml against Kubernetes' own schema, strictly, and runs the command of its eight
# pods here with the variable that Kubernetes sets in them; one is killed and started again. Then the results must be whole.
#
#   python3 -m venv v && v/bin/pip install kubernetes-validate; PATH=$PWD/v/bin:$PATH tests/folders/kubernetes.sh
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { echo "tests/folders/kubernetes.sh: $*" >&2; exit 1; }
command -v kubernetes-validate >/dev/null || die "no kubernetes-validate; it comes from PyPI"
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
job=$(realpath samples/folders/k8s_indexed_job.yaml) picture=$(realpath samples/rocket.jpg)
kubernetes-validate --strict "$job"
sed 's/completionMode:/completionmode:/' "$job" >"${TMPDIR:-/tmp}/wrong_job.yaml"
! kubernetes-validate --strict --quiet "${TMPDIR:-/tmp}/wrong_job.yaml" >/dev/null 2>&1 || die "the validation takes anything"
rm "${TMPDIR:-/tmp}/wrong_job.yaml"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
words() { sed -n "s/^ *$1: \[\(.*\)\]$/\1/p" "$job" | tr -d ','; }
command=$(words command) arguments=$(words args)
pods=$(sed -n 's/^ *completions: //p' "$job")
[ "${command%% *}" = convfilt ] && [ -n "$arguments" ] && [ "$pods" -gt 1 ] || die "the file is not what this expects"
line=${command#convfilt }; line="${line//\/pictures/$work} $arguments"
mkdir "$work/in"
for i in {01..40}; do cp "$picture" "$work/in/p$i.jpg"; done
"$convfilt" blur "$work/in" "$work/expected" -q
pod() { JOB_COMPLETION_INDEX=$1 "$convfilt" $line; }
JOB_COMPLETION_INDEX=0 timeout --foreground -s KILL 0.03 "$convfilt" $line || true  # evicted
for ((index = 0; index < pods; ++index)); do pod $index & done
wait
"$convfilt" merge "$work/out"
diff -r --exclude=.convfilt-journal "$work/expected" "$work/out"
echo "$pods pods: 40 pictures as one run made them"
