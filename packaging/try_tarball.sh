#!/usr/bin/env bash
# Tries a tarball of packaging/tarball.sh on bare systems, as a user without rights: every format, strategies, a folder, what
# is listed. Files and messages must have the same bytes as those of the build that the tarball was made from. It needs root,
# and debootstrap for systems other than `empty`, which holds nothing but the tarball, /proc, /sys and /tmp.
#
#   packaging/try_tarball.sh TARBALL [SUITE...]     SUITE: empty, bullseye, bookworm, trixie (default: these four)
#
# CONVFILT names the build's program, by default build/package/bin/convfilt.
set -euo pipefail
die() { echo "packaging/try_tarball.sh: $*" >&2; exit 1; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
self=$source/packaging/try_tarball.sh
readonly formats=(jpg png tif webp ppm bmp jp2 jxl heic avif exr hdr)

# Runs the program in this folder; WORD... are how it is started.
use() {  # WORD...
  "$@" --version
  for topic in "" masks filters strategies; do "$@" list $topic; done  # words
  "$@" explain tiled-in --mask 3x3
  for format in "${formats[@]}"; do
    "$@" apply identity in.png "to.$format"
    "$@" blur "in.$format" "from_$format.ppm"
  done
  "$@" apply identity in.gif from_gif.ppm
  "$@" blur in.png by_opencv.png --loader=opencv
  for strategy in tiled-out fft winograd; do "$@" apply sharpen3 in.png "$strategy.png" --strategy "$strategy"; done
  "$@" edge folder edges
  rm edges/.convfilt-journal  # which has times
  "$@" compare --mask 3x3 --size 64x48 >compared
  grep 'Every result' compared  # the line without times
  rm compared
}

# The script calls itself with these two.
case ${1:-} in
  --use) shift; use "$@"; exit ;;
  --inside)  # ROOT: runs in its own namespaces
    mount -t proc proc "$2/proc"
    mount --rbind --make-rslave /sys "$2/sys"
    cd "$2/work"
    use env -i HOME=/ COLUMNS=100 unshare --root="$2" --wd=/work --setgid=65534 --setuid=65534 /opt/convfilt/bin/convfilt
    exit ;;
  -h | --help | "") sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit $((2 * ($# == 0))) ;;
esac
without_times() { sed -E 's/ in [0-9.]+ s \(.*//' "$1"; }
tarball=$(realpath "$1"); shift
convfilt=$(realpath "${CONVFILT:-$source/build/package/bin/convfilt}")
[ "$(id -u)" = 0 ] || die "another system's root needs root"
[ $# -gt 0 ] || set -- empty bullseye bookworm trixie
export XDG_CONFIG_HOME=/nonexistent
base=$(mktemp -d)
trap 'rm -rf --one-file-system "$base"' EXIT
chmod 755 "$base"

mkdir -p "$base/work/folder"
cd "$base/work"
# The photograph's first rows, as encoders are slow.
"$convfilt" apply identity "$source/samples/rocket.jpg" "$base/all.ppm" 2>/dev/null
{ echo "P6 640 100 255"; head -c $((15 + 640 * 100 * 3)) "$base/all.ppm" | tail -c +16; } >"$base/rows.ppm"
for format in "${formats[@]}"; do "$convfilt" apply identity "$base/rows.ppm" "in.$format"; done
cp "$source/samples/rocket.jpg" in.jpg
printf 'GIF89a\1\0\1\0\200\0\0\377\377\377\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' >in.gif
cp in.jpg in.png in.tif folder
cp -r "$base/work" "$base/expected"
cd "$base/expected"
"$self" --use env -i HOME=/ COLUMNS=100 "$convfilt" >"$base/told" 2>&1 || die "the build itself fails: $(tail -n 5 "$base/told")"

for suite; do
  root=$base/$suite
  if [ "$suite" = empty ]; then
    mkdir -p "$root"/{proc,sys,tmp}
    chmod 1777 "$root/tmp"
  else
    debootstrap --variant=minbase "$suite" "$root" >"$base/log" 2>&1 || { tail -n 20 "$base/log" >&2; die "debootstrap $suite fails"; }
  fi
  mkdir -p "$root/opt/convfilt"
  tar -xf "$tarball" -C "$root/opt/convfilt" --strip-components=1 --no-same-owner
  cp -r "$base/work" "$root/work"
  chown -R 65534:65534 "$root/work"
  unshare --mount --pid --fork --kill-child "$self" --inside "$root" >"$base/told_there" 2>&1 || die "$suite: the program fails: $(tail -n 5 "$base/told_there")"
  { diff -r "$base/expected" "$root/work" && diff <(without_times "$base/told") <(without_times "$base/told_there"); } || die "$suite: other results than the build's"
  system=$(. "$root/etc/os-release" 2>/dev/null && echo "$PRETTY_NAME") || system="nothing else"
  libc=$(chroot "$root" /usr/bin/dpkg-query -W -f ', C library ${Version}' libc6 2>/dev/null) || libc=
  echo "$suite ($system$libc): $(find "$root/work" -type f | wc -l) files as the build's"
  rm -rf --one-file-system "$root"
done
