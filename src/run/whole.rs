//! All cells of a scenario: one after the other, or side by side.
//!
//! ```text
//!   cells in order ──► jobs threads, each with a cell and its helpers ──► outcomes, in any order
//!                                                                              │
//!                        files at the top  ◄── Assembly: in the order of the cells ◄┘
//! ```
//!
//! With one job a cell writes to the files at the top of the run's folder. Side by side every cell begins with files
//! in its own folder; when it is its turn they are added to those at the top, and it goes on there. Either way the files
//! are the same.

use super::assembly::{Assembly, OwnFiles, from_before};
use super::cells::{Cell, cell_count};
use super::one::{CellCheckpoints, CellOutcome, LiveCell, One};
use super::{Builder, Error, Options};
use crate::actors::{ClockMode, Interrupt};
use crate::observer::Observer;
use crate::plugins::{Plugins, RunContext};
use crate::report::{Detail, Findings, MOST_RUNS, RunFolder};
use crate::resume::FinishedCell;
use crate::run_files::Summary;
use crate::scenario::Scenario;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// How often it is looked whether the run should end.
const GLANCE: Duration = Duration::from_millis(20);
/// How long a cell that came to its end may wait for its turn before that is put on the disk.
const PATIENCE: Duration = Duration::from_secs(1);

/// All cells that are to be run.
pub(super) struct Whole<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) options: &'a Options,
    pub(super) folder: Option<&'a RunFolder>,
    pub(super) plugins: &'a Plugins,
    pub(super) builder: Builder<'a>,
    pub(super) cells: Vec<Cell<'a>>,
    /// How many at a time.
    pub(super) jobs: usize,
}

/// A cell that came to its end, or not.
struct Arrived {
    outcome: CellOutcome,
    own: Option<OwnFiles>,
    interrupted: bool,
    at: Instant,
    /// Whether its folder says that it came to its end.
    is_kept: bool,
}

/// Ends the cells from a place on.
fn end(under_way: &UnderWay, from: usize) {
    for (_, cell) in under_way.range(from..) {
        cell.interrupt.set();
    }
}

/// Cells that are under way, by place.
type UnderWay = BTreeMap<usize, RunningCell>;

/// A cell that is under way.
struct RunningCell {
    threads: usize,
    interrupt: Interrupt,
    live: Arc<LiveCell>,
}

impl Whole<'_> {
    pub(super) fn run_all(&self, told: (&mut Summary, &mut Findings)) -> Result<(), Error> {
        let (mut assembly, over) = Assembly::begin(self.scenario, self.options, self.folder, told)?;
        match self.jobs {
            0 | 1 => self.one_by_one(&mut assembly, over)?,
            _ => self.side_by_side(&mut assembly, over)?,
        }
        assembly.finish()
    }

    fn one_by_one(&self, assembly: &mut Assembly<'_>, over: usize) -> Result<(), Error> {
        for cell in &self.cells[over..] {
            if let Some(arrived) = self.came_before(assembly, cell)? {
                assembly.add(cell, arrived.outcome, arrived.own, false)?;
                continue;
            }
            let interrupt = self.options.interrupt.clone();
            let checkpoints = self.checkpoints(assembly, cell)?;
            let files = assembly.take_files();
            let helpers = self.helpers(self.options.threads);
            let one = self.one(*cell, helpers, interrupt.clone());
            let outcome = one.run(files, self.observers(cell, &checkpoints), checkpoints);
            assembly.add(cell, outcome, None, interrupt.is_set())?;
            if interrupt.is_set() {
                break;
            }
        }
        Ok(())
    }

    fn side_by_side(&self, assembly: &mut Assembly<'_>, over: usize) -> Result<(), Error> {
        std::thread::scope(|scope| {
            let (done, results) = channel();
            let (mut next, mut turn) = (over, over);
            let mut under_way = UnderWay::new();
            let mut waiting = BTreeMap::<usize, Arrived>::new();
            let mut trouble = None;
            let mut ends = false;
            loop {
                while !ends && next < self.cells.len() && under_way.len() < self.jobs {
                    let cell = &self.cells[next];
                    match self.came_before(assembly, cell) {
                        Ok(Some(arrived)) => drop(waiting.insert(next, arrived)),
                        Ok(None) => {
                            let threads = self.share(next, &under_way);
                            match self.start(scope, assembly, (next, threads), &done) {
                                Ok(cell) => drop(under_way.insert(next, cell)),
                                Err(error) => (trouble, ends) = (Some(error), true),
                            }
                        }
                        Err(error) => (trouble, ends) = (Some(error), true),
                    }
                    next += 1;
                }
                while let Some(arrived) = waiting.remove(&turn)
                    && trouble.is_none()
                {
                    let Arrived { outcome, own, interrupted, .. } = arrived;
                    let cell = &self.cells[turn];
                    if let Err(error) = assembly.add(cell, outcome, own, interrupted) {
                        trouble = Some(error);
                    }
                    turn += 1;
                }
                if let (Some(cell), None) = (under_way.get(&turn), &trouble)
                    && let Err(error) = assembly.let_in(&self.cells[turn], &cell.live)
                {
                    trouble = Some(error);
                }
                if under_way.is_empty() && (ends || next == self.cells.len()) {
                    // After one that failed, what has come to its end need not be made again.
                    self.keep_what_waits(assembly, &mut waiting, Duration::ZERO);
                    return trouble.map_or(Ok(()), Err);
                }
                match results.recv_timeout(GLANCE) {
                    Ok((place, Ok(arrived))) => {
                        under_way.remove(&place);
                        waiting.insert(place, arrived);
                    }
                    Ok((_, Err(panic))) => {
                        end(&under_way, 0);
                        resume_unwind(panic);
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
                // What comes after a cell that failed is not looked at any more.
                let failed = waiting.iter().find(|(_, arrived)| arrived.outcome.trouble.is_some());
                let last = match (self.options.interrupt.is_set() || trouble.is_some(), failed) {
                    (true, _) => Some(0),
                    (false, failed) => failed.map(|(place, _)| *place),
                };
                if let Some(last) = last {
                    ends = true;
                    end(&under_way, last);
                }
                self.keep_what_waits(assembly, &mut waiting, PATIENCE);
            }
        })
    }

    /// How many threads compute the cell at a place: cells that are still to come have their share, too.
    fn share(&self, place: usize, under_way: &UnderWay) -> usize {
        let used: usize = under_way.values().map(|cell| cell.threads).sum();
        let free = self.options.threads.saturating_sub(used);
        let to_start = (self.jobs - under_way.len()).min(self.cells.len() - place);
        (free / to_start.max(1)).max(1)
    }

    /// Begins a cell on a thread of its own.
    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        assembly: &Assembly<'_>,
        (place, threads): (usize, usize),
        done: &Sender<(usize, std::thread::Result<Arrived>)>,
    ) -> Result<RunningCell, Error> {
        let cell = self.cells[place];
        let checkpoints = self.checkpoints(assembly, &cell)?;
        let observers = self.observers(&cell, &checkpoints);
        let interrupt = Interrupt::default();
        let own = assembly.cells().map(|cells| cells.folder(cell.number));
        let wanted = assembly.wanted().clone();
        let one = self.one(cell, self.helpers(threads), interrupt.clone());
        let (told, done, live) = (interrupt.clone(), done.clone(), one.live.clone());
        let own_live = live.clone();
        let work = move || {
            let begin = || match &own {
                Some(own) => own.create_files(&wanted).map(Some),
                None => Ok(None),
            };
            let mut outcome = match begin() {
                Ok(files) => one.run(files, observers, checkpoints),
                Err(error) => CellOutcome { told: None, files: None, trouble: Some(error.into()) },
            };
            let written = match own_live.is_at_top() {
                true => None,
                false => outcome.files.take().map(|mut files| files.lengths()),
            };
            let own = match (own, written) {
                (Some(folder), Some(Ok(written))) => Some(OwnFiles { folder, written }),
                (_, Some(Err(error))) => {
                    outcome.trouble.get_or_insert(error.into());
                    None
                }
                _ => None,
            };
            let interrupted = told.is_set();
            Arrived { outcome, own, interrupted, at: Instant::now(), is_kept: false }
        };
        let name = format!("cell-{}", cell.number);
        let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, move || {
            let arrived = catch_unwind(AssertUnwindSafe(work));
            let _ = done.send((place, arrived));
        });
        thread.map_err(|source| Error::Build {
            variant: cell.variant.name.clone(),
            source: source.into(),
        })?;
        Ok(RunningCell { threads, interrupt, live })
    }

    /// Puts cells that have waited so long for their turn on the disk: killed now, the run need not make them again.
    fn keep_what_waits(
        &self,
        assembly: &Assembly<'_>,
        waiting: &mut BTreeMap<usize, Arrived>,
        patience: Duration,
    ) {
        let Some(cells) = assembly.cells() else { return };
        for (place, arrived) in waiting.iter_mut() {
            let Arrived { outcome, own: Some(own), interrupted: false, at, is_kept } = arrived
            else {
                continue;
            };
            if *is_kept || outcome.trouble.is_some() || at.elapsed() < patience {
                continue;
            }
            let Some(told) = &outcome.told else { continue };
            let (summary, findings) = (told.summary.clone(), told.findings.clone());
            let cell = FinishedCell { summary, findings, lengths: own.written };
            match cells.keep(self.cells[*place].number, &cell) {
                Ok(()) => *is_kept = true,
                Err(error) => tracing::warn!("a run that is over is not kept yet: {error}"),
            }
        }
    }

    /// A cell that came to its end in an earlier process, before it was its turn.
    fn came_before(
        &self,
        assembly: &Assembly<'_>,
        cell: &Cell<'_>,
    ) -> Result<Option<Arrived>, Error> {
        let Some(cells) = assembly.cells().filter(|_| self.options.resume) else {
            return Ok(None);
        };
        let Some(finished) = cells.kept(cell.number)? else { return Ok(None) };
        let (folder, written) = (cells.folder(cell.number), finished.lengths);
        let outcome = from_before(finished, &folder, self.scenario.repeats > 1)?;
        let own = Some(OwnFiles { folder, written });
        Ok(Some(Arrived { outcome, own, interrupted: false, at: Instant::now(), is_kept: true }))
    }

    fn one<'b>(&'b self, cell: Cell<'b>, helpers: usize, interrupt: Interrupt) -> One<'b> {
        let count = cell_count(self.scenario);
        let has_room = self.folder.is_some() && cell.number < MOST_RUNS;
        let detail = has_room.then(|| Detail::of(count, cell.seed == self.scenario.seed));
        let Whole { scenario, builder, folder, .. } = *self;
        let clock_mode = self.options.clock_mode;
        let live = Arc::default();
        One { scenario, cell, builder, helpers, clock_mode, folder, detail, interrupt, live }
    }

    /// Threads beside the simulation's own, which computes too, except where time really passes: there it must not be
    /// late for anything.
    fn helpers(&self, threads: usize) -> usize {
        match self.options.clock_mode {
            ClockMode::Virtual => threads.saturating_sub(1),
            ClockMode::Wall(_) => threads.max(1),
        }
    }

    fn checkpoints(
        &self,
        assembly: &Assembly<'_>,
        cell: &Cell<'_>,
    ) -> Result<Option<CellCheckpoints>, Error> {
        let Options { resume, timing_only, clock_mode, checkpoint, .. } = *self.options;
        let Some(cells) = assembly.cells() else { return Ok(None) };
        if timing_only || clock_mode != ClockMode::Virtual {
            return Ok(None);
        }
        let resume = match resume {
            true => cells.resume(cell.number, cell.variant.plan.task.clients)?,
            false => None,
        };
        Ok(Some((cells.folder(cell.number), checkpoint, resume)))
    }

    fn observers(
        &self,
        cell: &Cell<'_>,
        checkpoints: &Option<CellCheckpoints>,
    ) -> Vec<Box<dyn Observer>> {
        let resume = checkpoints.as_ref().and_then(|(.., resume)| resume.as_ref());
        let replayed = resume.map_or(0, |resume| resume.checkpoint.position.rounds);
        let plan = &cell.variant.plan;
        let context = RunContext::new(&cell.variant.name, cell.seed, &plan.stop, replayed);
        self.plugins.observers(&context)
    }
}
