//! Ranks of an MPI job: which one this process is, and what cannot be done with several.

use super::Problem;
use super::arguments::RunArguments;
use crate::plugins::Plugins;
use crate::run::{self, Error, Options, Run};
use crate::scenario::Scenario;
use std::io::{IsTerminal, Write};

/// What this process does in a run.
pub(super) enum Role {
    /// Everything.
    Alone,
    /// It simulates, and others train.
    #[cfg(feature = "mpi")]
    First(gruppetto_mpi::Leader),
}

/// Those who train.
pub(super) enum Trainers {
    /// Threads of this process.
    Threads,
    /// Other ranks.
    #[cfg(feature = "mpi")]
    Ranks(run::Ranks),
}

impl Role {
    /// Gathers the other ranks, if there are any, and says what does not go together with them.
    pub(super) fn gather(
        self,
        scenario: &Scenario,
        options: &Options,
    ) -> Result<Trainers, Problem> {
        match self {
            Role::Alone => {
                let _ = (scenario, options);
                Ok(Trainers::Threads)
            }
            #[cfg(feature = "mpi")]
            Role::First(_) if options.clock_mode != crate::actors::ClockMode::Virtual => {
                Err(Problem::usage(
                    "error: --clock wall: there one process takes all steps as they come, and the ranks of an MPI job \
                     cannot\n  = help: start one process",
                ))
            }
            #[cfg(feature = "mpi")]
            Role::First(leader) => {
                let refuse = |text| Problem::usage(format!("error: {text}"));
                run::Ranks::gather(leader, scenario).map(Trainers::Ranks).map_err(refuse)
            }
        }
    }
}

impl Trainers {
    /// How many other ranks train.
    pub(super) fn ranks(&self) -> usize {
        match self {
            Trainers::Threads => 0,
            #[cfg(feature = "mpi")]
            Trainers::Ranks(ranks) => ranks.workers(),
        }
    }

    /// Says how many ranks train, where there is no bar that does: mpirun hides the terminal.
    pub(super) fn introduce(&self) {
        if self.ranks() > 0 && !std::io::stderr().is_terminal() {
            let plural = if self.ranks() == 1 { " trains" } else { "s train" };
            // Nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "{} rank{plural}", self.ranks());
        }
    }

    /// Runs a scenario.
    pub(super) fn run(
        &self,
        scenario: &Scenario,
        options: &Options,
        plugins: &Plugins,
    ) -> Result<Run, Error> {
        match self {
            Trainers::Threads => run::run(scenario, options, plugins),
            #[cfg(feature = "mpi")]
            Trainers::Ranks(ranks) => ranks.run(scenario, options, plugins),
        }
    }
}

/// How many processes an MPI launcher started together; 1: none did. A job of Slurm has tasks without MPI as
/// well, in arrays for instance: these are not meant.
fn ranks(get: impl Fn(&str) -> Option<String>) -> usize {
    let number = |name| get(name)?.trim().parse::<usize>().ok();
    // Open MPI; MPICH and its relatives, and Slurm in their manner; Slurm in Open MPI's manner.
    let by_launcher = number("OMPI_COMM_WORLD_SIZE").or_else(|| number("PMI_SIZE"));
    let by_slurm =
        || number("PMIX_RANK").map(|rank| number("SLURM_STEP_NUM_TASKS").unwrap_or(rank + 1));
    by_launcher.or_else(by_slurm).unwrap_or(1)
}

/// Joins the MPI job that this process was started in, if it was. `None`: it was a worker, and rank 0 has said
/// goodbye.
pub(super) fn join(arguments: &RunArguments, brought: &Plugins) -> Result<Option<Role>, Problem> {
    match ranks(|name| std::env::var(name).ok()) {
        0 | 1 => Ok(Some(Role::Alone)),
        ranks => join_job(ranks, arguments, brought),
    }
}

#[cfg(not(feature = "mpi"))]
fn join_job(ranks: usize, _: &RunArguments, _: &Plugins) -> Result<Option<Role>, Problem> {
    Err(Problem::usage(format!(
        "error: {ranks} processes were started together, by mpirun or srun, and this program was built without MPI: \
         each would run everything, into the same folder\n  = help: make mpi builds one with it (plug-ins in Python \
         and MPI do not go together); or start one process"
    )))
}

#[cfg(feature = "mpi")]
fn join_job(
    ranks: usize,
    arguments: &RunArguments,
    brought: &Plugins,
) -> Result<Option<Role>, Problem> {
    use gruppetto_mpi::{Joined, join};
    match join().map_err(|error| Problem::failed(format!("MPI: {error}")))? {
        Joined::Alone => Err(Problem::usage(format!(
            "error: {ranks} processes were started together, and MPI sees only this one\n  = help: start it with the \
             mpirun of the Open MPI that it was built with, or with srun --mpi=pmix"
        ))),
        Joined::Leader(leader) => Ok(Some(Role::First(leader))),
        Joined::Worker(worker) => {
            // Rank 0 hears signals and ends the job in order.
            let _ = ctrlc::set_handler(|| {});
            let scenario = arguments
                .scenario
                .load(&arguments.runs, brought)
                .map_err(|error| error.to_string());
            let slots = arguments.threads.map_or(1, usize::from);
            run::train_for_rank_0(worker, scenario, slots, arguments.device)
                .map_err(|error| Problem::failed(format!("cannot start threads: {error}")))?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_mpi_started_together_are_counted_and_others_are_not() {
        let of = |variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|(own, _)| *own == name);
            ranks(|name| find(name).map(|(_, value)| value.to_string()))
        };
        assert_eq!(of(&[]), 1);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")]), 4);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")]), 1);
        assert_eq!(of(&[("PMI_SIZE", "3")]), 3);
        assert_eq!(of(&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "8")]), 8);
        assert_eq!(of(&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "1")]), 1);
        // An array, or a step that has several tasks without MPI.
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_NTASKS", "8")]), 1);
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "2")]), 1);
    }
}
