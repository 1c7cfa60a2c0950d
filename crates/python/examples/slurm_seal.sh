#!/bin/sh
# Seals SOURCE into TARGET on storage that all machines share, as an array of tasks of Slurm:
#
#   lanecrypt job new --keyset my.keys SOURCE TARGET > job.json
#   sbatch --array=1-8 --wait --export=ALL,LANECRYPT_KEYSET=my.keys slurm_seal.sh job.json SOURCE TARGET
#   lanecrypt job commit job.json TARGET
#
# An array that was interrupted is submitted again: what is done is left out. A source that has changed is refused.
#SBATCH --requeue
set -eu
job=$1 source=$2 target=$3
part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
exec lanecrypt seal --keyset "$LANECRYPT_KEYSET" --job "$job" --part "$part" "$source" "$target"
