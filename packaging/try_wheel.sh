#!/usr/bin/env bash
# Tries a wheel in a fresh venv: its program, and its module with numpy. Nothing comes from a network.
#
#   packaging/try_wheel.sh WHEEL FOLDER     FOLDER has a wheel of numpy
#
# PYTHON names the interpreter, by default python3. Where CONVFILT names a program, the results must have its bytes.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
wheel=$(realpath "${1:?usage: packaging/try_wheel.sh WHEEL FOLDER}") numpy=$(realpath "${2:?a folder with a wheel of numpy}")
samples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../samples" && pwd)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"${PYTHON:-python3}" -m venv "$fresh/venv"
"$fresh/venv/bin/pip" install -q --no-index --find-links "$numpy" "$wheel"
cp "$samples/coffee.png" "$fresh"
cd "$fresh"
use=(env -i PATH="$fresh/venv/bin:/usr/bin:/bin" HOME="$fresh")
"${use[@]}" sh -e <<'END'
convfilt --version
convfilt apply identity coffee.png in.ppm
convfilt blur in.ppm program.ppm --sigma 3
convfilt list masks | head -n 3
python - <<'PYTHON'
import numpy, convfilt

def pixels(path):
    head, rest = open(path, "rb").read().split(b"\n255\n", 1)
    width, height = map(int, head.split()[1:])
    return numpy.frombuffer(rest, numpy.uint8).reshape(height, width, 3)

a = pixels("in.ppm")
assert (convfilt.blur(a, sigma=3) == pixels("program.ppm")).all()
print(convfilt.plan("blur", a), convfilt.apply("emboss3", a).sum())
print(convfilt.compare(size="64x64", masks="3", strategies="auto")["comparisons"][0]["rows"][0]["strategy"])
assert convfilt.__file__.startswith(__import__("sys").prefix)
PYTHON
END
[ -z "${CONVFILT:-}" ] || { "$CONVFILT" blur in.ppm build.ppm --sigma 3 && cmp build.ppm program.ppm; }
