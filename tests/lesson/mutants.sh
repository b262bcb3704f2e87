#!/usr/bin/env bash
# Twenty mistakes, each made in one of the right kernels of samples/kernels, and what `convfilt try` says of it. Prints a table;
# fails where one is not found, or not called what it is.
#
#   tests/lesson/mutants.sh [KERNEL...]     by default basic, tiled_in, tiled_out and cached; CONVFILT names the program; DEVICE, by
#                                           default cpu, is what --device says. With cuda each is tried on the GPU, too, and a
#                                           mistake that every GPU shows must be found there
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}") device=${DEVICE:-cpu}
kernels=("$@"); [ $# -gt 0 ] || kernels=(basic tiled_in tiled_out cached)
for kernel in "${kernels[@]}"; do
  grep -q "^mutant $kernel " tests/lesson/mutants.sh || { echo "tests/lesson/mutants.sh: there are no mistakes in '$kernel'" >&2; exit 2; }
done
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
on_gpu=
[ "$device" = cpu ] || on_gpu=yes
echo "| kernel | mistake | found |${on_gpu:+ on the GPU |} what is said |"
echo "|---|---|---|${on_gpu:+---|}---|"
count=0 failed=0
# What a GPU does about these depends on the order of its threads, or on what shared memory held before.
by_luck=' race unset_shared left_barrier other_barrier twice '
mutant() {  # KERNEL MISTAKE KINDS SED
  local said kinds first gpu='' found=yes status=0
  [[ " ${kernels[*]} " == *" $1 "* ]] || return 0
  count=$((count + 1))
  sed -E "$4" "samples/kernels/$1.cu" >"$work/$1.cu"
  ! cmp -s "$work/$1.cu" "samples/kernels/$1.cu" || { echo "tests/lesson/mutants.sh: '$2' changes nothing in $1" >&2; exit 1; }
  "$convfilt" try "$work/$1.cu" --device "$device" --json >"$work/said" 2>"$work/error" || status=$?
  # The GPU's part stands behind the remarks.
  kinds=$(sed -n '/^  "faults"/,/^  "remarks"/s/.*"kind": "\(.*\)",*/\1/p' "$work/said" | xargs)
  said=$(sed -n '/^  "faults"/,/^  "remarks"/s/.*"text": "\(.*\)",*$/\1/p' "$work/said" | head -n 1)
  first=${kinds%% *}
  [ $status = 1 ] && [[ " $3 " == *" $first "* ]] || found="NO ($kinds, exit code $status)"
  if [ -n "$on_gpu" ]; then
    gpu=$(sed -n '/^  "gpu"/,/^  }/{s/^    "right": \(.*\),/\1/p;s/.*"kind": "\(.*\)",*/\1/p}' "$work/said" | xargs)
    case $gpu in
      true) gpu='right by luck'; [[ $by_luck == *" $first "* ]] || found="NO (the GPU's results are right)" ;;
      false*) gpu=${gpu#false }; gpu="wrong: ${gpu%% *}" ;;
      *) found="NO (not tried on the GPU)" ;;
    esac
  fi
  [ "$found" = yes ] || failed=$((failed + 1))
  echo "| $1 | $2 | $found |${on_gpu:+ $gpu |} ${said:-$(head -n 1 "$work/error")} |"
}
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
echo
echo "$((count - failed)) of $count mistakes found"
[ $failed = 0 ]
