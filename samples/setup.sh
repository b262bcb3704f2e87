#!/usr/bin/env bash
# Installs what convfilt needs on Debian 12 or 13, builds it, and prints the program's path (the last
# line of standard output). Quick if there is nothing to do.
#
#   samples/setup.sh [PRESET] [TARGET...]     PRESET of CMakePresets.json, by default release
#   samples/setup.sh packages                 installs alone, also what `pip install .` needs, and builds nothing
set -euo pipefail
cd "$(dirname "$0")/.."
die() { echo "samples/setup.sh: $*" >&2; exit 1; }
preset=${1:-release}; [ $# -gt 0 ] && shift
installs_alone=false
case $preset in
  packages) installs_alone=true preset=release CONVFILT_MODULE_PYTHON=true ;;
  -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' samples/setup.sh; exit 0 ;;
  *) grep -q "\"name\": \"$preset\", \"inherits\"" CMakePresets.json || die "no preset '$preset' in CMakePresets.json" ;;
esac
build=build/$preset
mkdir -p "$build" 2>/dev/null ||
  die "cannot write here; build elsewhere: cmake -S '$PWD' -B /tmp/convfilt && cmake --build /tmp/convfilt"

packages=(g++ make cmake pkgconf libopencv-dev libcli11-dev libspdlog-dev doctest-dev libhwy-dev libboost-context-dev
  libeigen3-dev libtbb-dev nlohmann-json3-dev gnuplot-nox
  libjpeg-dev libpng-dev libtiff-dev libwebp-dev zlib1g-dev libisal-dev liblcms2-dev libheif-dev libjxl-dev libopenjp2-7-dev
  # With these, tests look at files, make writing them fail, and share folders out.
  libimage-exiftool-perl libjpeg-turbo-progs strace parallel)
! command -v nvidia-smi >/dev/null || packages+=(python3-pip)  # which brings nvImageCodec
! ${CONVFILT_MODULE_PYTHON:-false} || packages+=(python3-dev python3-venv)
[ "$preset" != package ] || packages+=(dpkg-dev file)  # with which cpack finds what the program depends on
[ "$preset" != fuzz ] || packages+=(clang libclang-rt-dev)
find_missing() {
  local wanted installed
  # From Debian 13 on, the encoders of libheif are separate packages.
  wanted=("${packages[@]}" $(apt-cache pkgnames libheif-plugin- 2>/dev/null | grep -xE 'libheif-plugin-(aomenc|x265)' || true))
  installed=$(dpkg-query -W -f='${Package} ${Status}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/ .* ok installed$//p') || true
  missing=()
  for package in "${wanted[@]}"; do [[ $'\n'$installed$'\n' = *$'\n'"$package"$'\n'* ]] || missing+=("$package"); done
}
find_missing
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "packages are missing, and there is no sudo; as root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  log=$build/apt.log
  echo "installing (log: $log): ${missing[*]}" >&2
  { "${as_root[@]}" apt-get update -qq && find_missing &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
  } >"$log" 2>&1 || { tail -n 20 "$log" >&2; die "apt-get failed; the whole log is $log"; }
fi
! $installs_alone || exit 0

# A folder that was configured under another name of the source tree is configured anew.
fresh=()
[ ! -f "$build/CMakeCache.txt" ] || grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$build/CMakeCache.txt" || fresh=(--fresh)
log=$build/setup.log
[ -x "$build/bin/convfilt" ] || echo "building (some minutes; log: $log)" >&2
# CUDA code takes minutes to compile: for the GPUs that are here, and for none where there is none. A build that has it
# keeps it. CONVFILT_CUDA=AUTO compiles it wherever nvcc is found, without a GPU for every architecture of a release;
# CONVFILT_CUDA_ARCHITECTURES names others. With CONVFILT_CUDA_QUICK=ON it compiles in half the time and runs slower. What a
# preset says of CUDA itself stays.
capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9]+\.[0-9]+$' | sort -u | tr -d . | sed 's/$/-real/' | paste -sd';') || capabilities=
cuda=${CONVFILT_CUDA:-} architectures=${CONVFILT_CUDA_ARCHITECTURES:-$capabilities}
preset_says() { sed -n "/\"name\": \"$preset\", \"inherits\"/,/}}/p" CMakePresets.json | grep "\"$1\"" >/dev/null; }
settings=()
no_gpu=false
if [ -n "$cuda" ]; then
  # Without its line in the cache, the list of CMakeLists.txt holds, not what another run has left.
  [ -n "$architectures" ] || preset_says CONVFILT_CUDA_ARCHITECTURES || settings+=(-UCONVFILT_CUDA_ARCHITECTURES)
elif ! preset_says CONVFILT_CUDA; then
  if [ -n "$capabilities" ]; then cuda=AUTO
  elif ! grep -qsE '^CONVFILT_CUDA:[A-Z]*=(AUTO|ON)$' "$build/CMakeCache.txt"; then cuda=OFF no_gpu=true; fi
fi
# On a GPU, nvImageCodec reads and writes the JPEGs of folders. It comes as a Python package, of which no Python is used;
# without it they go through the CPU.
if [ -n "$capabilities" ] && [ "$cuda" != OFF ] && nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null); then
  release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p') codec=$build/nvimgcodec
  if [ ! -d "$codec/nvidia" ] && ! python3 -m pip install -q --no-deps --target "$codec" "nvidia-nvimgcodec-cu$release" >"$build/pip.log" 2>&1; then
    echo "nvImageCodec could not be installed (log: $build/pip.log): JPEGs of folders will be read and written on the CPU" >&2
  fi
fi
# CONVFILT_MODULE_PYTHON=true also builds the Python module, as tests do; users install it with pip. What that needs comes from the
# package index into the build folder.
if ${CONVFILT_MODULE_PYTHON:-false}; then
  venv=$PWD/$build/venv
  if "$venv/bin/python" -c 'import nanobind, numpy, PIL, scikit_build_core' 2>/dev/null || { python3 -m venv "$venv" && "$venv/bin/pip" install -q nanobind numpy pillow scikit-build-core; } >"$build/pip.log" 2>&1; then
    settings+=("-DPython_EXECUTABLE=$venv/bin/python")
  else
    echo "nanobind could not be installed (log: $build/pip.log): the Python module is not built" >&2
  fi
  # tests/wheel.sh installs numpy offline from this wheel.
  compgen -G "$build/wheels/numpy-*.whl" >/dev/null || "$venv/bin/pip" download -q --no-deps -d "$build/wheels" numpy >>"$build/pip.log" 2>&1 ||
    echo "a wheel of numpy could not be downloaded (log: $build/pip.log): tests/wheel.sh will be skipped" >&2
fi
settings+=(${cuda:+"-DCONVFILT_CUDA=$cuda" "-DCONVFILT_CUDA_QUICK=${CONVFILT_CUDA_QUICK:-OFF}"} ${architectures:+"-DCONVFILT_CUDA_ARCHITECTURES=$architectures"})
if ! { cmake --preset "$preset" "${settings[@]}" "${fresh[@]}" && cmake --build --preset "$preset" -j "$(($(nproc) + 1))" ${@:+--target "$@"}; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  die "the build failed; the whole log is $log"
fi
if $no_gpu; then
  again="CONVFILT_CUDA=AUTO samples/setup.sh"
  [ "$preset" = release ] || again+=" $preset"
  echo "no GPU here (nvidia-smi names none), so no CUDA code was built; $again builds it, where nvcc is found" >&2
else
  grep -E '^-- CUDA kernels' "$log" | sed 's/^-- //' >&2 || true
fi
echo "$PWD/$build/bin/convfilt"
