#!/bin/bash
# The rooms of the source tree: fails, with file and include, where an include runs up the list below, and where a foreign
# library's word stands outside its home. Prints the figures in any case. An argument names another tree to look at.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -u -o pipefail

tree=${1:-$(dirname "$0")/..}
cd "$tree" || exit 2

# An include may name its own room and those below. app/lab and src/lab come first, so that nothing below may include them.
rooms="
app/lab src/lab/try src/lab/tune src/lab/check src/lab/compare src/lab/explain src/lab
app
src/python
src/library src/run src/recipe src/filter src/auto src/picture src/mask src/base
kernels/registry kernels/cpu
kernels/direct kernels/separable kernels/separable_tensor kernels/tensor kernels/coarse
kernels/textbook kernels/transform kernels/huffman kernels/plan kernels/backend kernels/contract
kernels/loose"

# A word, as a regular expression; then the only places it may stand in, as one.
foreign='
CLI::|<CLI/ ^app/grammar/
\<cv::|<opencv2/ ^src/picture/modules/|^kernels/backend/host/fft\.cpp$
jpeglib\.h|<png\.h>|tiffio\.h|<webp/|nvimgcodec ^src/picture/codecs/
<libheif/|<jxl/ ^src/picture/modules/
<lcms2 ^src/picture/
spdlog::|<spdlog/ ^src/base/|^app/
<cuda_runtime|\<cuda[A-Z][A-Za-z]*\(|<cufft|<cublas ^kernels/|^src/lab/try/runtime/
#include."app/ ^app/
\<tbb::|<tbb/|<oneapi/ ^src/run/|^kernels/cpu/|^kernels/backend/host/
'

mapfile -t files < <(find app src kernels -type f \( -name '*.hpp' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) | sort)
if [ ${#files[@]} -lt 100 ]; then
  echo "rooms: only ${#files[@]} source files in $tree; is it the repository's root?" >&2
  exit 2
fi

awk -v rooms="$rooms" '
  function room(path,   parts, n) {
    n = split(path, parts, "/")
    if (parts[1] == "app") return parts[2] == "lab" ? "app/lab" : "app"
    if (parts[2] == "lab") return n > 3 ? "src/lab/" parts[3] : "src/lab"
    if (parts[1] == "kernels" && n == 2) return parts[2] ~ /^registry/ ? "kernels/registry" : "kernels/loose"
    return parts[1] "/" parts[2]
  }
  function place(path,   name) {
    name = room(path)
    if (name in order) return order[name]
    if (!(name in unknown)) {
      print path ": its room " name " is not in the list of tests/rooms.sh"
      unknown[name] = 1
      ++failures
    }
    return 0
  }
  BEGIN {
    count = split(rooms, list, /[ \n]+/)
    for (k = 1; k <= count; ++k) if (list[k] != "") order[list[k]] = ++last
    for (k = 1; k < ARGC; ++k) {
      known[ARGV[k]] = 1
      folder = ARGV[k]
      sub("/[^/]*$", "", folder)
      if (!(folder in folders)) { folders[folder] = 1; ++folder_count }
    }
  }
  { ++lines }
  match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]+"/) {
    split($0, quoted, "\"")
    target = quoted[2]
    if (!(target in known)) {
      print FILENAME ":" FNR ": includes \"" target "\", which is no file of app/, src/ or kernels/ from the root"
      ++failures
      next
    }
    from = place(FILENAME)
    to = place(target)
    if (room(FILENAME) == room(target)) next
    ++between
    if (!((from, to) in pairs)) { pairs[from, to] = 1; ++pair_count }
    if (from > to) {
      print FILENAME ":" FNR ": includes \"" target "\", which runs up: " room(FILENAME) " lies below " room(target)
      ++up
      ++failures
    }
  }
  END {
    printf "rooms: %d files, %d lines, %d folders, %d includes between rooms (%d pairs), %d arrows up\n",
        ARGC - 1, lines, folder_count, between, pair_count, up
    exit failures > 0
  }' "${files[@]}"
status=$?

# A unit, which is a header with the source file of its name, may not need itself by way of another.
if ! loop=$(grep -HE '^[ \t]*#[ \t]*include[ \t]*"' "${files[@]}" |
  sed -nE 's/^((app|src|kernels)[^:]*)\.[a-z]+:[^"]*"([^"]*)\.[a-z]+".*/\1 \3/p' | awk '$1 != $2' | tsort 2>&1 >/dev/null); then
  echo "rooms: units include each other in a loop:" "${loop//tsort: /}"
  status=1
fi

while read -r word home; do
  [ -n "$word" ] || continue
  while IFS= read -r hit; do
    [[ ${hit%%:*} =~ $home ]] && continue
    echo "$hit: /$word/ may stand only in /$home/"
    status=1
  done < <(grep -nE -- "$word" "${files[@]}")
done <<< "$foreign"

[ "$status" -eq 0 ] || echo "rooms: failed" >&2
exit "$status"
