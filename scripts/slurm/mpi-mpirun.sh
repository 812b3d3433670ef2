#!/bin/bash
# As mpi-srun.sh, for a Slurm without PMIx: Open MPI's own launcher, which asks Slurm for the nodes.
#SBATCH --job-name=large
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=5
#SBATCH --cpus-per-task=1
#SBATCH --gpus-per-node=4
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --output=%x-%j.out

# The time limit is two minutes away. mpirun kills its ranks when it is told to end, so the run goes on from its last
# checkpoint on the clock: at most a minute of training is done again.
trap 'scontrol requeue "$SLURM_JOB_ID"' USR1

mpirun -n "${RANKS:-17}" --map-by node --bind-to none gruppetto run "$1" --checkpoint 60s --resume --quiet &
wait "$!"
