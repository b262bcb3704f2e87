#!/usr/bin/env bash
# From a fresh clone to a blurred photograph: installs what is missing, builds, blurs, and prints where the result is.
#
#   samples/quickstart.sh
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
[ $# = 0 ] || { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
set -euo pipefail
cd "$(dirname "$0")/.."
convfilt=$(samples/setup.sh release convfilt convfilt_manual convfilt_library)
mkdir -p out
"$convfilt" blur samples/rocket.jpg out/rocket-blurred.jpg -v
echo "The blurred photograph is $PWD/out/rocket-blurred.jpg; the program is $convfilt."
