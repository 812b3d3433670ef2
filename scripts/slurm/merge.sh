#!/bin/bash
# Makes one run of the parts of an array: sbatch --dependency=afterok:JOB scripts/slurm/merge.sh runs/NAME
#SBATCH --job-name=merge
#SBATCH --cpus-per-task=1
#SBATCH --mem=8G
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out

exec gruppetto merge "$1.parts" --out "$1" --quiet
