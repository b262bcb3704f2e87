#!/usr/bin/env bash
# The unit tests of src/run, and commands on folders, under ThreadSanitizer: no data race may be reported. oneTBB is built
# with it from Debian's source, since the package hides from it how tasks are handed from thread to thread.
#
#   tests/folders/tsan.sh [BUILD]     by default build/tsan; needs gcc, dpkg-dev and Debian's archive. JOBS says how many
#                                     compilers run at once
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD build=$(realpath -m "${1:-build/tsan}") jobs=${JOBS:-$(nproc)}
die() { echo "tests/folders/tsan.sh: $*" >&2; exit 1; }
command -v dpkg-source >/dev/null || die "no dpkg-source; it comes with Debian's dpkg-dev"
mkdir -p "$build/apt/lists/partial"

# A list of its own gives apt sources, whatever the machine's lists have.
if [ ! -e "$build/onetbb/done" ]; then
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$build/apt/sources"
  apt=(apt-get -q -o Dir::Etc::sourcelist="$build/apt/sources" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$build/apt/lists")
  "${apt[@]}" update
  rm -rf "$build"/onetbb "$build"/apt/onetbb-*/
  (cd "$build/apt" && "${apt[@]}" source onetbb)
  cmake -S "$build"/apt/onetbb-*/ -B "$build/onetbb" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTBB_TEST=OFF -DTBB_STRICT=OFF \
    -DTBBMALLOC_BUILD=OFF -DTBB_SANITIZE=thread -DCMAKE_INSTALL_PREFIX="$build/prefix" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build "$build/onetbb" -j "$jobs"
  cmake --install "$build/onetbb"
  touch "$build/onetbb/done"
fi
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCONVFILT_CUDA=OFF -DCONVFILT_SANITIZE=thread -DTBB_DIR="$build/prefix/lib/cmake/TBB" \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1"
cmake --build "$build" -j "$jobs" --target convfilt convfilt_run_tests convfilt_opencv
tests=$build/bin/convfilt_run_tests
ldd "$tests" | grep -q "libtbb.* => $build" || die "the tests do not take the oneTBB that was built: $(ldd "$tests")"

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# OpenCV loads GDAL, which takes two locks of its own in both orders when it starts.
echo 'deadlock:libgdal.so' >"$work/foreign"
export TSAN_OPTIONS="exitcode=0 halt_on_error=0 second_deadlock_stack=1 log_path=$work/report suppressions=$work/foreign"
# ThreadSanitizer of gcc 12 knows where the kernel puts a program only if it does not choose at random.
run() { setarch -R "$@"; }
cat >"$work/race.cpp" <<'END'
#include <thread>
int main() {
  int shared = 0;
  std::thread other([&] { ++shared; });
  ++shared;
  other.join();
}
END
"${CXX:-g++}" -fsanitize=thread "$work/race.cpp" -o "$work/race" -pthread
run "$work/race"
grep -q 'ThreadSanitizer: data race' "$work"/report.* || die "a race is not reported here"
rm -f "$work"/report.*

run "$tests"
convfilt() { run "$build/bin/convfilt" "$@" -q || true; }
cd "$work"
mkdir -p photos/sub
for i in {1..12}; do cp "$repository/samples/rocket.jpg" "photos/p$i.jpg"; cp "$repository/samples/camera.png" "photos/sub/p$i.png"; done
echo no picture >photos/broken.jpg
convfilt blur photos out -r --threads 8
convfilt blur photos out -r --threads 8 --resume --json >lines
convfilt sharpen photos tif -r --threads 3 --format tif
convfilt edge photos edges -r --threads 4
convfilt sharpen photos luma -r --luma --threads 4
convfilt blur photos little -r --threads 4 --max-memory 8M
convfilt blur photos fast -r --threads 4 --fail-fast
convfilt blur photos whole --threads 3 --strategy cpu --sigma 3 --linear
run timeout --foreground -s TERM 2 "$build/bin/convfilt" blur photos stopped -r --threads 4 --sigma 9 -q || true
pictures=$(find out -name '*.jpg' -o -name '*.png' | wc -l)
[ "$pictures" = 24 ] || die "there are $pictures results, not 24"
reports=$(cat report.* 2>/dev/null || true)
if [ -n "$reports" ]; then
  echo "$reports"
  die "$(grep -c '^WARNING: ThreadSanitizer' <<<"$reports") reports"
fi
echo "ThreadSanitizer: unit tests of src/run and nine commands on folders: 0 reports"
