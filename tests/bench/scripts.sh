#!/usr/bin/env bash
# The scripts around compare, and for a GPU, on a machine that needs none: points.awk on what compare writes, the other
# tables on points made by hand, and scripts that run programs on fakes of those.
# CONVFILT names the program.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
convfilt=${CONVFILT:?names the program}
cd "$(dirname "$0")"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "tests/bench/scripts.sh: $*" >&2; exit 1; }

"$convfilt" compare --size 64x48,33x20 --depth u8,f32 --masks 3x5 --weights 16bit,rank1 --device cpu \
  --strategies cpu,separable,winograd,fft --csv >"$work/all.csv"
awk -v device=cpu -f points.awk "$work/all.csv" >"$work/points"
[ "$(cut -d' ' -f1-8 "$work/points")" = "64 48 u8 1 16bit 3 5 cpu
64 48 u8 1 rank1 3 5 cpu
64 48 f32 1 16bit 3 5 cpu
64 48 f32 1 rank1 3 5 cpu
33 20 u8 1 16bit 3 5 cpu
33 20 u8 1 rank1 3 5 cpu
33 20 f32 1 16bit 3 5 cpu
33 20 f32 1 rank1 3 5 cpu" ] || fail "these are not the points: $(cat "$work/points")"
awk 'NF != 17 { exit 1 } { for (i = 9; i <= 11; ++i) if ($i !~ /^[0-9.e+-]+$/) exit 1 } $14 !~ /^[0-9]/ { exit 1 }
     $15 != 1 || $16 != "cpu" || $17 != $9 { exit 1 }' "$work/points" ||
  fail "a figure is missing: $(cat "$work/points")"
[ -z "$(awk -f points.awk "$work/all.csv")" ] || fail "points of a GPU from a CPU's times"

point() { echo "8 8 u8 1 16bit 3 3 $1 $2 $3 0.5 fast 2.0 9.9 ${4:-$3} kin ${5:-2.0}"; }
held() { awk -v most=1.10 -f auto.awk >"$work/said"; }
{ point fast 2.0 1.0; point slow 2.1 1.05; } | held || fail "5 % is held to be too slow"
grep -q '^worst of 2 points: 8x8x1 u8, mask 16bit 3x3: auto takes slow, 2.1 copies, 1.050 times' "$work/said" ||
  fail "the worst point is not told: $(cat "$work/said")"
! { point fast 2.0 1.0; point slow 2.4 1.2; } | held || fail "20 % is held to be fast enough"
! { point fast 2.0 1.0; point broken failed -; } | held || fail "a choice without figures is held to be fast enough"
{ point fast 2.0 1.0; point slow 2.4 1.2 1.04 2.3; } | held || fail "what another family does counts"
grep -q '^worst of 2 points: 8x8x1 u8, mask 16bit 3x3: auto takes slow, 2.4 copies, 1.040 times the best, kin' "$work/said" ||
  fail "the worst of its family is not told: $(cat "$work/said")"
grep -q '^of all families, 1 of 2 points slower: .* auto takes slow, 2.4 copies, 1.200 times the best, fast' "$work/said" ||
  fail "the worst of all families is not told: $(cat "$work/said")"
! { point - - -; } | held || fail "a choice that was not measured is held to be fast enough"
! held </dev/null || fail "nothing measured is held to be fast enough"
tabled() { awk -v peers="$work/peers.csv" -v points="$work/all.md" -v title=Title -f targets.awk >"$work/targets.md"; }
printf '%s\n' "NPP FilterBorder,u8,1,3,4.0,0.5" "NPP FilterGaussBorder,u8,1,3,8.0,0.5" >"$work/peers.csv"
{
  echo "reached;any;copies;2.5;$(point fast 2.0 1.0)"; echo "reached;any;copies;2.5;$(point slow 2.5 1.25)"
  echo "missed;8bit;copies;2.5;$(point fast 2.0 1.0)"; echo "missed;8bit;copies;2.5;$(point slow 2.6 1.25)"
  echo "failed;any;copies;99;$(point broken failed -)"
  echo "roof;any;roof;50;$(point fast 2.0 1.0)"; echo "high roof;any;roof;51;$(point fast 2.0 1.0)"
  echo "cuFFT;any;fft;0.2;$(point fast 2.0 1.0)"; echo "NPP;any;npp;1;$(point fast 2.0 1.0)"
  echo "its Gaussians;rank1;npp;1;$(point fast 2.0 1.0)"
  echo "no NPP;any;npp;1;$(point fast 2.0 1.0 | sed 's/u8 1/u8 3/')"
} | tabled
expected="Title

| problem | target | measured, the worst point | where | reached |
|---|---:|---:|---|---|
| reached | ≤ 2.5 | 2.50 | u8, 1 channel, 3×3, slow | yes |
| missed | ≤ 2.5 | 2.60 | u8, 1 channel, 3×3, slow | no |
| failed | ≤ 99 | not measured | u8, 1 channel, 3×3, broken | no |
| roof | ≥ 50 % of peak | 50.0 % of peak | u8, 1 channel, 3×3, fast | yes |
| high roof | ≥ 51 % of peak | 50.0 % of peak | u8, 1 channel, 3×3, fast | no |
| cuFFT | ≤ 0.2 of cuFFT | 0.20 of cuFFT | u8, 1 channel, 3×3, fast | no |
| NPP | ≤ 1 of NPP | 0.50 of NPP | u8, 1 channel, 3×3, fast | yes |
| its Gaussians | ≤ 1 of NPP | 0.25 of NPP | u8, 1 channel, 3×3, fast | yes |
| no NPP | ≤ 1 of NPP | not measured | u8, 3 channels, 3×3, fast | no |"
[ "$(cat "$work/targets.md")" = "$expected" ] || fail "these are not the targets: $(diff <(echo "$expected") "$work/targets.md")"
grep -qF '| u8 | 1 | 8bit 3×3 | slow | 2.60 | ≤ 2.5 | 2.60 | no |' "$work/all.md" || fail "a point is missing: $(cat "$work/all.md")"

printf '%s\n' 'NPP FilterBorder,u8,1,3,2.512,0.5' 'convfilt best,u8,1,3,1.1,tensor' 'convfilt best,u8,1,9,13.21,direct' \
  'NPP FilterBorder,f32,3,9,123.4,0.5' | awk -v sides="3 9" -f peers/table.awk >"$work/peers.md"
expected="
| u8, 1 channel | 3×3 | 9×9 |
|---|---:|---:|
| NPP FilterBorder | 2.51 |  |
| convfilt best | 1.10 tensor | 13.2 direct |

| f32, 3 channels | 3×3 | 9×9 |
|---|---:|---:|
| NPP FilterBorder |  | 123 |"
[ "$(cat "$work/peers.md")" = "$expected" ] || fail "these are not the peers: $(diff <(echo "$expected") "$work/peers.md")"

# What stands in for the programs: FAILS, EMPTY and SILENT name test cases that fail, are not run, and of which the
# sanitizer says nothing.
fakes=$work/fakes; mkdir "$fakes"
cat >"$fakes/nvidia-smi" <<'END'
#!/usr/bin/env bash
case $1 in -L) echo "${FAKE_GPU-GPU 0: fake}" ;; *) echo "${FAKE_GPU-fake}" ;; esac
END
cat >"$fakes/compute-sanitizer" <<'END'
#!/usr/bin/env bash
case $2 in racecheck | initcheck) size=least ;; *) size=short ;; esac
[ "$1 $3 $4 $CONVFILT_TEST_DEVICES $CONVFILT_TEST_SIZE" = "--tool --error-exitcode 9 cuda $size" ] || exit 1
tool=$2; shift 4
"$@" || exit
[[ " $* " != *" --first=${SILENT:-none} "* ]] || exit 0
case $tool in
  racecheck) echo "========= RACECHECK SUMMARY: ${HAZARDS:-0} hazards displayed (0 errors, 0 warnings)" ;;
  *) echo "========= ERROR SUMMARY: 0 errors" ;;
esac
END
cat >"$fakes/convfilt_tests" <<'END'
#!/usr/bin/env bash
case $1 in
  --source-file=\*strategies/large.cpp) kind=large cases=${LARGE_CASES:-2} ;;
  --source-file-exclude=\*strategies/large.cpp) kind=other cases=12 ;;
  *strategies/tensor.cpp*) kind=checked cases=3 ;;
esac
[ "$2" != --count ] || { echo "[doctest] unskipped test cases passing the current filters: $cases"; exit; }
[ "$kind $CONVFILT_TEST_DEVICES" = "checked cuda" ] || [ "$CONVFILT_TEST_LARGE $CONVFILT_TEST_DEVICES" = "1 cpu,emulator,cuda" ] || exit 4
touch "$FAKES/running.$$"
sleep 0.1
[ $kind != large ] || [ "$(find "$FAKES" -name 'running.*' | wc -l)" = 1 ] || { echo "large is not alone"; exit 5; }
rm "$FAKES/running.$$"
[ "$2 $3" = "--first=${2#*=} --last=${2#*=}" ] || exit 6
[ "$2" = "--first=${EMPTY:-none}" ] || echo "0.${2#*=} s: $kind ${2#*=}"
echo "[doctest] test cases:  $cases |  $cases passed | 0 failed | 9 skipped"
echo "[doctest] assertions: 10 | 10 passed | 0 failed |"
echo "(strategy, device, case): 2 runs, 1 expected refusals (runs-refusals above); size full"
[ "$2" != "--first=${FAILS:-none}" ] || exit 3
END
cp "$fakes/nvidia-smi" "$fakes/convfilt"
chmod +x "$fakes"/*
gpu() {  # PART [VARIABLE=VALUE...]: leaves what it says in $work/said
  env PATH="$fakes:$PATH" FAKES="$fakes" JOBS=4 CONVFILT_OUT="$work/gpu" CONVFILT_GPU_PART="$1" "${@:2}" bash ../gpu.sh "$fakes" \
    >"$work/said" 2>&1
}
says() { grep -qE "$1" "$work/said" || fail "not said: '$1', but: $(cat "$work/said")"; }
gpu tests,racecheck,synccheck || fail "passing cases fail: $(cat "$work/said")"
says '^        14 of 14 test cases passed, 0 failed: 140 assertions, 28 runs, 14 expected refusals; slowest 0.9 s: other 9$'
says '^        3 of 3 test cases passed, 0 failed: 30 assertions, 6 runs, 3 expected refusals, 0 errors or hazards; slowest'
[ "$(tail -n 1 "$work/said")" = "GPU: passed: tests, racecheck, synccheck" ] || fail "not its last line: $(cat "$work/said")"
! gpu tests FAILS=2 || fail "a failed case passes"
says '^FAILED  0.2 s: other 2: exit status 3$'
says '^FAILED  0.2 s: large 2: exit status 3$'
says '^12 of 14 test cases passed, 2 failed: '
says '^GPU: FAILED: tests$'
! gpu tests EMPTY=12 || fail "a process without a test case passes"
says '^FAILED  test case each-12: ran 0 test cases$'
! gpu tests LARGE_CASES=0 || fail "a filter that leaves nothing passes"
says 'leaves no test case$'
! gpu sanitizers FAILS=1 || fail "a failed case passes under the sanitizers"
says '^GPU: FAILED: memcheck, racecheck, initcheck, synccheck$'
! gpu memcheck SILENT=3 || fail "a sanitizer that says nothing passes"
says '^FAILED  0.3 s: checked 3: the sanitizer says nothing$'
! gpu racecheck,memcheck HAZARDS=1 || fail "hazards pass"
says '^GPU: FAILED: racecheck$'
! gpu memcheck FAKE_GPU= || fail "it passes without a GPU"
says 'no GPU here'
! gpu memcheck,mencheck || fail "an unknown step passes"
says 'names mencheck'
mkdir "$work/few"
for tool in bash dirname mkdir grep; do ln -s "$(command -v $tool)" "$work/few"; done
! gpu memcheck PATH="$work/few" || fail "it passes without nvidia-smi"
says 'no GPU here'
ln -s "$fakes/nvidia-smi" "$work/few"; ln -s "$(command -v env)" "$work/few"
! gpu memcheck PATH="$work/few" || fail "it passes without compute-sanitizer"
says 'compute-sanitizer is missing'

# A compare that measures only the first depth, number of channels and mask, and takes as many copies as the mask is
# wide. Its "JSON" is CSV but for a line.
cat >"$fakes/convfilt" <<'END'
#!/usr/bin/env bash
[ -z "${BROKEN:-}" ] || [ "$1" = list ] || exit 1
case $* in
  "list devices") [ -n "${NO_GPU:-}" ] || echo "  cuda:0  ${GPU:-fake GPU}"; exit ;;
  "compare --from "*) grep -v '^ ' "$3"; exit ;;
esac
while [ $# -gt 0 ]; do
  case $1 in
    --json=*) json=${1#*=} ;;
    --mask=* | --masks=*) mask=${1#*=} ;;
    --mask | --masks) mask=$2 ;;
    --depth) depth=${2%%,*} ;;
    --channels) channels=${2%%,*} ;;
  esac
  shift
done
mask=${mask%%[,x]*}
cat >"$json" <<POINTS
  "copy_bytes_per_s": ${mask}000000000000,
width_px,height_px,depth,channels,mask,mask_width,mask_height,strategy,family,device,by_auto,time_in_copies,time_over_best,roofline_share,refused,refusal
64,64,$depth,$channels,16bit,$mask,$mask,fake,direct,cuda:0,true,$mask,1,0.5,false,
64,64,$depth,$channels,16bit,$mask,$mask,fft,transform,cuda:0,false,$((2 * mask)),2,0.5,false,
64,64,$depth,$channels,16bit,$mask,$mask,kin,direct,cuda:0,false,$((mask * 10 - ${SLOW:-0} * (9 * mask + 1))),1.5,0.5,false,
POINTS
END
# shellcheck disable=SC2086  # arguments
targets() { env CONVFILT_OUT="$work/$1" SIDE=64 "${@:3}" bash targets.sh $2 >"$work/said" 2>&1; }
mkdir "$work/whole"
printf '%s\n' '#fake GPU, 64×64' 'NPP FilterBorder,u8,1,3,9.0,0.5' >"$work/whole/peers.csv"
cp -r "$work/whole" "$work/joined"
targets whole "$fakes" || fail "targets.sh fails: $(cat "$work/said")"
says '^fake GPU, 64×64 of random samples; the fastest device copy 1025.00 TB/s'
says '^\| 8-bit, any mask 3×3, 5×5 \| ≤ 1.15 \| 3.00 \| u8, 1 channel, 3×3, fake \| no \|$'
says '^\| never slower than NPP \| ≤ 1 of NPP \| 0.33 of NPP \|'
parts=("$work/a/targets-13-21.points" "$work/a/targets-1-12.points")
targets a "$fakes" CONVFILT_TARGETS_LINES=1-12 || fail "the first part fails: $(cat "$work/said")"
[ "$(grep -cE '\| (yes|no) \|$' "$work/said")" = 12 ] || fail "not twelve targets: $(cat "$work/said")"
targets a "$fakes" CONVFILT_TARGETS_LINES=13-21 || fail "the second part fails: $(cat "$work/said")"
targets joined "--from ${parts[*]}" || fail "the parts cannot be joined: $(cat "$work/said")"
for table in targets.md targets-points.md; do cmp "$work/whole/$table" "$work/joined/$table"; done
! targets joined "--check --from ${parts[*]}" || fail "missed targets pass the check"
! targets joined "--from ${parts[0]}" || fail "half the targets pass for all"
says 'a target has no point at all'
targets b "$fakes" GPU=other CONVFILT_TARGETS_LINES=13-21 || fail "another GPU's part fails: $(cat "$work/said")"
! targets joined "--from ${parts[1]} $work/b/targets-13-21.points" || fail "parts of two GPUs are joined"
says 'different machines'
: >"$work/nothing"
cp "$work/joined/targets.md" "$work/before"
for none in "$work/nothing" targets.awk; do
  ! targets joined "--from $none" || fail "$none passes for points"
  says 'these are no points of targets'
  cmp "$work/joined/targets.md" "$work/before" || fail "$none loses the table"
done
for lines in 0 22 5-22 7-6 1- all; do
  ! targets a "$fakes" CONVFILT_TARGETS_LINES=$lines || fail "there are no lines $lines"
  says "^CONVFILT_TARGETS_LINES is $lines; say a number of 1 to 21"
done

# shellcheck disable=SC2086  # arguments
auto() { env CONVFILT_OUT="$work/auto" "${@:2}" bash auto.sh $1 >"$work/said" 2>&1; }
auto "$fakes" || fail "auto.sh fails: $(cat "$work/said")"
says '^worst of 27 points: '
auto "$fakes" CONVFILT_AUTO_LINES=1-5 || fail "the first lines fail: $(cat "$work/said")"
says '^worst of 5 points: '
auto "$fakes" CONVFILT_AUTO_LINES=6-27 || fail "the other lines fail: $(cat "$work/said")"
auto "--from $work/auto/auto-1-5.points $work/auto/auto-6-27.points" || fail "the lines cannot be joined: $(cat "$work/said")"
says '^worst of 27 points: '
! auto "--from $work/auto/auto-1-5.points" || fail "five lines pass for all"
# Where nothing can be measured, earlier measurements stay, and do not pass for new.
for script in auto targets; do
  case $script in auto) run=(auto "$fakes") kept=$work/auto/auto-1-5.points ;;
    targets) run=(targets a "$fakes") kept=$work/a/targets-1-12.points ;; esac
  for why in NO_GPU BROKEN; do
    cp "$kept" "$work/before"
    ! "${run[@]}" $why=1 CONVFILT_AUTO_LINES=1-5 CONVFILT_TARGETS_LINES=1-12 || fail "$script.sh passes with $why"
    [ $why = BROKEN ] || says 'no GPU here'
    cmp "$kept" "$work/before" || fail "$script.sh: $why loses what was measured"
  done
done
! auto "$fakes" CONVFILT_AUTO_LINES=2-3 SLOW=1 || fail "what auto takes is slower and passes"
says '^FAILED .* 3.0 copies, 1.500 times the best, kin, 2.0 copies'
! auto "--from $work/auto/none.points" || fail "a part that is not there passes"
sed 's/ 1 fake \([0-9]*\)$/ 1.2 kin \1/' "$work/auto/auto-6-27.points" >"$work/auto/slow.points"
! auto "--from $work/auto/auto-1-5.points $work/auto/slow.points" || fail "a slow choice of a part passes"

printf '#!/bin/sh\n[ "$1" != -cp ] || { echo "pid $2'"'"'s current affinity list: 0,2-3"; exit; }\nshift 2; exec "$@"\n' >"$fakes/taskset"
chmod +x "$fakes"/*
two="GPU 0: fake"; [ "$(nproc)" -lt 2 ] || two+=$'\nGPU 1: fake'
gpus() {  # PART [VARIABLE=VALUE...]
  env PATH="$fakes:$PATH" FAKES="$fakes" FAKE_GPU="$two" CONVFILT_OUT="$work/gpus" \
    CONVFILT_GPU_PART="$1" "${@:2}" bash gpus.sh "$fakes" >"$work/said" 2>&1
}
gpus auto,targets,tests || fail "steps side by side fail: $(cat "$work/said" "$work"/gpus/tests/*)"
says '^ok      auto-27 on GPU [01] '
says '^tests: 14 of 14 test cases passed'
says '^worst of 27 points: '
says '^\| 8-bit, any mask 3×3, 5×5 \| ≤ 1.15 \| 3.00 \|'
says '^GPUs: passed: auto targets tests $'
! gpus memcheck,synccheck FAILS=2 || fail "failed cases pass side by side"
says '^FAILED  memcheck on GPU [01] '
says '^GPUs: FAILED: memcheck synccheck$'
! gpus tests,auto CONVFILT_AUTO_LINES=3 CONVFILT_SECONDS=0 || fail "what was stopped passes"
says '^GPUs: FAILED: tests auto-3$'
for lines in 1,4 5-99; do ! gpus auto CONVFILT_AUTO_LINES=$lines || fail "there are no lines $lines"; done
! gpus tests,nothing || fail "an unknown step passes side by side"
says 'names nothing'
! gpus , || fail "no step at all passes"
says 'nothing to run'
for named in '' 0; do
  ! gpus tests FAKE_GPU= CUDA_VISIBLE_DEVICES=$named || fail "steps side by side pass without a GPU"
  says 'no GPU here'
done

printf '#!/bin/sh\n[ -z "${COUNTED:-}" ] || cat "$COUNTED"; exit 1\n' >"$fakes/ncu"; chmod +x "$fakes/ncu"
counters() {  # [VARIABLE=VALUE...]
  env PATH="$fakes:$PATH" CONVFILT_OUT="$work/counters" CONVFILT_COUNTERS_LINES=1 "$@" bash counters.sh "$fakes" >"$work/said" 2>&1
}
mkdir "$work/counters"; echo before >"$work/counters/counters.md"
! counters NO_GPU=1 || fail "counters.sh passes without a GPU"
says 'no GPU here'
! counters || fail "counters.sh passes though ncu counts nothing"
says 'some problems have no counters'
[ "$(cat "$work/counters/counters.md")" = before ] || fail "counters.sh loses what was measured"
printf '%s\n' '"ID","Kernel Name","gpu__time_duration.sum"' '"0","void a::ghosts<int>(b)","1,000"' '"1","void a::walk<int>(b)","45,400"' \
  >"$work/counted"
counters COUNTED="$work/counted" || fail "counters.sh fails: $(cat "$work/said")"
grep -q '^| u8 | 1 | any 3×3 | walk | 45 |' "$work/counters/counters.md" || fail "not the longest kernel: $(cat "$work/said")"

# shellcheck disable=SC2086  # arguments
peers() { env PATH="$fakes:$PATH" CONVFILT_OUT="$work/$1" SIDE=64 "${@:3}" bash peers/gpu.sh $2 >"$work/said" 2>&1; }
peers any "$fakes" PARTS=any MASKS=3 || fail "any masks fail: $(cat "$work/said")"
peers rank1 "$fakes" PARTS=rank1 MASKS="9 3" || fail "masks of rank 1 fail: $(cat "$work/said")"
peers all "--from $work/rank1/peers.csv $work/any/peers.csv" || fail "they cannot be joined: $(cat "$work/said")"
says '^fake, 64×64: times as multiples'
says '^\| u8, 1 channel \| 3×3 \| 9×9 \|$'
says '^\| convfilt auto \(rank 1\) \|  \| 9.00 \|$'
says '^\| convfilt best \| 3.00 fake \|  \|$'
! peers any "$fakes" PARTS=some || fail "an unknown part passes"
! peers any "$fakes" PARTS=any FAKE_GPU= || fail "peers pass without a GPU"

if command -v python3 >/dev/null && command -v cjpeg >/dev/null && command -v djpeg >/dev/null; then
  photographs() { env SOURCES="$work/none" "${@:2}" ./photographs.py "$work/photographs" 500x400 "$1" >"$work/said" 2>&1; }
  photographs 11 || fail "photographs.py fails: $(cat "$work/said")"
  says "no JPEG in $work/none .*samples/ serves"
  says '^11 photographs of 500x400: 0\.[0-9]+ MB in the mean'
  mkdir "$work/500x400"; mv "$work/photographs"/*.jpg "$work/500x400"
  # The tenth after each has the same tables, and another picture.
  ! cmp -s "$work/500x400/000.jpg" "$work/500x400/010.jpg" || fail "photographs are the same"
  photographs 12 PHOTOGRAPHS="$work" || fail "finished photographs are not taken: $(cat "$work/said")"
  cmp "$work/500x400/000.jpg" "$work/photographs/011.jpg" || fail "eleven photographs do not serve for twelve"
  ! photographs 1 CONVFILT=none || fail "photographs.py passes without pictures to take"
  says 'astronaut.png cannot be read'
fi
echo "scripts: points.awk, auto.awk, targets.awk, peers/table.awk; photographs.py, gpu.sh, gpus.sh, targets.sh, auto.sh, counters.sh, peers/gpu.sh"
