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
same_counts basic samples/kernels/basic.cu --block 32x8
same_counts tiled-in samples/kernels/tiled_in.cu
# Ours has rows of 48 floats in shared memory, which lie in other banks than the next.
sed 's/tile\[IN_WIDTH\]\[IN_WIDTH\]/tile[IN_WIDTH][48]/' samples/kernels/tiled_out.cu >tiled_out.cu
same_counts tiled-out:outputs=1 tiled_out.cu
same_counts cached samples/kernels/cached.cu
