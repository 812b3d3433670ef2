//! The thread of rank 0 that owns MPI: it hands jobs to ranks and their results to those who wait.
//!
//! A rank trains as many jobs side by side as it has slots. It gets one more for each slot, so that it need not
//! wait for the next, as long as there are enough for the others: at the end of a round a job must not stand
//! behind another one while a rank is idle. Evaluations go first, for the simulation waits for them.

use crate::change::Change;
use crate::message::{Answer, Order, Outcome, Version, VersionKey, What};
use crate::pace::Pace;
use crate::transport::{Array, Link};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender};
use gruppetto_sim::train::{Interrupt, Model};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long nobody may have asked whether a run should end.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of model versions that a rank keeps, if these are [`FEWEST`] versions or more.
const KEPT_BYTES: usize = 1 << 28;
const FEWEST: usize = 2;
const MOST: usize = 64;

/// What other threads of rank 0 ask for.
pub(crate) enum Command {
    /// Everybody's hello.
    Greet(Sender<Vec<Hello>>),
    Build {
        variant: u64,
        seed: u64,
        reply: Sender<Vec<Result<u64, String>>>,
    },
    Work(Task),
    End,
}

/// What a worker says of itself: its slots, and a text.
pub(crate) type Hello = (usize, String);

/// A job for any rank.
pub(crate) struct Task {
    pub(crate) model: Arc<Model>,
    /// Whether the model is needed in double precision.
    pub(crate) is_wide: bool,
    pub(crate) what: What,
    pub(crate) cell: Arc<Cell>,
    pub(crate) reply: Sender<Reply>,
}

/// What the jobs of a run have in common.
pub(crate) struct Cell {
    /// If one of these is set, they are to be left.
    pub(crate) stops: [Interrupt; 2],
    /// Nanoseconds of training and of evaluation.
    pub(crate) busy: Arc<[AtomicU64; 2]>,
}

impl Cell {
    fn is_over(&self) -> bool {
        self.stops.iter().any(Interrupt::is_set)
    }
}

pub(crate) enum Reply {
    Change(Change),
    Sums(Vec<f64>),
    Left,
    Failed(String),
}

/// What rank 0 knows of a worker.
#[derive(Default)]
struct Rank {
    hello: Option<Hello>,
    built: Option<Result<u64, String>>,
    slots: usize,
    /// Jobs that it has.
    jobs: usize,
    /// Versions that it has, the one that was used last at the end.
    held: VecDeque<VersionKey>,
}

struct Sent {
    rank: usize,
    is_evaluation: bool,
    cell: Arc<Cell>,
    /// `None`: nobody waits for it any more.
    reply: Option<Sender<Reply>>,
}

pub(crate) struct Hub {
    link: Link,
    commands: Receiver<Command>,
    /// Rank 1 stands first.
    ranks: Vec<Rank>,
    waiting: VecDeque<Task>,
    evaluations: VecDeque<Task>,
    sent: BTreeMap<u64, Sent>,
    jobs: u64,
    greet: Option<Sender<Vec<Hello>>>,
    builds: u64,
    build: Option<Sender<Vec<Result<u64, String>>>>,
    looked: Instant,
    ends: bool,
}

impl Hub {
    pub(crate) fn new(link: Link, commands: Receiver<Command>) -> Self {
        let ranks = (1..link.size()).map(|_| Rank::default()).collect();
        Hub {
            link,
            commands,
            ranks,
            waiting: VecDeque::new(),
            evaluations: VecDeque::new(),
            sent: BTreeMap::new(),
            jobs: 0,
            greet: None,
            builds: 0,
            build: None,
            looked: Instant::now(),
            ends: false,
        }
    }

    pub(crate) fn run(mut self) {
        let mut pace = Pace::new();
        loop {
            let mut heard = false;
            while let Ok(command) = self.commands.try_recv() {
                self.take(command);
                heard = true;
            }
            while let Some((rank, message)) = self.link.receive() {
                self.hear(rank - 1, Answer::read(message));
                heard = true;
            }
            self.dispatch();
            self.answer_callers();
            self.look();
            if self.ends && self.nothing_is_open() {
                break;
            }
            if heard {
                pace.heard();
            }
            self.rest(&pace);
        }
        for rank in 1..=self.ranks.len() {
            self.link.send(rank, Order::Bye.write());
        }
        self.link.flush();
    }

    /// Waits for a command, and not too long for a message.
    fn rest(&mut self, pace: &Pace) {
        let is_moving = self.link.is_moving();
        let pause = match pace.pause(is_moving) {
            _ if self.nothing_is_open() && !is_moving => LOOK,
            Some(pause) => pause,
            None => return yield_now(),
        };
        if self.ends {
            return std::thread::sleep(pause);
        }
        match self.commands.recv_timeout(pause) {
            Ok(command) => self.take(command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.ends = true,
        }
    }

    /// Whether no worker has anything to say.
    fn nothing_is_open(&self) -> bool {
        let is_quiet = |rank: &Rank| rank.hello.is_some();
        self.sent.is_empty() && self.build.is_none() && self.ranks.iter().all(is_quiet)
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Greet(reply) => self.greet = Some(reply),
            Command::Build { variant, seed, reply } => {
                self.builds += 1;
                self.build = Some(reply);
                for rank in 0..self.ranks.len() {
                    self.ranks[rank].built = None;
                    let order = Order::Build { number: self.builds, variant, seed };
                    self.link.send(rank + 1, order.write());
                }
            }
            Command::Work(task) if task.cell.is_over() => drop(task.reply.send(Reply::Left)),
            Command::Work(task) => match task.what {
                What::Train(_) => self.waiting.push_back(task),
                What::Evaluate { .. } => self.evaluations.push_back(task),
            },
            Command::End => self.ends = true,
        }
    }

    fn hear(&mut self, from: usize, answer: Answer) {
        let rank = &mut self.ranks[from];
        match answer {
            Answer::Hello { slots, text } => {
                rank.slots = slots as usize;
                rank.hello = Some((rank.slots, text));
            }
            Answer::Built { number, digest } if number == self.builds => rank.built = Some(digest),
            // Of a run that was given up before its data was built.
            Answer::Built { .. } => {}
            Answer::Done { id, nanos, outcome } => {
                rank.jobs -= 1;
                let Some(Sent { is_evaluation, cell, reply, .. }) = self.sent.remove(&id) else {
                    return;
                };
                cell.busy[usize::from(is_evaluation)].fetch_add(nanos, Ordering::Relaxed);
                let reply_with = match outcome {
                    Outcome::Change(change) => Reply::Change(change),
                    Outcome::Sums(sums) => Reply::Sums(sums),
                    Outcome::Left => Reply::Left,
                    Outcome::Failed(what) => Reply::Failed(format!("rank {}: {what}", from + 1)),
                };
                reply.map(|reply| reply.send(reply_with));
            }
        }
    }

    fn answer_callers(&mut self) {
        if self.greet.is_some() && self.ranks.iter().all(|rank| rank.hello.is_some()) {
            let hellos = self.ranks.iter().filter_map(|rank| rank.hello.clone()).collect();
            self.greet.take().map(|reply| reply.send(hellos));
        }
        if self.build.is_some() && self.ranks.iter().all(|rank| rank.built.is_some()) {
            let built = self.ranks.iter_mut().filter_map(|rank| rank.built.take()).collect();
            self.build.take().map(|reply| reply.send(built));
        }
    }

    /// Sends off what there are free ranks for.
    fn dispatch(&mut self) {
        let slots: usize = self.ranks.iter().map(|rank| rank.slots).sum();
        while let Some(task) = self.evaluations.front().or(self.waiting.front()) {
            let key = key(task);
            let is_ahead = self.waiting.len() + self.evaluations.len() > slots;
            // The one with the fewest; of equals one that has the version.
            let most = |rank: &Rank| if is_ahead { 2 * rank.slots } else { rank.slots };
            let free = |(_, rank): &(usize, &Rank)| rank.jobs < most(rank);
            let load = |(_, rank): &(usize, &Rank)| {
                (rank.jobs * 1000 / rank.slots.max(1), !rank.held.contains(&key))
            };
            let best = self.ranks.iter().enumerate().filter(free).min_by_key(load);
            let Some((rank, _)) = best else {
                return;
            };
            let next = self.evaluations.pop_front().or_else(|| self.waiting.pop_front());
            self.send(rank, next.expect("it was looked at"));
        }
    }

    fn send(&mut self, number: usize, task: Task) {
        let key = key(&task);
        let Task { model, what, cell, reply, .. } = task;
        let rank = &mut self.ranks[number];
        let held = rank.held.iter().position(|held| *held == key);
        let bytes = model.len() * if key.1 { 8 } else { 4 };
        let room = (KEPT_BYTES / bytes.max(1)).clamp(FEWEST, MOST);
        let forget = match held {
            Some(place) => {
                rank.held.remove(place);
                None
            }
            None if rank.held.len() >= room => rank.held.pop_front(),
            None => None,
        };
        rank.held.push_back(key);
        rank.jobs += 1;
        let array = if key.1 { Array::Wide(model) } else { Array::Narrow(model) };
        let version = Version { key, model: held.is_none().then_some(array), forget };
        self.jobs += 1;
        let (id, is_evaluation) = (self.jobs, matches!(what, What::Evaluate { .. }));
        let sent = Sent { rank: number, is_evaluation, cell, reply: Some(reply) };
        self.sent.insert(id, sent);
        self.link.send(number + 1, Order::Work { id, version, what }.write());
    }

    /// Leaves the jobs of runs that are over.
    fn look(&mut self) {
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        for waiting in [&mut self.waiting, &mut self.evaluations] {
            waiting.retain(|task| {
                let is_over = task.cell.is_over();
                if is_over {
                    let _ = task.reply.send(Reply::Left);
                }
                !is_over
            });
        }
        let mut left = vec![Vec::new(); self.ranks.len()];
        for (id, sent) in &mut self.sent {
            if sent.reply.is_some() && (sent.cell.is_over() || self.ends) {
                left[sent.rank].push(*id);
                sent.reply.take().map(|reply| reply.send(Reply::Left));
            }
        }
        for (number, ids) in left.into_iter().enumerate().filter(|(_, ids)| !ids.is_empty()) {
            self.link.send(number + 1, Order::Leave(ids).write());
        }
    }
}

fn key(task: &Task) -> VersionKey {
    (task.model.id(), task.is_wide)
}
