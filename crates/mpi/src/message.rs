//! What ranks say to each other, and how it is written as words and arrays.

use crate::change::Change;
use crate::transport::{Array, Message};
use gruppetto_sim::solver::Solver;
use std::sync::Arc;

/// What rank 0 says.
pub(crate) enum Order {
    /// Build the data of a variant with a seed.
    Build {
        number: u64,
        variant: u64,
        seed: u64,
    },
    Work {
        id: u64,
        version: Version,
        what: What,
    },
    /// Do not go on with these.
    Leave(Vec<u64>),
    /// It is over.
    Bye,
}

/// Which version of the model, and the version itself if the rank does not have it.
pub(crate) struct Version {
    pub(crate) key: VersionKey,
    pub(crate) model: Option<Array>,
    /// What may be forgotten.
    pub(crate) forget: Option<VersionKey>,
}

/// A version, and whether it is in double precision.
pub(crate) type VersionKey = (u64, bool);

/// What is to be computed.
pub(crate) enum What {
    Train(Training),
    /// A part of an evaluation; with weights, the clients' gradients too.
    Evaluate {
        part: u64,
        weights: Option<Arc<Vec<f64>>>,
    },
}

/// A client's local training.
pub(crate) struct Training {
    pub(crate) client: u32,
    pub(crate) round: u64,
    pub(crate) solver: Solver,
    pub(crate) correction: Option<Arc<Vec<f64>>>,
    pub(crate) steps: u64,
    /// Steps between two looks whether it is to be left.
    pub(crate) chunk: u64,
}

/// What a worker says.
pub(crate) enum Answer {
    /// Who it is, and how many jobs it trains side by side.
    Hello { slots: u64, text: String },
    /// A digest of the data, or why there is none.
    Built { number: u64, digest: Result<u64, String> },
    /// What came of a job, and how long it took.
    Done { id: u64, nanos: u64, outcome: Outcome },
}

pub(crate) enum Outcome {
    Change(Change),
    Sums(Vec<f64>),
    Left,
    Failed(String),
}

const BUILD: u64 = 1;
const TRAIN: u64 = 2;
const EVALUATE: u64 = 3;
const LEAVE: u64 = 4;
const BYE: u64 = 5;
const HELLO: u64 = 6;
const BUILT: u64 = 7;
const DONE: u64 = 8;

/// Words and arrays, taken in the order in which they were written.
struct Reader(std::vec::IntoIter<u64>, std::vec::IntoIter<Array>);

impl Reader {
    fn word(&mut self) -> u64 {
        self.0.next().expect("both ranks are of one version")
    }

    fn number(&mut self) -> f64 {
        f64::from_bits(self.word())
    }

    fn flag(&mut self) -> bool {
        self.word() != 0
    }

    fn array(&mut self) -> Array {
        self.1.next().expect("both ranks are of one version")
    }

    fn doubles(&mut self) -> Arc<Vec<f64>> {
        match self.array() {
            Array::Doubles(values) => values,
            _ => unreachable!("both ranks are of one version"),
        }
    }

    fn singles(&mut self) -> Vec<f32> {
        match self.array() {
            Array::Singles(values) => values,
            _ => unreachable!("both ranks are of one version"),
        }
    }

    fn text(&mut self) -> String {
        match self.array() {
            Array::Text(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => unreachable!("both ranks are of one version"),
        }
    }

    fn key(&mut self) -> VersionKey {
        (self.word(), self.flag())
    }
}

impl Order {
    pub(crate) fn write(self) -> Message {
        let (mut words, mut arrays) = (Vec::new(), Vec::new());
        match self {
            Order::Build { number, variant, seed } => words.extend([BUILD, number, variant, seed]),
            Order::Leave(ids) => {
                words.extend([LEAVE, ids.len() as u64]);
                words.extend(ids);
            }
            Order::Bye => words.push(BYE),
            Order::Work { id, version, what } => {
                let Version { key, model, forget } = version;
                let (forgotten, is_wide) = forget.unwrap_or_default();
                let kind = if matches!(what, What::Train(_)) { TRAIN } else { EVALUATE };
                words.extend([kind, id, key.0, key.1.into(), model.is_some().into()]);
                words.extend([forget.is_some().into(), forgotten, is_wide.into()]);
                arrays.extend(model);
                let vector = match what {
                    What::Train(training) => {
                        let Training { client, round, solver, correction, steps, chunk } = training;
                        let Solver { lr, momentum, prox, lr_decay, weight_decay } = solver;
                        words.extend([client.into(), round, steps, chunk]);
                        let law = [lr, momentum, prox, lr_decay, weight_decay];
                        words.extend(law.map(f64::to_bits));
                        correction
                    }
                    What::Evaluate { part, weights } => {
                        words.push(part);
                        weights
                    }
                };
                words.push(vector.is_some().into());
                arrays.extend(vector.map(Array::Doubles));
            }
        }
        Message { words, arrays }
    }

    pub(crate) fn read(message: Message) -> Self {
        let mut from = Reader(message.words.into_iter(), message.arrays.into_iter());
        match from.word() {
            BUILD => Order::Build { number: from.word(), variant: from.word(), seed: from.word() },
            LEAVE => {
                let count = from.word();
                Order::Leave((0..count).map(|_| from.word()).collect())
            }
            BYE => Order::Bye,
            kind => {
                let (id, key, comes) = (from.word(), from.key(), from.flag());
                let (forgets, forgotten) = (from.flag(), from.key());
                let forget = forgets.then_some(forgotten);
                let model = comes.then(|| from.array());
                let version = Version { key, model, forget };
                let what = match kind {
                    TRAIN => What::Train(Training {
                        client: from.word() as u32,
                        round: from.word(),
                        steps: from.word(),
                        chunk: from.word(),
                        solver: Solver {
                            lr: from.number(),
                            momentum: from.number(),
                            prox: from.number(),
                            lr_decay: from.number(),
                            weight_decay: from.number(),
                        },
                        correction: from.flag().then(|| from.doubles()),
                    }),
                    _ => What::Evaluate {
                        part: from.word(),
                        weights: from.flag().then(|| from.doubles()),
                    },
                };
                Order::Work { id, version, what }
            }
        }
    }
}

impl Answer {
    pub(crate) fn write(self) -> Message {
        let (mut words, mut arrays) = (Vec::new(), Vec::new());
        let text = |text: String| Array::Text(text.into_bytes());
        match self {
            Answer::Hello { slots, text: said } => {
                words.extend([HELLO, slots]);
                arrays.push(text(said));
            }
            Answer::Built { number, digest } => {
                let (digest, error) = match digest {
                    Ok(digest) => (digest, None),
                    Err(error) => (0, Some(error)),
                };
                words.extend([BUILT, number, error.is_none().into(), digest]);
                arrays.extend(error.map(text));
            }
            Answer::Done { id, nanos, outcome } => {
                words.extend([DONE, id, nanos]);
                let (form, array) = match outcome {
                    Outcome::Change(Change::Single(values)) => (0, Some(Array::Singles(values))),
                    Outcome::Change(Change::End(values)) => (1, Some(Array::Singles(values))),
                    Outcome::Change(Change::Double(values)) => {
                        (2, Some(Array::Doubles(Arc::new(values))))
                    }
                    Outcome::Sums(sums) => (3, Some(Array::Doubles(Arc::new(sums)))),
                    Outcome::Failed(said) => (4, Some(text(said))),
                    Outcome::Left => (5, None),
                };
                words.push(form);
                arrays.extend(array);
            }
        }
        Message { words, arrays }
    }

    pub(crate) fn read(message: Message) -> Self {
        let mut from = Reader(message.words.into_iter(), message.arrays.into_iter());
        // Nobody else has what was just received.
        let own = |values: Arc<Vec<f64>>| Arc::try_unwrap(values).unwrap_or_else(|v| v.to_vec());
        match from.word() {
            HELLO => Answer::Hello { slots: from.word(), text: from.text() },
            BUILT => {
                let (number, is_ok, digest) = (from.word(), from.flag(), from.word());
                let digest = if is_ok { Ok(digest) } else { Err(from.text()) };
                Answer::Built { number, digest }
            }
            _ => {
                let (id, nanos) = (from.word(), from.word());
                let outcome = match from.word() {
                    0 => Outcome::Change(Change::Single(from.singles())),
                    1 => Outcome::Change(Change::End(from.singles())),
                    2 => Outcome::Change(Change::Double(own(from.doubles()))),
                    3 => Outcome::Sums(own(from.doubles())),
                    4 => Outcome::Failed(from.text()),
                    _ => Outcome::Left,
                };
                Answer::Done { id, nanos, outcome }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let solver = Solver { momentum: 0.9, weight_decay: -0.0, ..Solver::sgd(0.1) };
        let correction = Some(Arc::new(vec![1.0, f64::NAN]));
        let training = Training { client: 7, round: 3, solver, correction, steps: 40, chunk: 16 };
        let model = Some(Array::Singles(vec![0.5; 3]));
        let version = Version { key: (11, true), model, forget: Some((4, false)) };
        let order = Order::Work { id: 9, version, what: What::Train(training) };
        let Order::Work { id: 9, version, what: What::Train(read) } = Order::read(order.write())
        else {
            panic!("another order");
        };
        assert_eq!((version.key, version.forget), ((11, true), Some((4, false))));
        assert!(matches!(version.model, Some(Array::Singles(values)) if values == [0.5; 3]));
        assert_eq!((read.client, read.round, read.steps, read.chunk), (7, 3, 40, 16));
        assert_eq!(
            (read.solver, read.solver.weight_decay.to_bits()),
            (solver, (-0.0f64).to_bits())
        );
        assert!(read.correction.unwrap()[1].is_nan());
        let part = What::Evaluate { part: 5, weights: Some(Arc::new(vec![0.25])) };
        let version = Version { key: (11, false), model: None, forget: None };
        let order = Order::Work { id: 1, version, what: part };
        let Order::Work { version, what, .. } = Order::read(order.write()) else {
            panic!("another order");
        };
        assert!(version.model.is_none() && version.forget.is_none());
        assert!(matches!(what, What::Evaluate { part: 5, weights: Some(own) } if *own == [0.25]));
        let order = Order::Leave(vec![3, 5]).write();
        assert!(matches!(Order::read(order), Order::Leave(ids) if ids == [3, 5]));
    }

    #[test]
    fn what_workers_say_comes_across() {
        let read = |outcome| match Answer::read(Answer::Done { id: 2, nanos: 8, outcome }.write()) {
            Answer::Done { id: 2, nanos: 8, outcome } => outcome,
            _ => panic!("another answer"),
        };
        for change in
            [Change::Single(vec![1.0]), Change::End(vec![2.0]), Change::Double(vec![3.0, 4.0])]
        {
            let text = format!("{change:?}");
            let Outcome::Change(read) = read(Outcome::Change(change)) else {
                panic!("another outcome");
            };
            assert_eq!(format!("{read:?}"), text);
        }
        assert!(matches!(read(Outcome::Sums(vec![1.5])), Outcome::Sums(sums) if sums == [1.5]));
        assert!(
            matches!(read(Outcome::Failed("no".into())), Outcome::Failed(text) if text == "no")
        );
        assert!(matches!(read(Outcome::Left), Outcome::Left));
        for digest in [Ok(5), Err("no data".to_string())] {
            let built = Answer::Built { number: 1, digest: digest.clone() };
            let Answer::Built { number: 1, digest: read } = Answer::read(built.write()) else {
                panic!("another answer");
            };
            assert_eq!(read, digest);
        }
    }
}
