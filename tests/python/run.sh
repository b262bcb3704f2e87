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
[ -z "$sanitizers" ] || skip "an interpreter without sanitizers loads no module with them"
cd "$(dirname "${BASH_SOURCE[0]}")"
tests=("$@")
[ $# -gt 0 ] || for file in test_*.py; do tests+=("${file%.py}"); done
export PYTHONPATH=$build/python CONVFILT=$build/bin/convfilt PYTHONDONTWRITEBYTECODE=1
exec "$python" -m unittest "${tests[@]}"
