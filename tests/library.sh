#!/usr/bin/env bash
# Installs the library of BUILD, moves it elsewhere, builds samples/library against it as its users would, and runs that.
#
#   tests/library.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
fail() { echo "tests/library.sh: $*" >&2; exit 1; }
build=${1:?usage: tests/library.sh BUILD}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONVFILT_FILTERS
said() { cat "$work/log" >&2; fail "$@"; }
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
# A program that loads an instrumented library must be linked with the sanitizers, too.
compiler=$(setting CMAKE_CXX_COMPILER) toolchain=$(setting CMAKE_TOOLCHAIN_FILE) sanitizers=$(setting CONVFILT_SANITIZE)
sanitize=${sanitizers:+-fsanitize=$sanitizers}
example() {  # FOLDER CMAKE_ARGUMENT...: builds the example there
  cmake -S "$work/example" -B "$1" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER="$compiler" \
    ${toolchain:+"-DCMAKE_TOOLCHAIN_FILE=$toolchain"} "${@:2}" \
    -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wno-missing-field-initializers -Werror $sanitize" >"$work/log" 2>&1 &&
    cmake --build "$1" >>"$work/log" 2>&1 || said "the example does not build"
}

# The list of what the user has installed from here stays, since uninstalling needs it.
! [ -f "$build/install_manifest.txt" ] || mv "$build/install_manifest.txt" "$work/manifest"
trap '! [ -f "$work/manifest" ] || mv -f "$work/manifest" "$build/install_manifest.txt"; rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || said "cmake --install failed"
mv "$work/prefix" "$work/moved"
library=$(find "$work/moved" -name 'libconvfilt.so.*' -type f)
[ -f "$library" ] || fail "no library was installed"
folder=$(dirname "$library")

# samples/library, by find_package(). The filter that it names is one that the source tree has not.
[ "$(wc -l <"$source/samples/library/filter.cpp")" -le 30 ] || fail "samples/library/filter.cpp has over 30 lines"
mv "$work/moved/share/convfilt/filters/gaussian5.txt" "$work/moved/share/convfilt/filters/of-the-library.txt"
cp -r "$source/samples/library" "$work/example"
sed -i 's/"gaussian5"/"of-the-library"/' "$work/example/filter.cpp"
example "$work/filter"
"$work/filter/filter" >"$work/said" || fail "the example fails: $(cat "$work/said")"
grep -q '^host: sample [0-9]* became [0-9]*$' "$work/said" || fail "the example says: $(cat "$work/said")"
! grep -q 'other' "$work/said" || fail "the GPU gives other bytes: $(cat "$work/said")"
cuda=$(grep '^CMAKE_CUDA_FLAGS:' "$build/CMakeCache.txt" || true)  # there since CUDA was enabled
case $(setting CONVFILT_CUDA | tr '[:lower:]' '[:upper:]') in OFF | NO | FALSE | N | 0) cuda= ;; esac
if grep '^GPU' "$work/said"; then :
elif [ -z "$cuda" ]; then echo "skipped the example's part on a GPU: this build has no CUDA"
elif nvidia-smi -L 2>/dev/null | grep GPU >/dev/null && grep -q HAS_CUDA "$work/filter/CMakeFiles/filter.dir/flags.make"; then
  fail "there is a GPU, and the example says: $(cat "$work/said")"
else echo "skipped the example's part on a GPU: there is none here"
fi

# Beside a GPU the example asks a library without CUDA for it, and ends well when that refuses. The CUDA runtime is a stand-in
# that has one GPU.
if [ -z "$cuda" ]; then
  mkdir "$work/runtime"
  cat >"$work/runtime/cuda_runtime.h" <<'END'
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
using cudaStream_t = void*;
template <class T> int cudaMalloc(T** pointer, int) { return *pointer = nullptr, cudaSuccess; }
inline int cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline int cudaStreamCreate(cudaStream_t* stream) { return *stream = nullptr, cudaSuccess; }
inline int cudaMemcpyAsync(void*, const void*, int, int, cudaStream_t) { return cudaSuccess; }
inline int cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
END
  echo "add_compile_definitions(HAS_CUDA) include_directories($work/runtime)" | tr ' ' '\n' >"$work/runtime/here.cmake"
  example "$work/refused" -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -DCMAKE_PROJECT_INCLUDE="$work/runtime/here.cmake"
  "$work/refused/filter" >"$work/refusal" || fail "the example fails where the library has no CUDA: $(cat "$work/refusal")"
  grep -q 'this build has no CUDA' "$work/refusal" || fail "the example says of a library without CUDA: $(cat "$work/refusal")"
fi

# The library's own filters win over those of an installation that the calling program lies in.
mkdir -p "$work/share/convfilt/filters"
echo 3 >"$work/share/convfilt/filters/of-the-library.txt"
"$work/filter/filter" >"$work/beside" || fail "the example fails beside other filters: $(cat "$work/beside")"
cmp -s "$work/said" "$work/beside" || fail "the example takes another installation's filter: $(cat "$work/beside")"

# Everything that the headers declare is there, and nothing else of convfilt's; errors arrive as what they are.
cat >"$work/all.cpp" <<'END'
#include <convfilt/convfilt.hpp>

#include <cstdio>
#include <cstring>

using namespace convfilt;

template <class F>
bool throws(const char* words, F f) {
  try {
    f();
  } catch (const std::runtime_error& error) {
    if (std::strstr(error.what(), words)) return true;
    std::printf("it says: %s\n", error.what());
    return false;
  }
  std::printf("nothing is thrown for: %s\n", words);
  return false;
}

int main() {
  Mask mask = make_mask("mine", 3, 1, {1, 2, 3}, 6);
  Problem problem{5, 4, 1, Depth::u8, Border::constant, 9, flipped(mask), Mode::full};
  bool good = problem.out_width() == 7 && problem.out_height() == 4 && problem.lead_x() == 2 && problem.lead_y() == 0;
  good &= gain(mask) == 1 && absolute_gain(mask) == 1 && size_of(Depth::u16) == 2 && full_range(Depth::u8) == 255;
  good &= name_of(Depth::u8) == "u8" && name_of(Border::wrap) == "wrap" && name_of(Mode::same) == "same";
  good &= mode_refuses(problem).empty() && to_string(problem).find("mine") != std::string::npos;
  good &= throws("neither a file nor a mask's name", [] { load_mask("no-such-filter"); });
  good &= throws("did you mean", [&] { make_plan(problem, {.strategy = "bsic"}); });
  good &= throws("as many weights", [&] { Problem odd = problem; odd.mask.weights.pop_back(); make_plan(odd); });
  good &= throws("give sides of", [] { make_plan(Problem{3, 3}); });
  good &= throws("a picture has 1x1 to", [&] { Problem none = problem; none.width = 0; make_plan(none); });
  good &= throws("a picture has 1x1 to", [&] { Problem huge = problem; huge.height = 1 << 30; make_plan(huge); });
  good &= throws("1, 3 or 4 channels", [&] { Problem two = problem; two.channels = 2; make_plan(two); });
  good &= throws("u8, u16 or f32", [&] { Problem odd = problem; odd.depth = Depth(7); make_plan(odd); });
  good &= throws("same, valid or full", [&] { Problem odd = problem; odd.mode = Mode(9); make_plan(odd); });
  good &= throws("reflect101 or wrap", [&] { Problem odd = problem; odd.border = Border(9); make_plan(odd); });
  for (const double value : {300.0, 0.5, -1.0})
    good &= throws("whole numbers from 0 to 255", [&] { Problem odd = problem; odd.border_value = value; make_plan(odd); });
  good &= throws("up to about 3.4e38", [&] { Problem odd = problem; odd.depth = Depth::f32; odd.border_value = 1e300; make_plan(odd); });
  good &= throws("finite", [&] { Problem odd = problem; odd.border_value = 1 / 0.0; make_plan(odd); });
  good &= throws("threads are 0", [&] { make_plan(problem, {.threads = -1}); });
  good &= throws("at least 1 picture", [&] { make_plan(problem, {.pictures = 0}); });
  problem.mode = Mode::same;
  problem.mask = mask;
  const auto checked = make_plan(problem, {.device = "cpu"});
  std::byte pixels[40];
  good &= throws("in is 4x4x1, where the plan has 5x4x1", [&] { checked->run({pixels, 4, 4, 1, 5}, {pixels + 20, 5, 4, 1, 5}); });
  good &= throws("out is 5x4x3", [&] { checked->run_resident({pixels, 5, 4, 1, 5}, {pixels + 20, 5, 4, 3, 15}, nullptr); });
  good &= throws("begin only 4 bytes apart", [&] { checked->run({pixels, 5, 4, 1, 5}, {pixels + 20, 5, 4, 1, 4}); });
  good &= throws("in has no pixels", [&] { checked->run({nullptr, 5, 4, 1, 5}, {pixels + 20, 5, 4, 1, 5}); });
  std::vector<std::byte> in(20, std::byte{60}), out(20), resident(20);
  for (const char* device : {"cpu", "emulator"}) {
    const auto plan = make_plan(problem, {.strategy = device == std::string("cpu") ? "auto" : "tiled-in", .device = device});
    plan->run({in.data(), 5, 4, 1, 5}, {out.data(), 5, 4, 1, 5});
    plan->run_resident({in.data(), 5, 4, 1, 5}, {resident.data(), 5, 4, 1, 5}, nullptr);
    // (1 * 9 + 2 * 60 + 3 * 60) / 6 = 51.5 at the left, and (1 * 60 + 2 * 60 + 3 * 9) / 6 = 34.5 at the right.
    good &= out[0] == std::byte{52} && out[2] == std::byte{60} && out[4] == std::byte{34} && resident == out;
  }
  std::puts(good ? "all good" : "something is wrong");
  return !good;
}
END
# shellcheck disable=SC2086  # an option or none
"$compiler" $sanitize -std=c++20 -I "$work/moved/include" "$work/all.cpp" -o "$work/all" "$folder/libconvfilt.so" -Wl,-rpath,"$folder" 2>"$work/log" || said "the headers promise what the library lacks"
"$work/all" || fail "see above"
for header in "$work"/moved/include/convfilt/*.hpp; do
  "$compiler" -std=c++20 -fsyntax-only -x c++ -I "$work/moved/include" "$header" 2>"$work/log" || said "$(basename "$header") does not compile by itself"
  ! grep -n '#include "\(kernels\|src\)/' "$header" || fail "$(basename "$header") includes what is not installed"
done
# The C interface, found by pkg-config: C11 and C++17 without a warning; every function, from several threads.
flags=$(PKG_CONFIG_PATH=$folder/pkgconfig pkg-config --cflags --libs convfilt) || fail "pkg-config does not know convfilt"
[ "$(PKG_CONFIG_PATH=$folder/pkgconfig pkg-config --modversion convfilt)" = "$(sed -n 's/^project(convfilt VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" ] ||
  fail "pkg-config has another version"
for how in "-x c -std=c11 -D_POSIX_C_SOURCE=200809L" "-x c++ -std=c++17"; do
  # shellcheck disable=SC2086  # words
  "$compiler" $how -Wall -Wextra -pedantic -Werror $sanitize "$source/tests/library/every_function.c" -x none $flags \
    -Wl,-rpath,"$folder" -pthread -lm -o "$work/every_function" 2>"$work/log" || said "convfilt.h does not compile with $how"
  "$work/every_function" >"$work/said" || fail "the C interface: see above ($how)"
done
"$work/every_function" "$([ "${CONVFILT_TEST_SIZE:-}" = full ] && echo 1000 || echo 200)" >"$work/said" ||
  fail "exit() while threads are in calls: see above"
# So nothing is destroyed by exit(). <iostream> alone, of older compilers, has something for exit() to call, which flushes streams.
if command -v objdump >/dev/null; then
  find "$build/src" "$build/kernels" -name '*.o' ! -path '*_lesson*' ! -path '*/python/*' | while read -r object; do
    objdump -r "$object" | awk -v object="$object" '/__cxa_atexit/ { ++destroyed } /_ZNSt8ios_base4InitC1Ev/ { ++streams }
      END { if (destroyed > streams) print object }'
  done >"$work/destroyed"
  ! [ -s "$work/destroyed" ] || fail "exit() destroys statics of these files; make them constexpr, or static auto& x = *new X: $(cat "$work/destroyed")"
fi
# What the compiler makes of a public struct by itself may be there, too, where it is not inlined.
promised='convfilt::((load|make)_mask|make_plan|flipped|gain|absolute_gain|name_of|size_of|full_range|mode_refuses|to_string|Problem::(out_width|out_height|lead_x|lead_y|Problem|~Problem)|Mask::~?Mask)(\[abi:cxx11\])?\('
exported=$(nm -DC --defined-only "$library" | sed 's/^[0-9a-f]* . //; s/@.*//')
foreign=$(grep -vE "^$promised|^(typeinfo|typeinfo name|vtable) for convfilt::(DeviceError|Plan)$|^convfilt_|^CONVFILT_0" <<<"$exported" || true)
[ -z "$foreign" ] || fail "the library also exports: $foreign"
# The C interface keeps what this version has: src/library/symbols.txt is added to, and nothing in it goes.
diff "$source/src/library/symbols.txt" <(nm -D --defined-only "$library" | awk '$3 ~ /^convfilt_/ { print $3 }' | sort) ||
  fail "the C interface is not what src/library/symbols.txt says"
