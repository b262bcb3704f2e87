#!/usr/bin/env bash
# Runs the steps of tests/gpu.sh side by side where there are several GPUs. Steps that can be cut run in pieces. Each
# has a GPU and cores of its own. Says what ended and when, and at the end what all of them said.
#
#   tests/bench/gpus.sh BUILD     a folder as tests/gpu.sh takes it
#
# CONVFILT_GPU_PART and CONVFILT_OUT are as there, with a folder a piece. CUDA_VISIBLE_DEVICES names the only GPUs to
# use. CONVFILT_SECONDS: what has not ended this many seconds from now is stopped, and counts as failed.
# CONVFILT_AUTO_LINES names the only lines of auto's grid to measure, as tests/bench/auto.sh takes them.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -uo pipefail
die() { echo "tests/bench/gpus.sh: $*" >&2; exit 1; }
[ -x "${1:-}/convfilt" ] || die "name a folder with convfilt and convfilt_tests: tests/bench/gpus.sh BUILD"
bin=$(cd "$1" && pwd) || exit 1
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source-path=SCRIPTDIR
. tests/bench/parts.sh
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"; out=$(cd "$out" && pwd)
limit=${CONVFILT_SECONDS:-1000000}
command -v nvidia-smi >/dev/null || die "no GPU here (there is no nvidia-smi)"
mapfile -t gpus < <(nvidia-smi -L | grep '^GPU ' | sed 's/^GPU \([0-9]*\).*/\1/')
[ ${#gpus[@]} -gt 0 ] || die "no GPU here (nvidia-smi -L shows none)"
[ -z "${CUDA_VISIBLE_DEVICES:-}" ] || IFS=, read -ra gpus <<<"$CUDA_VISIBLE_DEVICES"
# The cores that this process may use, which need not be the machine's first.
mapfile -t cores < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | sed 's/-/ /' |
  while read -r first last; do seq "$first" "${last:-$first}"; done)
share=$((${#cores[@]} / ${#gpus[@]})); [ $share -gt 0 ] || die "fewer cores than GPUs"

wanted=" $(bash tests/gpu.sh --steps) " || exit 1
wants() { [[ $wanted == *" $1 "* ]]; }
pieces=()  # STEP, or STEP-LINE: those that take longest first
for step in racecheck tests initcheck peers counters $wanted; do
  if wants "$step" && [[ " ${pieces[*]} auto targets " != *" $step "* ]]; then pieces+=("$step"); fi
done
grid=() all_of_grid=$(bash tests/bench/auto.sh --lines) || exit 1
if wants targets; then
  mapfile -t lines < <(seq "$(grep -vc '^#' tests/bench/targets.txt)")
  pieces+=("${lines[@]/#/targets-}")
fi
if wants auto; then
  numbers=$(numbers_of CONVFILT_AUTO_LINES "${CONVFILT_AUTO_LINES:-}" "$all_of_grid") || exit 1
  mapfile -t grid < <(sort -rn <<<"$numbers")
  pieces+=("${grid[@]/#/auto-}")
fi
[ ${#pieces[@]} -gt 0 ] || die "there is nothing to run"
for piece in "${pieces[@]}"; do
  rm -rf "${out:?}/$piece"; mkdir -p "$out/$piece"; echo 1 >"$out/$piece/status"
done

run() {  # PIECE INDEX: on the GPU of that index
  local step=${1%-[0-9]*} line=${1##*-} start=$SECONDS left=$((limit - SECONDS)) status own
  if [ $left -le 0 ]; then echo "FAILED  $1: no time left"; return; fi
  own=$(IFS=,; echo "${cores[*]:$2 * share:share}")
  env CUDA_VISIBLE_DEVICES="${gpus[$2]}" JOBS=$share CONVFILT_OUT="$out/$1" CONVFILT_GPU_PART="$step" \
    CONVFILT_AUTO_LINES="$line" CONVFILT_TARGETS_LINES="$line" timeout -k 10 $left taskset -c "$own" \
    bash tests/gpu.sh "$bin" >"$out/$1/said" 2>&1
  status=$?
  echo "$status" >"$out/$1/status"
  [ $status = 0 ] && echo "ok      $1 on GPU ${gpus[$2]} ($((SECONDS - start)) s, at $SECONDS)" && return
  echo "FAILED  $1 on GPU ${gpus[$2]} ($((SECONDS - start)) s, at $SECONDS): $out/$1/said"
}
printf '%s\n' "${pieces[@]}" >"$out/queue"
# shellcheck disable=SC2016  # the argument is the inner shell's
next() { flock "$out/queue.lock" sh -c 'head -n 1 "$1"; sed -i 1d "$1"' sh "$out/queue"; }
trap ': >"$out/queue"; echo "tests/bench/gpus.sh: stopped; what runs now runs to its end" >&2; exit 130' INT TERM
for index in "${!gpus[@]}"; do
  while piece=$(next); [ -n "$piece" ]; do run "$piece" "$index"; done &
done
wait

# A step that ran in pieces is judged as a whole.
failed=()
for piece in "${pieces[@]}"; do
  [ "$(cat "$out/$piece/status")" = 0 ] || failed+=("$piece")
  [[ $piece == *-[0-9]* ]] || grep -E '^(        |skipped |failed |\|)' "$out/$piece/said" 2>/dev/null | sed "s/^ */$piece: /"
done
joined() {  # STEP LINE...
  local step=$1 line points=(); shift
  for line; do points+=("$out/$step-$line/$step-$line.points"); done
  CONVFILT_OUT=$out/$step bash "tests/bench/$step.sh" --from "${points[@]}"
}
if wants targets; then
  rm -rf "${out:?}/targets"; mkdir -p "$out/targets"
  [ ! -s "$out/peers/peers.csv" ] || cp "$out/peers/peers.csv" "$out/targets"
  joined targets "${lines[@]}" || failed+=(targets)
fi
if wants auto && [ ${#grid[@]} = "$all_of_grid" ]; then joined auto "${grid[@]}" || failed+=(auto); fi
if [ ${#failed[@]} -gt 0 ]; then echo "GPUs: FAILED: ${failed[*]}"; exit 1; fi
echo "GPUs: passed:$wanted${CONVFILT_AUTO_LINES:+(of auto lines $CONVFILT_AUTO_LINES)}"
