#!/usr/bin/env bash
# Kills a run over a folder at random moments, goes on with --resume, and kills again, until it comes to its end; over and
# over until there were as many kills as asked for. Each result must be the one of a run in peace, no other file may
# be left, and by the journals and the results' inodes none may be written twice. Prints counts; exit code 1 on a loss.
#
#   tests/folders/kills.sh [KILLS] [DEVICE] [SEED]     by default 300, auto and 1; CONVFILT names the program. The device
#                                                      gpu stands for --codec=gpu: GPUs read and write the JPEGs, too,
#                                                      and there are 3,000 of them.
#
# NAMED=1: as on a file system without nameless files, such as NFS, where SIGKILL leaves temporary ones behind.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
kills=${1:-300} device=${2:-auto} RANDOM=${3:-1}
cd "$(dirname "$0")/../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
picture=$(realpath samples/rocket.jpg)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p photos/sub
# Formats that are cut into bands and such that are not, small ones and some of many bands.
"$convfilt" apply identity "$picture" photos/a.png -q
"$convfilt" apply identity "$picture" photos/sub/b.webp -q
"$convfilt" apply identity "$picture" photos/c.tif -q
{ printf 'P6\n3000 2000\n255\n'; head -c 18000000 < <(yes 'any bytes will do as pixels'); } >photos/large.ppm
for i in {1..12}; do cp "$picture" "photos/p$i.jpg"; cp photos/a.png "photos/sub/p$i.png"; done
how=(--device "$device")
if [ "$device" = gpu ]; then
  how=(--codec gpu)
  # A GPU makes nothing in its first second, and this many pictures in the next ones.
  for ((i = 0; i < 3000; ++i)); do ln "photos/p$((i % 12 + 1)).jpg" "photos/sub/q$i.jpg"; done
fi
run() { "$convfilt" blur photos out -r --sigma 3 "${how[@]}" -q "$@"; }
list() { (cd "$1" && find . -type f ! -name '.convfilt-*' -print0 | xargs -r -0 md5sum | sort); }
if [ -n "${NAMED:-}" ]; then
  cat >named.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
enum { kNameless = 020200000 };  // O_TMPFILE
int open(const char* path, int flags, int mode) {
  if ((flags & kNameless) == kNameless) return errno = EOPNOTSUPP, -1;
  return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
int open64(const char* path, int flags, int mode) { return open(path, flags, mode); }
C
  cc -shared -fPIC -o named.so named.c
  printf '#!/bin/sh\nLD_PRELOAD=%q exec %q "$@"\n' "$work/named.so" "$convfilt" >convfilt
  chmod +x convfilt
  convfilt=$work/convfilt
fi
start=$EPOCHREALTIME
run --json >said
took=$((${EPOCHREALTIME/./} - ${start/./}))
list out >expected
pictures=$(wc -l <expected)
counted=.; [ "$device" != gpu ] || counted=/q
all=$(grep -c "$counted" expected)
by_gpu=$(grep -c '"codec":"gpu"' said || true)
[ "$device" != gpu ] || [ "$by_gpu" -ge 3000 ] || { echo "GPUs read and wrote only $by_gpu of $pictures pictures" >&2; exit 1; }

killed=0 rounds=0 lost=0 torn=0 twice=0 litter=0 strays=0 left=0 midway=0
declare -A inode
say_counts() {
  echo "$killed kills, $midway of them with some of the results there, in $rounds runs over $pictures pictures on device $device ($by_gpu by GPUs' codecs):" \
    "$lost lost, $torn torn, $twice written twice, $litter left by SIGTERM; of $strays that SIGKILL left, $left after the end"
}
# On a machine that is lent for minutes what there was time for counts, too.
trap 'echo "cut short after:"; say_counts; exit 143' TERM
# Results that are there already must stay the files that they are.
check_inodes() {
  local name
  while read -r number name; do
    [ -z "${inode[$name]:-}" ] || [ "${inode[$name]}" = "$number" ] || { twice=$((twice + 1)); echo "written twice: $name" >&2; }
    inode[$name]=$number
  done < <(cd out 2>/dev/null && find . -type f ! -name '.*' -printf '%i %P\n')
}
while [ $killed -lt "$kills" ]; do
  rounds=$((rounds + 1))
  rm -rf out
  inode=() tries=0 before=0
  while :; do
    signal=$([ $((RANDOM % 3)) = 0 ] && echo TERM || echo KILL)
    delay=$((RANDOM * 32768 + RANDOM)); delay=$((delay % (took * 9 / 10 + 1)))
    # A machine that has become slower must not be killed for ever.
    tries=$((tries + 1)); [ $tries -le 100 ] || delay=$((20 * took))
    code=0
    timeout --foreground -s $signal "$((delay / 1000000)).$(printf %06d $((delay % 1000000)))" "$convfilt" blur photos out -r \
      --sigma 3 "${how[@]}" -q --resume 2>said || code=$?
    check_inodes
    # What SIGKILL leaves, the next run removes; SIGTERM leaves nothing more.
    now=$({ find out -name '.convfilt-*.tmp' 2>/dev/null || true; } | wc -l)
    if [ $code = 137 ]; then strays=$((strays + (now > before ? now - before : 0)))
    elif [ "$now" -gt $before ]; then litter=$((litter + now - before)); echo "SIGTERM left files" >&2; fi
    before=$now
    : >found
    [ ! -d out ] || list out >found
    while read -r _ name; do
      torn=$((torn + 1)); echo "torn: $name" >&2
    done < <(comm -23 found expected)
    [ $code != 0 ] || break
    # On a GPU those count that only GPUs make in numbers.
    results=$(grep -c "$counted" found || true)
    [ "$results" = 0 ] || [ "$results" = "$all" ] || midway=$((midway + 1))
    case $code in 124 | 137) killed=$((killed + 1)) ;; *) echo "exit code $code: $(cat said)" >&2; exit 1 ;; esac
  done
  left=$((left + before))
  list out | cmp -s - expected || { lost=$((lost + $(list out | comm -13 - expected | wc -l))); list out | diff - expected >&2 || true; }
done
say_counts
# Kills before the first result, or after the last, would tell nothing.
[ $((lost + torn + twice + litter + left)) = 0 ] && [ $((midway * 3)) -ge "$killed" ]
