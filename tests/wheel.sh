#!/usr/bin/env bash
# Makes a wheel of what BUILD has built, without compiling, and tries it in a fresh venv, without a network. Exits with 77, and
# prints why, if something that it needs is missing.
#
#   tests/wheel.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
skip() { echo "skipped: $*"; exit 77; }
build=$(realpath "${1:?usage: tests/wheel.sh BUILD}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$build/venv/bin/python
"$python" -c 'import nanobind, scikit_build_core' 2>/dev/null ||
  skip "the build has no venv with nanobind and scikit-build-core, which CONVFILT_MODULE_PYTHON=true samples/setup.sh makes"
compgen -G "$build/wheels/numpy-*.whl" >/dev/null || skip "there is no wheel of numpy in $build/wheels"
compgen -G "$build/python/convfilt/_core*" >/dev/null || skip "the build has no Python module"
! grep -q __asan_init "$build/bin/convfilt" || skip "an interpreter without sanitizers loads no module with them"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
offline=()
! unshare --net true 2>/dev/null || offline=(unshare --net)
settings=(cmake.source-dir=tests/wheel "cmake.define.CONVFILT_BUILD=$build" 'cmake.version=>=3.22' "build-dir=$work/build")
"${offline[@]}" "$python" -m pip wheel -q . --no-index --no-deps --no-build-isolation -w "$work" "${settings[@]/#/--config-settings=}"
CONVFILT=$build/bin/convfilt PYTHON=$python "${offline[@]}" packaging/try_wheel.sh "$work"/*.whl "$build/wheels"
