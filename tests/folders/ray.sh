#!/usr/bin/env bash
# Tries samples/folders/ray_folder.py on a Ray cluster of this machine's own with four workers. One of them is killed while it
# works, and so is the program that another one runs: Ray starts their tasks again, which go on where they were. A damaged
# picture makes a part fail; merge must run all the same and name it. Where the picture is mended and the script started
# again, the results must be those of one run, and none written twice. Then the same from and to an S3 of this machine's own.
#
#   python3 -m venv v && v/bin/pip install ray s3fs 'moto[server]'
#   PATH=$PWD/v/bin:$PATH tests/folders/ray.sh     CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/folders/results.sh
die() { echo "tests/folders/ray.sh: $*" >&2; exit 1; }
for tool in ray moto_server; do command -v $tool >/dev/null || die "no $tool; see --help"; done
export CONVFILT; CONVFILT=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
script=$(realpath samples/folders/ray_folder.py) picture=$(realpath samples/rocket.jpg)
work=$(mktemp -d)
watcher='' store=''
trap '[ -z "$watcher$store" ] || kill $watcher $store; ray stop --force >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work"
in="my photos" out="my results"
mkdir "$in"
for i in {001..240}; do cp "$picture" "$in/p$i.jpg"; done
"$CONVFILT" blur "$in" expected -q
echo 'no picture' >"$in/p241.jpg"
# With a token of the user's, which ray.init() leaves in the home folder, the script would ask for what this cluster lacks.
export RAY_AUTH_MODE=disabled
export AWS_ENDPOINT_URL=http://127.0.0.1:6390 AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any AWS_DEFAULT_REGION=us-east-1
moto_server -p 6390 >moto.log 2>&1 & store=$!
export RAY_DISABLE_IMPORT_WARNING=1 RAY_USAGE_STATS_ENABLED=0
ray start --head --num-cpus=4 --port=6379 --include-dashboard=false --temp-dir="$work/ray" >ray.log 2>&1 || { cat ray.log; die "no cluster"; }
export RAY_ADDRESS=127.0.0.1:6379
start() { python3 "$script" "$in" "$out" 4 --sigma=2; }
watch_results "$out" seen & watcher=$!
start >said 2>&1 &
job=$!
killed=
kill_at_work() {  # worker, or convfilt: the program that it runs
  local i part some victim
  for ((i = 0; i < 6000; ++i)); do
    for part in 1 2 3 4; do
      some=$(grep -c ^done "$out/.convfilt-journal.$part-of-4" 2>/dev/null || true)
      if [ "$part" = "$killed" ] || [ "${some:-0}" -lt 2 ] || [ "$some" -gt 40 ]; then continue; fi
      victim=$(pgrep -f "blur $work/.*--shard=$part/4" | head -1 || true)
      [ "$1" = convfilt ] || victim=$(ps -o ppid= -p "${victim:-0}" | tr -d ' ' || true)
      [ -n "$victim" ] || continue
      echo "killing $1 $victim at part $part of 4 after $some pictures"
      kill -9 "$victim"
      killed=$part
      return
    done
    sleep 0.005
  done
  cat said
  die "no $1 was seen at work"
}
kill_at_work worker
kill_at_work convfilt
status=0
wait $job || status=$?
grep -vE 'INFO|^$' said || true
[ $status = 1 ] || die "exit code $status where a picture is damaged"
for words in 'failed: p241.jpg: ' '240 pictures done, 0 missing, 1 failed'; do
  grep "^$words" said >/dev/null || die "merge does not say '$words'"
done
diff -r --exclude='.convfilt-journal*' expected "$out"
cp "$picture" "$in/p241.jpg"
cp expected/p240.jpg expected/p241.jpg
start >said 2>&1 || { cat said; die "the second start failed"; }
grep -vE 'INFO|^$' said || true
diff -r --exclude='.convfilt-journal' expected "$out"
twice=$(written_twice "$out" seen)
echo "241 pictures as one run made them, $(wc -w <<<"$twice") of them written twice"
[ -z "$twice" ]

# The store: the first program that is seen there is killed.
python3 -c 'import fsspec; s3 = fsspec.filesystem("s3"); s3.mkdir("photos"); s3.put("my photos/", "photos/in/", recursive=True)
s3.pipe("photos/in/p242.jpg", b"no picture"); s3.pipe("photos/in/read me.txt", b"text")'
start_store() { python3 "$script" s3://photos/in s3://photos/out 4 --sigma=2; }
start_store >said 2>&1 &
job=$!
for ((i = 0; i < 6000; ++i)); do
  victim=$(pgrep -f "$CONVFILT blur .*/in .*/out --json" | head -1 || true)
  if [ -n "$victim" ]; then kill -9 "$victim"; break; fi
  sleep 0.005
done
[ -n "$victim" ] || die "no program was seen at work for the store"
status=0
wait $job || status=$?
[ $status = 1 ] || die "exit code $status where an object is damaged"
for words in 'failed: p242.jpg: ' '243 objects, 0 of them done before, 1 failed'; do
  grep "^$words" said >/dev/null || { cat said; die "it does not say '$words'"; }
done
cp expected/p240.jpg expected/p242.jpg
python3 -c 'import fsspec; fsspec.filesystem("s3").put("my photos/p240.jpg", "photos/in/p242.jpg")'
for before in 242 243; do
  start_store >said 2>&1 || { cat said; die "a later start failed"; }
  grep "^243 objects, $before of them done before, 0 failed" said || { cat said; die "not $before were done before"; }
done
python3 -c 'import fsspec; fsspec.filesystem("s3").get("photos/out/", "got/", recursive=True)'
diff -r --exclude='.convfilt-*' expected got
puts=$(grep -c 'PUT /photos/out/p' moto.log)
echo "242 objects as one run made the files, put $puts times"
[ "$puts" = 242 ]
