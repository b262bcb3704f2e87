#!/usr/bin/env bash
# Tries samples/folders/slurm_array.sh on a Slurm of this machine's own (Debian's slurm-wlm; as root, all below a temporary
# folder): an array of four, one of whose tasks is killed while it works, requeued, and goes on. A damaged picture makes a
# task fail; merge must run all the same and name it. Where the picture is mended and the array submitted again, the results
# must be those of one run, the journals whole, and no result written twice.
#
#   apt-get install slurm-wlm; tests/folders/slurm.sh     CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/folders/results.sh
die() { echo "tests/folders/slurm.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "Slurm's daemons want root"
for tool in munged slurmctld slurmd sbatch; do command -v $tool >/dev/null || die "no $tool; apt-get install slurm-wlm"; done
export CONVFILT; CONVFILT=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
script=$(realpath samples/folders/slurm_array.sh) picture=$(realpath samples/rocket.jpg)
work=$(mktemp -d); chmod 755 "$work"
watcher=
stop() {
  [ -z "$watcher" ] || kill "$watcher"
  for daemon in slurmd slurmctld munged; do [ ! -f "$work/$daemon.pid" ] || kill "$(cat "$work/$daemon.pid")" 2>/dev/null || true; done
  sleep 1
  rm -rf "$work"
}
trap stop EXIT
cd "$work"
mkdir state spool munge && chmod 700 munge
head -c 1024 /dev/urandom >munge/key && chmod 400 munge/key
munged --force --key-file "$work/munge/key" --socket "$work/munge/socket" --pid-file "$work/munged.pid" \
  --log-file "$work/munge/log" --seed-file "$work/munge/seed"
host=$(hostname -s)
cat >slurm.conf <<END
ClusterName=trial
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
slurmctld
slurmd -N "$host"
for ((i = 0; i < 100; ++i)); do [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break; sleep 0.3; done
sinfo
[ "$(sinfo -h -o %T)" = idle ] || { tail -5 slurmctld.log slurmd.log; die "the node is not idle"; }

in="$work/my photos" out="$work/my results"
mkdir "$in"
for i in {01..60}; do cp "$picture" "$in/p$i.jpg"; done
"$CONVFILT" blur "$in" expected --sigma 2 -q
echo 'no picture' >"$in/p61.jpg"
watch_results "$out" seen & watcher=$!
submit() {
  array=$(sbatch --parsable --output "$work/task-%a.log" "$script" "$in" "$out")
  # The script's own words on how merge waits for it are what is tried.
  how=$("$script" --help | sed -n 's/.*\(--dependency=[a-z]*\):JOB .*/\1/p')
  merge=$(sbatch --parsable --output "$work/merge.log" "$how:$array" --wrap "'$CONVFILT' merge '$out'")
}
wait_for_jobs() {
  local i
  for ((i = 0; i < 400; ++i)); do
    # A requeued task waits two minutes unless it is told to start.
    scontrol update JobId="${array}_0" StartTime=now 2>/dev/null || true
    [ -n "$(squeue -h)" ] || break
    [[ $(squeue -h -o %r) != *DependencyNeverSatisfied* ]] || { squeue; die "merge never runs"; }
    sleep 0.5
  done
  [ -z "$(squeue -h)" ] || { squeue; die "the jobs do not end"; }
  cat task-*.log merge.log
}
state_of() { scontrol -o show job "$1" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p' | sort | uniq -c | xargs; }

submit
# The first task is killed when it has done some of its part, as a node that fails would be; Slurm starts it again.
for ((i = 0; i < 1000; ++i)); do
  done_before=$(grep -c ^done "$out/.convfilt-journal.1-of-4" 2>/dev/null || true)
  [ "${done_before:-0}" -ge 2 ] && break
  sleep 0.02
done
scontrol requeue "${array}_0"
echo "requeued task 0 after $done_before of its pictures"
squeue -o '%i %T %r'
wait_for_jobs
scontrol -o show job "$array" | grep -o 'Restarts=[1-9]' || die "no task was started again"
[ "$(state_of "$array"), merge $(state_of "$merge")" = '3 COMPLETED 1 FAILED, merge 1 FAILED' ] ||
  die "the tasks are $(state_of "$array"), merge is $(state_of "$merge")"
for words in 'failed: p61.jpg: ' '60 pictures done, 0 missing, 1 failed'; do
  grep "^$words" merge.log >/dev/null || die "merge does not say '$words'"
done
diff -r --exclude='.convfilt-journal*' expected "$out"

cp "$picture" "$in/p61.jpg"
cp expected/p60.jpg expected/p61.jpg
submit
wait_for_jobs
[ "$(state_of "$array"), merge $(state_of "$merge")" = '4 COMPLETED, merge 1 COMPLETED' ] ||
  die "the tasks are $(state_of "$array"), merge is $(state_of "$merge")"
diff -r --exclude=.convfilt-journal expected "$out"
twice=$(written_twice "$out" seen)
echo "61 pictures as one run made them, $(wc -w <<<"$twice") of them written twice"
[ -z "$twice" ]
