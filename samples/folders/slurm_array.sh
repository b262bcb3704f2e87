#!/usr/bin/env bash
#SBATCH --job-name=convfilt
#SBATCH --array=0-3
#SBATCH --cpus-per-task=1
#SBATCH --requeue
# Filters a folder on a Slurm cluster whose nodes see it. Each task of the array takes a part, which --shard auto reads from
# Slurm's variables. A task that was killed and requeued continues where it stopped, by its journal in OUT.
#
#   sbatch [--array=0-N] slurm_array.sh IN OUT
#   sbatch --dependency=afterany:JOB --wrap 'convfilt merge OUT'
#
# The second line reports what has failed or is missing, with exit code 1. It has afterany, since a task fails if a picture
# does, and afterok never starts after a failed task. Submitted again, both do what is missing.
usage() { sed -n '2,/^[^#]/{s/^#\( \|$\)//p}' "$0"; }
case ${1:-} in -h | --help) usage; exit ;; esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
set -euo pipefail
exec "${CONVFILT:-convfilt}" blur "$1" "$2" --recursive --shard auto --resume --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet
