#!/usr/bin/env bash
#SBATCH --job-name=convfilt
#SBATCH --array=0-3
#SBATCH --cpus-per-task=1
#SBATCH --requeue
# A folder on a Slurm cluster whose nodes see it: each task of the array takes a part, which --shard auto reads from Slurm's
# variables. A task that was killed and requeued goes on where it was, by its journal in OUT.
#
#   sbatch [--array=0-N] slurm_array.sh IN OUT
#   sbatch --dependency=afterany:JOB --wrap 'convfilt merge OUT'
#
# The second line says what has failed or is missing, with exit code 1 then. It has afterany, since a task fails where a
# picture does, and afterok never starts what waits for a task that has failed. Submitted again, both do what is missing.
usage() { sed -n '2,/^[^#]/{s/^#\( \|$\)//p}' "$0"; }
case ${1:-} in -h | --help) usage; exit ;; esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
set -euo pipefail
exec "${CONVFILT:-convfilt}" blur "$1" "$2" --recursive --shard auto --resume --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet
