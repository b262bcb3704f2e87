#!/usr/bin/env bash
# Ninety-two mistakes, and what `convfilt try` says of each: twenty in the right kernels of samples/kernels, and those of
# tests/lesson/homework.txt in the right kernels of tests/lesson/homework/. Prints a table; fails where one is not found, or not called
# what it is, or where a right kernel of these is called wrong.
#
#   tests/lesson/mutants.sh [KERNEL...]     by default all; CONVFILT names the program; DEVICE, by default cpu, is what --device says.
#                                           With cuda each is tried on the GPU, too, and a mistake in samples/kernels that every GPU
#                                           shows must be found there. JOBS, by default 2, run at once
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}") device=${DEVICE:-cpu} jobs=${JOBS:-2}
[ "$device" = cpu ] || jobs=1
here=tests/lesson/homework
all=(basic tiled_in tiled_out cached $(cd $here && ls | sed 's/\.cu$//'))
kernels=("$@"); [ $# -gt 0 ] || kernels=("${all[@]}")
for kernel in "${kernels[@]}"; do
  [[ " ${all[*]} " == *" $kernel "* ]] || { echo "tests/lesson/mutants.sh: there are no mistakes in '$kernel'" >&2; exit 2; }
done
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
on_gpu=
[ "$device" = cpu ] || on_gpu=yes
echo "| kernel | mistake | found |${on_gpu:+ on the GPU |} what is said |"
echo "|---|---|---|${on_gpu:+---|}---|"
count=0
# What a GPU does about these depends on the order of its threads, or on what shared memory held before.
by_luck=' race unset_shared left_barrier other_barrier twice '
begin() {  # a line of the table, in the background
  count=$((count + 1))
  while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n || :; done
  ("$@") >"$work/$count.line" &
}
# NUMBER KERNEL MISTAKE KINDS WORDS SED: the first fault must be of one of the kinds, if there are some, and its sentence match the words
try_one() {
  local said kinds first gpu='' found=yes status=0 folder=samples/kernels file=$work/$1/$2.cu
  [ -f "$folder/$2.cu" ] || folder=$here
  mkdir "$work/$1"
  sed -E "$6" "$folder/$2.cu" >"$file"
  if cmp -s "$file" "$folder/$2.cu"; then echo "| $2 | $3 | NO | the mistake changes nothing in $2 |"; return; fi
  "$convfilt" try "$file" --device "$device" --json >"$work/$1/said" 2>"$work/$1/error" || status=$?
  # The GPU's part stands behind the remarks.
  kinds=$(sed -n '/^  "faults"/,/^  "remarks"/s/.*"kind": "\(.*\)",*/\1/p' "$work/$1/said" | xargs)
  said=$(sed -n '/^  "faults"/,/^  "remarks"/s/.*"text": "\(.*\)",*$/\1/p' "$work/$1/said" | head -n 1)
  first=${kinds%% *}
  [ $status = 1 ] && [ -n "$said" ] && [[ -z $4 || " $4 " == *" $first "* ]] && grep -qiE -e "$5" <<<"$said" ||
    found="NO ($kinds, exit code $status)"
  if [ -n "$on_gpu" ] && [ $folder = samples/kernels ]; then
    gpu=$(sed -n '/^  "gpu"/,/^  }/{s/^    "right": \(.*\),/\1/p;s/.*"kind": "\(.*\)",*/\1/p}' "$work/$1/said" | xargs)
    case $gpu in
      true) gpu='right by luck'; [[ $by_luck == *" $first "* ]] || found="NO (the GPU's results are right)" ;;
      false*) gpu=${gpu#false }; gpu="wrong: ${gpu%% *}" ;;
      *) found="NO (not tried on the GPU)" ;;
    esac
  fi
  echo "| $2 | $3 | $found |${on_gpu:+ $gpu |} ${said:-$(head -n 1 "$work/$1/error")} |"
}
try_right() {  # KERNEL
  local folder=samples/kernels status=0 said
  [ -f $folder/$1.cu ] || folder=$here
  said=$("$convfilt" try $folder/$1.cu --device "$device" 2>&1) || status=$?
  echo "| $1 | none | $([ $status = 0 ] && echo yes || echo NO) |${on_gpu:+ |} $(grep -o 'right on .* pictures' <<<"$said" | head -n 1) |"
}
is_asked() { [[ " ${kernels[*]} " == *" $1 "* ]]; }
mutant() { if is_asked "$1"; then begin try_one "$count" "$1" "$2" "$3" . "$4"; fi; }  # KERNEL MISTAKE KINDS SED
for kernel in "${kernels[@]}"; do begin try_right "$kernel"; done
mutant basic 'one row too many is written' 'outside_write unwritten ghost_cells wrong' 's/y >= height\) return/y > height) return/'
mutant basic 'the upper ghost cells are read' 'outside_read ghost_cells' 's/in_y >= 0 \&\& //'
mutant basic 'the left ghost cells are the row before' 'ghost_cells outside_read' 's/in_x >= 0 \&\& //'
mutant basic 'rows and columns of the mask exchanged' 'transposed' 's/F\[j\]\[i\]/F[i][j]/'
mutant basic 'the mask turned by 180 degrees' 'flipped' 's/F\[j\]\[i\]/F[2 * RADIUS - j][2 * RADIUS - i]/'
mutant basic 'the sum does not begin at 0' 'offset' 's/sum = 0\.0f/sum = 1.0f/'
mutant basic 'the radius is off by one' 'shifted outside_read' 's/x - RADIUS \+ i/x - RADIUS + i + 1/'
mutant tiled_in 'no barrier' 'race' '/__syncthreads/d'
mutant tiled_in 'no ghost cells in the tile' 'unset_shared' '/tile\[row\]\[col\] = 0\.0f/s/tile.*/;/'
mutant tiled_in 'a return before the barrier' 'left_barrier' 's/^  __syncthreads\(\);/  if (col >= TILE_WIDTH) return;\n  __syncthreads();/'
mutant tiled_in 'the last output of each row of a tile is missing' 'unwritten' 's/if \(col >= TILE_WIDTH/if (col >= TILE_WIDTH - 1/'
mutant tiled_in 'the tile is read one column too far' 'outside_read wrong shifted race unset_shared' 's/tile\[row \+ j\]\[col \+ i\]/tile[row + j][col + i + 1]/'
mutant tiled_in 'outputs beyond the picture are written' 'outside_write twice' 's/if \(x >= width \|\| y >= height\) return;//'
mutant tiled_out 'no barrier' 'race' '/__syncthreads/d'
mutant tiled_out 'the halo is not loaded' 'unset_shared' 's/(row|col) < IN_WIDTH; /\1 < TILE_WIDTH; /g'
mutant tiled_out 'the barrier stands in a branch' 'left_barrier other_barrier' 's/^  __syncthreads\(\);/  if (threadIdx.x < 8) __syncthreads();/'
mutant tiled_out 'columns and rows exchanged' 'wrong ghost_cells outside_read outside_write transposed halo unwritten' 's/y \* width \+ x/x * width + y/'
mutant cached 'no barrier' 'race' '/__syncthreads/d'
mutant cached 'neighbours outside the picture are read' 'outside_read ghost_cells unset_shared' 's/in_y >= height/in_y > height/'
mutant cached 'the tile is thought one column wider' 'unset_shared race wrong halo outside_read' 's/col < TILE_WIDTH/col <= TILE_WIDTH/'
while IFS='~' read -r kernel mistake words change; do
  if is_asked "$kernel"; then begin try_one "$count" "$kernel" "$mistake" '' "$words" "$change"; fi
done < <(sed -E '/^#/d;s/ \| /~/;s/ \| /~/;s/ \| /~/' tests/lesson/homework.txt)
wait
for ((i = 1; i <= count; i++)); do cat "$work/$i.line"; done | tee "$work/table"
right=$(grep -cE '^\| [a-z0-9_]+ \| [^|]* \| yes \|' "$work/table") || :
echo
echo "$right of $count as they should be"
[ "$right" = $count ]
