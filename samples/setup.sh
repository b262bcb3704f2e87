#!/usr/bin/env bash
# Installs what convfilt needs on Debian 12 or Ubuntu 24.04, builds it, and says where the program is (last
# line of standard output). Quick when nothing is to be done.
#
#   samples/setup.sh [PRESET] [TARGET...]     PRESET of CMakePresets.json, by default release
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}; [ $# -gt 0 ] && shift

packages=(g++ make cmake libopencv-dev libcli11-dev libspdlog-dev doctest-dev libhwy-dev libboost-context-dev
  libtiff-dev)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}" >&2
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

build=build/$preset
log=$build/setup.log
mkdir -p "$build"
if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$(nproc)" ${@:+--target "$@"}; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "samples/setup.sh: the build failed; the whole log is $log" >&2
  exit 1
fi
grep -E '^-- CUDA kernels' "$log" >&2 || true
echo "$PWD/$build/bin/convfilt"
