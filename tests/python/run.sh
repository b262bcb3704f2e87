#!/usr/bin/env bash
# Runs the tests of the Python module of BUILD, with the interpreter that CMake found for it. Without CONVFILT_TEST_SIZE=short it
# takes more cases. Exits with 77, and prints why, where the build has no module.
#
#   tests/python/run.sh BUILD [TEST...]      such as test_arrays, or test_arrays.Strides
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
build=$(realpath "${1:?usage: tests/python/run.sh BUILD [TEST...]}")
shift
skip() { echo "skipped: $*"; exit 77; }
compgen -G "$build/python/convfilt/_core*" >/dev/null ||
  skip "the build has no Python module; it needs Python's headers, numpy and nanobind (pip install nanobind numpy)"
# Where CMake was given the interpreter, its name is in the first line, else in the second.
python=$(sed -n 's/^_\{0,1\}Python_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt" | grep -m1 . || true)
[ -x "$python" ] || skip "there is no interpreter '$python'"
"$python" -c 'import numpy' 2>/dev/null || skip "$python has no numpy"
sanitizers=$(sed -n 's/^CONVFILT_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
# Python itself has no sanitizers, so their libraries must be loaded before a module that has them. It leaks, so leaks are not
# reported.
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt") preload=
for name in ${sanitizers//,/ }; do
  case $name in address) name=asan ;; undefined) name=ubsan ;; esac
  file=$("$compiler" -print-file-name="lib$name.so")
  [ -f "$file" ] || skip "the sanitizers' libraries are not where $compiler looks for them"
  preload+=" $file"
done
cd "$(dirname "${BASH_SOURCE[0]}")"
tests=("$@")
if [ $# = 0 ] && [ -n "$preload" ]; then
  tests=(test_arrays test_threads)
  echo "skipped all but ${tests[*]}: the others measure memory or start compilers, which fails with the sanitizers' libraries loaded"
elif [ $# = 0 ]; then
  for file in test_*.py; do tests+=("${file%.py}"); done
fi
export PYTHONPATH=$build/python CONVFILT=$build/bin/convfilt PYTHONDONTWRITEBYTECODE=1
[ -z "$preload" ] || export LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0
exec "$python" -m unittest "${tests[@]}"
