#!/bin/bash
# A run longer than its time limit, or on nodes that may be taken away: sbatch scripts/slurm/preemptible.sh long.toml
#SBATCH --job-name=long
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --output=%x-%j.out

# SIGUSR1: the time limit is two minutes away. Only this script hears it. It ends the run and queues the job again.
near_limit=
trap 'near_limit=yes; kill -TERM "$run"' USR1
# SIGTERM: Slurm ends the job. The run hears it as well, and a second one would end it without a checkpoint, so it is
# not passed on. Whether the job is queued again, Slurm knows: a preempted one is, a cancelled one is not.
trap : TERM

gruppetto run "$1" --threads "$SLURM_CPUS_PER_TASK" --checkpoint 60s --resume --quiet &
run=$!

# A signal ends `wait` early, the run not.
wait "$run"
while kill -0 "$run" 2>/dev/null; do wait "$run"; done
wait "$run"
code=$?

# 130: it was told to end, and can go on.
if [ "$code" = 130 ] && [ "$near_limit" = yes ]; then
    scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit "$code"
