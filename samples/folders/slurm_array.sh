#!/usr/bin/env bash
#SBATCH --job-name=convfilt
#SBATCH --array=0-3
#SBATCH --cpus-per-task=1
#SBATCH --requeue
# A folder on a Slurm cluster whose nodes see it: each task of the array takes a part, which --shard auto reads from Slurm's
# variables. A task that was killed and requeued goes on where it was, by its journal in OUT.
#
#   sbatch [--array=0-N] slurm_array.sh IN OUT
#   sbatch --dependency=afterok:JOB --wrap 'convfilt merge OUT'     says whether all of it is there
case ${1:-} in -h | --help) sed -n '6,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
[ $# -ge 2 ] || { sed -n '6,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
set -euo pipefail
exec "${CONVFILT:-convfilt}" blur "$1" "$2" --recursive --shard auto --resume --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet
