#!/bin/bash
# One run on 4 nodes with 4 GPUs each: sbatch scripts/slurm/mpi-srun.sh large.toml
# 17 ranks: rank 0 simulates, one of the others trains on each GPU. The first node has five of them, the others four.
#SBATCH --job-name=large
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=5
#SBATCH --cpus-per-task=1
#SBATCH --gpus-per-node=4
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@120
#SBATCH --output=%x-%j.out

ranks=${RANKS:-17}

# Near the time limit only the ranks hear SIGTERM. If this script hears it as well, Slurm ends the job: whether it is
# queued again, Slurm knows.
ended=
trap 'ended=yes' TERM

# 17 is no multiple of five: srun would say so.
unset SLURM_NTASKS_PER_NODE

# cyclic: rank 1 on the second node, and so on, so that rank 0's node has the one that is left over.
# --kill-on-bad-exit: if one rank ends early, all do.
srun --mpi=pmix --ntasks="$ranks" --distribution=cyclic --cpus-per-task="$SLURM_CPUS_PER_TASK" --kill-on-bad-exit=1 \
    gruppetto run "$1" --checkpoint 60s --resume --quiet
code=$?

# 130: rank 0 was told to end, and has left a checkpoint.
if [ "$code" = 130 ] && [ -z "$ended" ]; then
    scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit "$code"
