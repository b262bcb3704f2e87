#!/usr/bin/env bash
# Which CUDA code samples/setup.sh, tests/run.sh and tests/gpu.sh have compiled, beside a GPU and without one, in new folders
# and in ones that an earlier run has configured; and when tests/run.sh shows the line of each test. The scripts and presets are the real ones, and so is cmake; the project
# has no code, only the settings, and stand-ins are nvidia-smi and the commands that install or take long.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
fail() { echo "tests/setup.sh: $*" >&2; exit 1; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONVFILT_CUDA CONVFILT_CUDA_ARCHITECTURES CONVFILT_CUDA_QUICK
tree=$work/tree fakes=$work/fakes
mkdir -p "$tree/samples" "$tree/tests" "$fakes"
cp "$source/CMakePresets.json" "$tree"
cp "$source/samples/setup.sh" "$tree/samples"
cp "$source/tests/run.sh" "$source/tests/gpu.sh" "$tree/tests"
cat >"$tree/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(nothing LANGUAGES NONE)
$(grep '^set(CONVFILT_CUDA.* CACHE ' "$source/CMakeLists.txt")
foreach(target convfilt convfilt_manual convfilt_library)
  add_custom_target(\${target})
endforeach()
END
all=$(sed -n 's/^set(CONVFILT_CUDA_ARCHITECTURES "\(.*\)" CACHE .*/\1/p' "$source/CMakeLists.txt")
[ -n "$all" ] || fail "CMakeLists.txt no longer has a list of architectures"

# GPU says which compute capability there is; empty = none. The list of GPUs is longer than a pipe holds.
cat >"$fakes/nvidia-smi" <<'END'
#!/usr/bin/env bash
[ -n "${GPU:-}" ] || { echo "NVIDIA-SMI has failed"; exit 9; }
case $1 in -L) echo "GPU 0: fake"; yes '  a line about it' | head -n 20000 ;; *) echo "$GPU" ;; esac
END
printf '#!/bin/sh\nfor word; do echo "$word install ok installed"; done\n' >"$fakes/dpkg-query"
printf '#!/bin/sh\n' >"$fakes/apt-cache"
for tool in ctest compute-sanitizer python3; do printf '#!/bin/sh\n' >"$fakes/$tool"; done
chmod +x "$fakes"/*

# Runs a script with variables, in the folder of the last run unless that is removed.
runs() { env PATH="$fakes:$PATH" "$@" >"$work/said" 2>&1 || fail "$* fails: $(cat "$work/said")"; }
forget() { rm -rf "$tree/build"; }
checked=0
has() {  # PRESET CUDA ARCHITECTURES
  local cache="$tree/build/$1/CMakeCache.txt" cuda architectures
  cuda=$(sed -n 's/^CONVFILT_CUDA:[A-Z]*=//p' "$cache")
  architectures=$(sed -n 's/^CONVFILT_CUDA_ARCHITECTURES:[A-Z]*=//p' "$cache")
  [ "$cuda $architectures" = "$2 $3" ] || fail "line ${BASH_LINENO[0]}: CUDA is $cuda for $architectures, not $2 for $3"
  checked=$((checked + 1))
}
quick() {  # ON or OFF: whether CUDA code of the release is compiled quickly
  grep -qx "CONVFILT_CUDA_QUICK:[A-Z]*=$1" "$tree/build/release/CMakeCache.txt" ||
    fail "line ${BASH_LINENO[0]}: $(grep CUDA_QUICK "$tree/build/release/CMakeCache.txt"), not $1"
}
setup=$tree/samples/setup.sh run=$tree/tests/run.sh

# The GPU that is here, or none.
runs "$setup"; has release OFF "$all"
grep -q '^no GPU here .* CONVFILT_CUDA=AUTO samples/setup.sh builds it' "$work/said" || fail "it says: $(cat "$work/said")"
runs GPU=8.6 "$setup"; has release AUTO 86-real
runs "$setup"; has release AUTO 86-real
! grep -q 'no GPU here' "$work/said" || fail "a build that has CUDA says: $(cat "$work/said")"
runs GPU=9.0 "$setup"; has release AUTO 90-real
# What the user says wins.
runs GPU=9.0 CONVFILT_CUDA=OFF "$setup"; has release OFF 90-real
runs CONVFILT_CUDA=AUTO "$setup"; has release AUTO "$all"
runs GPU=9.0 CONVFILT_CUDA=AUTO CONVFILT_CUDA_ARCHITECTURES=75-real "$setup"; has release AUTO 75-real
runs CONVFILT_CUDA=ON "$setup"; has release ON "$all"
runs "$setup"; has release ON "$all"
# A newcomer's two commands: in one folder, with one architecture for the tests where there is no GPU.
forget
runs "$setup" release convfilt convfilt_manual convfilt_library; has release OFF "$all"
runs "$run"; has release AUTO 90-real; quick ON
runs "$setup" release convfilt convfilt_manual convfilt_library; has release AUTO 90-real
runs CONVFILT_CUDA=AUTO "$setup"; has release AUTO "$all"; quick OFF
runs "$run"; has release AUTO 90-real; quick ON
# A GPU that is here gets kernels that are fast.
runs GPU=9.0 "$run"; has release AUTO 90-real; quick OFF
forget
runs GPU=8.9 "$setup" release convfilt; has release AUTO 89-real; quick OFF
for _ in 1 2 3; do runs GPU=8.9 "$run"; has release AUTO 89-real; done
# Each test's line comes as the test ends: this ctest ends its second test only when the first one's line was seen. What was
# skipped stands once before the summary, and ctest's exit status stays.
cat >"$fakes/ctest" <<'END'
#!/usr/bin/env bash
mkdir -p build/release/Testing/Temporary
printf '%s\n' 'skipped: no GPU' 'device cuda skipped: none' 'some other line' 'skipped: no GPU' >build/release/Testing/Temporary/LastTest.log
echo '1/2 Test #1: first ... Passed'
for _ in {1..100}; do [ ! -e seen ] || break; sleep 0.1; done
[ -e seen ] && echo '2/2 Test #2: second ... Passed' || echo 'the line of the first test was not shown in time'
printf '\n50%% tests passed, 1 tests failed out of 2\n\nTotal Test time'
exit 8
END
status=0
(cd "$tree" && PATH="$fakes:$PATH" "$run" 2>/dev/null | while IFS= read -r line; do [[ $line != 1/2* ]] || : >seen; echo "$line"; done) >"$work/said" || status=$?
[ $status = 8 ] || fail "tests/run.sh exits with $status, not with ctest's 8"
diff "$work/said" - <<'END' || fail "tests/run.sh shows other lines than ctest's, with what was skipped before the summary"
1/2 Test #1: first ... Passed
2/2 Test #2: second ... Passed

skipped: no GPU
device cuda skipped: none
50% tests passed, 1 tests failed out of 2

Total Test time
END
# The last argument is no preset where it says how much the tests take.
printf '#!/bin/sh\necho "$CONVFILT_TEST_SIZE $2"\n' >"$fakes/ctest"
for words in '' full 'asan full'; do
  # shellcheck disable=SC2086  # words
  runs "$run" $words
  preset=${words%full} preset=${preset% }
  size=short; [ "$preset" = "$words" ] || size=full
  grep -qx "$size ${preset:-release}" "$work/said" || fail "tests/run.sh $words runs: $(cat "$work/said")"
done
printf '#!/bin/sh\n' >"$fakes/ctest"
# Other presets: what one says of CUDA itself stays.
runs "$setup" dev; has dev OFF 90
grep -q '^no GPU here .* CONVFILT_CUDA=AUTO samples/setup.sh dev builds it' "$work/said" || fail "for dev it says: $(cat "$work/said")"
runs CONVFILT_CUDA=AUTO "$setup" dev; has dev AUTO 90
for preset in no-cuda asan; do
  runs GPU=8.9 "$setup" $preset; has $preset OFF 89-real
  runs "$setup" $preset; has $preset OFF 89-real
  ! grep -q 'no GPU here' "$work/said" || fail "for $preset it says: $(cat "$work/said")"
done
# Everything on a machine with a GPU, for that GPU; nothing can be run here, and nothing is asked for but the build.
forget
env PATH="$fakes:$PATH" GPU=9.0 CONVFILT_OUT="$work/out" "$tree/tests/gpu.sh" >"$work/said" 2>&1 && fail "gpu.sh passes without a program"
has release AUTO 90-real

# nvcc that comes after a first configuration is found. A stand-in looks for it, as check_language() does: only where nothing
# is known of it.
mkdir "$work/modules" "$work/late"
cat >"$work/modules/CheckLanguage.cmake" <<'END'
macro(check_language language)
  if(NOT DEFINED CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "$ENV{NVCC}" CACHE FILEPATH "a stand-in")
    message(STATUS "nvcc: ${CMAKE_CUDA_COMPILER}")
  endif()
endmacro()
END
{
  echo 'cmake_minimum_required(VERSION 3.25)'
  echo 'project(nothing LANGUAGES NONE)'
  sed -n '/^  include(CheckLanguage)/,/^  check_language(CUDA)/p' "$source/CMakeLists.txt"
} >"$work/late/CMakeLists.txt"
for nvcc in NOTFOUND /usr/bin/true; do
  NVCC=$nvcc cmake -S "$work/late" -B "$work/late/build" -DCMAKE_MODULE_PATH="$work/modules" >"$work/said" 2>&1 || fail "cmake fails: $(cat "$work/said")"
  grep -q "^CMAKE_CUDA_COMPILER:FILEPATH=$nvcc$" "$work/late/build/CMakeCache.txt" || fail "CMake does not look for nvcc again"
done
echo "setup: $checked configurations"
