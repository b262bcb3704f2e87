#!/usr/bin/env bash
# Tries samples/folders/ray_folder.py on a Ray cluster of this machine's own with four workers, one of which is killed while
# it works: Ray starts its task again, which goes on where it was. Then the results must be those of one run.
#
#   python3 -m venv v && v/bin/pip install ray; PATH=$PWD/v/bin:$PATH tests/folders/ray.sh     CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { echo "tests/folders/ray.sh: $*" >&2; exit 1; }
command -v ray >/dev/null || die "no ray; python3 -m venv v && v/bin/pip install ray, and v/bin in PATH"
export CONVFILT; CONVFILT=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
script=$(realpath samples/folders/ray_folder.py) picture=$(realpath samples/rocket.jpg)
work=$(mktemp -d)
trap 'ray stop --force >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work"
mkdir photos
for i in {01..80}; do cp "$picture" photos/p$i.jpg; done
"$CONVFILT" blur photos expected -q
export RAY_DISABLE_IMPORT_WARNING=1 RAY_USAGE_STATS_ENABLED=0
ray start --head --num-cpus=4 --port=6379 --include-dashboard=false --temp-dir="$work/ray" >ray.log 2>&1 || { cat ray.log; die "no cluster"; }
export RAY_ADDRESS=127.0.0.1:6379
python3 "$script" photos out 4 --sigma=2 >said 2>&1 &
job=$!
worker= part=
for ((i = 0; i < 6000; ++i)); do
  for part in 1 2 3 4; do
    [ "$(grep -c ^done out/.convfilt-journal.$part-of-4 2>/dev/null || true)" = 2 ] || continue
    child=$(pgrep -f "blur.*--shard=$part/4" | head -1) && worker=$(ps -o ppid= -p "$child" | tr -d ' ') && break 2
  done
  sleep 0.005
done
[ -n "$worker" ] || { cat said; die "no worker was seen at work"; }
echo "killing worker $worker ($(ps -o args= -p "$worker")) and its convfilt $child, at part $part of 4"
kill -9 "$worker" "$child"
wait $job || { cat said; die "the job failed"; }
grep -vE 'INFO|^$' said || true
diff -r --exclude='.convfilt-journal' expected out
echo "80 pictures as one run made them, $(grep ^done out/.convfilt-journal | sort | uniq -d | wc -l) of them done twice"
