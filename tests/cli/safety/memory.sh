# Too little memory, for the file, its pixels, the result or its encoding: one line that says so, exit code 1, and no
# output. Limits go from one that suffices for a few pixels up to one that suffices for the picture.
export MALLOC_ARENA_MAX=1   # else glibc reserves a different part of the limit from run to run
readonly kMost=4096   # MiB
# A short run takes a quarter of the picture.
if [ "${CONVFILT_TEST_SIZE:-}" = full ]; then width=4000 height=3000 step=16; else width=2000 height=1500 step=8; fi
printf 'P6\n2 1\n255\nabcdef' >small.ppm
{ printf "P6\n$width $height\n255\n"; head -c $((width * height * 3)) /dev/zero; } >large.ppm
convfilt apply identity large.ppm large.png
# What the shell says of a library's death while it is loaded is not looked at, but its exit code is.
limited() { (ulimit -v $(($1 * 1024)); shift; "$CONVFILT" "$@" --threads 1 --device cpu 2>said) 2>/dev/null; }

least=$step
until limited $least blur small.ppm out.ppm; do
  least=$((least * 2))
  [ $least -le $kMost ] || skip "this build reserves more address space than it uses: $(tail -n 1 said)"
done
below=$((least / 2))
while [ $((least - below)) -gt $step ]; do
  middle=$(((least + below) / 2))
  if limited $middle blur small.ppm out.ppm; then least=$middle; else below=$middle; fi
done
rm out.ppm
# Pictures that go through in bands need little memory, whatever their size; these go through as a whole, or lie in memory.
for command in 'blur large.ppm --strategy fft' 'blur large.png --sigma 60' 'edge large.png --strategy fft' \
  'blur large.ppm --border wrap' 'edge large.png --border wrap'; do
  failures=0
  for ((limit = least; limit <= kMost; limit += step)); do
    code=0
    # shellcheck disable=SC2086  # a command and its picture
    limited $limit $command out.ppm || code=$?
    [ $code != 0 ] || break
    [ $code = 1 ] || fail "$command, $limit MiB: exit code $code: $(cat said)"
    grep -Eqx 'convfilt: (out of memory: filter a smaller picture, or free some memory|cannot (read|encode) .*: not enough memory.*)' said ||
      fail "$command, $limit MiB: $(cat said)"
    [ "$(wc -l <said)" = 1 ] || fail "$command, $limit MiB, says more than a line: $(cat said)"
    [ ! -e out.ppm ] || fail "$command, $limit MiB, left an output"
    failures=$((failures + 1))
  done
  [ -e out.ppm ] || fail "$command: $kMost MiB do not suffice"
  # A picture that goes in bands and lies in memory takes a third of that.
  case $command in *wrap) few=1 ;; *) few=3 ;; esac
  [ $failures -ge $few ] || fail "$command: only $failures limits were too low"
  rm out.ppm
done
