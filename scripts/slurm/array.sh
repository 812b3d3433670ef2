#!/bin/bash
# One part of a sweep in every task of an array: sbatch scripts/slurm/array.sh sweep.toml
#SBATCH --job-name=sweep
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A-%a.out

# Of tasks that are sent in again, Slurm counts only those: then PARTS says how many parts there are.
parts=${PARTS:-$SLURM_ARRAY_TASK_COUNT}

# exec: the run takes the place of this script, so it hears SIGTERM, and its exit code is the task's.
exec gruppetto run "$1" --part "$SLURM_ARRAY_TASK_ID/$parts" --threads "$SLURM_CPUS_PER_TASK" --resume --quiet
