#!/usr/bin/env bash
# Validates samples/folders/k8s_indexed_job.yaml against Kubernetes' own schema, strictly, and runs the command of its eight
# pods here with the variable that Kubernetes sets in them; one is killed and started again. One picture is damaged; the
# command of the second Job must name it. Where it is mended and the pods run again, the results must be those of one run, and
# none written twice.
#
#   python3 -m venv v && v/bin/pip install kubernetes-validate; PATH=$PWD/v/bin:$PATH tests/folders/kubernetes.sh
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/folders/results.sh
die() { echo "tests/folders/kubernetes.sh: $*" >&2; exit 1; }
command -v kubernetes-validate >/dev/null || die "no kubernetes-validate; it comes from PyPI"
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
job=$(realpath samples/folders/k8s_indexed_job.yaml) picture=$(realpath samples/rocket.jpg)
work=$(mktemp -d); watcher=
trap '[ -z "$watcher" ] || kill "$watcher"; rm -rf "$work"' EXIT
kubernetes-validate --strict "$job"
sed 's/completionMode:/completionmode:/' "$job" >"$work/wrong_job.yaml"
! kubernetes-validate --strict --quiet "$work/wrong_job.yaml" >/dev/null 2>&1 || die "the validation takes anything"
# This rule of Kubernetes' stands in no schema.
array=$(sed '/^---/q' "$job")
[[ $array != *backoffLimitPerIndex:* || $array == *"restartPolicy: Never"* ]] || die "backoffLimitPerIndex needs the restart policy Never"
words() { sed -n "s/^ *$1: \[\(.*\)\]$/\1/p" "$job" | tr -d ','; }
{ read -r command; read -r merge; } < <(words command)
arguments=$(words args)
pods=$(sed -n 's/^ *completions: //p' "$job")
[[ $command == convfilt\ * && $merge == convfilt\ * && -n $arguments && $pods -gt 1 ]] || die "the file is not what this expects"
read -ra command <<<"${command//\/pictures/$work} $arguments"
read -ra merge <<<"${merge//\/pictures/$work}"
mkdir "$work/in"
for i in {001..240}; do cp "$picture" "$work/in/p$i.jpg"; done
"$convfilt" blur "$work/in" "$work/expected" -q
echo 'no picture' >"$work/in/p241.jpg"
watch_results "$work/out" "$work/seen" & watcher=$!
pod() { JOB_COMPLETION_INDEX=$1 exec "$convfilt" "${command[@]:1}"; }
run_all() {
  local index running=()
  failed=0
  for ((index = 0; index < pods; ++index)); do pod $index & running+=($!); done
  for index in "${running[@]}"; do wait "$index" || failed=$((failed + 1)); done
}
# The first pod is evicted when it has done some of its part.
pod 0 & evicted=$!
for ((i = 0; i < 1000; ++i)); do
  some=$(grep -c ^done "$work/out/.convfilt-journal.1-of-$pods" 2>/dev/null || true)
  [ "${some:-0}" -lt 2 ] || break
  sleep 0.005
done
kill -KILL $evicted || die "the pod ended before it could be evicted"
wait $evicted || true
echo "evicted the first pod after $some of its pictures"
run_all
[ $failed = 1 ] || die "$failed pods failed where one has a damaged picture"
! "$convfilt" "${merge[@]:1}" >"$work/said" || die "merge does not fail"
cat "$work/said"
for words in 'failed: p241.jpg: ' '240 pictures done, 0 missing, 1 failed'; do
  grep "^$words" "$work/said" >/dev/null || die "merge does not say '$words'"
done
cp "$picture" "$work/in/p241.jpg"
cp "$work/expected/p240.jpg" "$work/expected/p241.jpg"
run_all
[ $failed = 0 ] || die "$failed pods failed"
"$convfilt" "${merge[@]:1}"
diff -r --exclude=.convfilt-journal "$work/expected" "$work/out"
twice=$(written_twice "$work/out" "$work/seen")
echo "$pods pods: 241 pictures as one run made them, $(wc -w <<<"$twice") of them written twice"
[ -z "$twice" ]
