#!/usr/bin/env bash
# Packs BUILD as packaging/tarball.sh does, without compressing, and runs what it packs where nothing else is.
#
#   tests/tarball.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
skip() { echo "skipped: $*"; exit 77; }
build=$(realpath "${1:?usage: tests/tarball.sh BUILD}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" = 0 ] || skip "another system's root needs root"
unshare --mount --pid --fork true 2>/dev/null || skip "unshare makes no namespaces here"
command -v dpkg-query >/dev/null || skip "the tarball is made on Debian"
! grep -q __asan_init "$build/bin/convfilt" || skip "the tarball is not made of a build with sanitizers"
[ "$(find "$build" -path '*/convfilt/libconvfilt_*.so' | wc -l)" = 4 ] || skip "the build lacks a module of codecs"
[ -z "$(find /usr/lib -path '*/libheif/plugins' 2>/dev/null)" ] || skip "libheif has its encoders as plugins here, which the tarball does not bring"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/tarball.sh "$build" "$work/packed.tar"
CONVFILT=$build/bin/convfilt packaging/try_tarball.sh "$work/packed.tar" empty
