# A block of the samples, with the tiles of our strategies, does what the emulator counts of these, though it is watched in another way.
need_tool c++
need_tool addr2line
same_counts() {  # STRATEGY FILE OPTIONS...
  local name=$1; shift
  convfilt try "$@" --device cpu --json >said.json
  sed -n '/"block_counts": {/,/}/s/^ *\("[a-z_]*": [0-9.]*\),*$/\1/p' said.json >student
  sed -n '/"textbook": \[/,$p' said.json | sed -n "/\"name\": \"$name\"/,/}/s/^ *\(\"[a-z_]*\": [0-9.]*\),*\$/\1/p" >ours
  diff student ours
  echo "$name: $(wc -l <ours) counts are the same"
}
for name in tiled_out cached; do sed 's/TILE_WIDTH 16/TILE_WIDTH 32/' samples/kernels/$name.cu >$name.cu; done
sed 's/TILE_WIDTH 16/TILE_WIDTH 28/' samples/kernels/tiled_in.cu >tiled_in.cu
same_counts basic samples/kernels/basic.cu --block 32x8
same_counts tiled-in tiled_in.cu --block 32x32 --outputs 28x28
same_counts tiled-out:outputs=1 tiled_out.cu --block 32x32
same_counts cached cached.cu --block 32x32
