#!/usr/bin/env bash
# Tries samples/folders/slurm_array.sh on a Slurm of this machine's own (Debian's slurm-wlm; as root, all below a temporary
# folder): an array of four, one of whose tasks is killed while it works, requeued, and goes on. Then the results must be
# those of one run, the journals whole, and nothing filtered twice.
#
#   apt-get install slurm-wlm; tests/folders/slurm.sh     CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { echo "tests/folders/slurm.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "Slurm's daemons want root"
for tool in munged slurmctld slurmd sbatch; do command -v $tool >/dev/null || die "no $tool; apt-get install slurm-wlm"; done
export CONVFILT; CONVFILT=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
script=$(realpath samples/folders/slurm_array.sh) picture=$(realpath samples/rocket.jpg)
work=$(mktemp -d); chmod 755 "$work"
stop() {
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

mkdir photos
for i in {01..60}; do cp "$picture" photos/p$i.jpg; done
"$CONVFILT" blur photos expected --sigma 2 -q
job=$(sbatch --parsable --output "$work/task-%a.log" "$script" "$work/photos" "$work/out")
# The first task is killed when it has done some of its part, as a node that fails would be; Slurm starts it again.
for ((i = 0; i < 1000; ++i)); do
  done_before=$(grep -c ^done out/.convfilt-journal.1-of-4 2>/dev/null || true)
  [ "${done_before:-0}" -ge 2 ] && break
  sleep 0.02
done
scontrol requeue "${job}_0"
echo "requeued task 0 after $done_before of its pictures"
squeue -o '%i %T %r'
# A requeued job waits two minutes unless it is released.
for ((i = 0; i < 400; ++i)); do
  scontrol release "$job" 2>/dev/null || true
  [ -n "$(squeue -h)" ] || break
  sleep 0.5
done
[ -z "$(squeue -h)" ] || { squeue; die "the job does not end"; }
scontrol show job "$job" | grep -E 'JobState|Restarts' | sed 's/^ *//' || true
cat task-*.log
"$CONVFILT" merge out
diff -r --exclude=.convfilt-journal expected out
twice=$(grep ^done out/.convfilt-journal | sort | uniq -d | wc -l)
echo "60 pictures as one run made them, $twice of them done twice"
[ "$twice" = 0 ]
