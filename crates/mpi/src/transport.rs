//! Messages over MPI: words, and arrays that belong to them.
//!
//! A message is a short header of whole numbers and any number of arrays. Nothing here waits: a send goes on
//! while others begin, and a receive of many megabytes from a slow machine keeps nobody else from being heard.
//! Messages of one rank are given out in the order in which they were sent.

use gruppetto_sim::train::Model;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Equivalence, Source};
use std::collections::VecDeque;
use std::sync::Arc;

const HEADERS: i32 = 1;
const ARRAYS: i32 = 2;

/// An array that travels.
pub(crate) enum Array {
    /// A version of the model, in single precision.
    Narrow(Arc<Model>),
    /// The same in double precision.
    Wide(Arc<Model>),
    Singles(Vec<f32>),
    Doubles(Arc<Vec<f64>>),
    Text(Vec<u8>),
}

/// What an array consists of.
enum Entries<'a> {
    Singles(&'a [f32]),
    Doubles(&'a [f64]),
    Text(&'a [u8]),
}

impl Array {
    fn entries(&self) -> Entries<'_> {
        match self {
            Array::Narrow(model) => Entries::Singles(model.narrow()),
            Array::Wide(model) => Entries::Doubles(model.values()),
            Array::Singles(values) => Entries::Singles(values),
            Array::Doubles(values) => Entries::Doubles(values),
            Array::Text(bytes) => Entries::Text(bytes),
        }
    }

    fn len(&self) -> usize {
        match self.entries() {
            Entries::Singles(values) => values.len(),
            Entries::Doubles(values) => values.len(),
            Entries::Text(bytes) => bytes.len(),
        }
    }
}

/// Words, and arrays.
#[derive(Default)]
pub(crate) struct Message {
    pub(crate) words: Vec<u64>,
    pub(crate) arrays: Vec<Array>,
}

/// A send or a receive that may not be over.
trait Pending {
    fn is_over(&mut self) -> bool;
}

struct Transfer<T: 'static>(Option<Request<'static, [T], StaticScope>>);

impl<T> Pending for Transfer<T> {
    fn is_over(&mut self) -> bool {
        self.0 = self.0.take().and_then(|request| request.test().err());
        self.0.is_none()
    }
}

impl<T> Drop for Transfer<T> {
    /// MPI must be done with the entries before they are released.
    fn drop(&mut self) {
        if let Some(request) = self.0.take() {
            request.wait_without_status();
        }
    }
}

/// A message on its way. Transfers stand first: they are dropped, and with that over, before what they
/// transfer.
struct OnItsWay {
    transfers: Vec<Box<dyn Pending>>,
    message: Message,
}

impl OnItsWay {
    fn is_over(&mut self) -> bool {
        self.transfers.retain_mut(|transfer| !transfer.is_over());
        self.transfers.is_empty()
    }
}

/// The other ranks, as the one thread that owns MPI sees them.
pub(crate) struct Link {
    leaving: Vec<OnItsWay>,
    /// By rank, in order.
    coming: Vec<VecDeque<OnItsWay>>,
    world: SimpleCommunicator,
    // Dropped last: that ends MPI.
    _universe: Universe,
}

impl Link {
    /// Joins the job. `None`: MPI was joined before.
    pub(crate) fn join() -> Option<Self> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        let coming = (0..world.size()).map(|_| VecDeque::new()).collect();
        Some(Link { leaving: Vec::new(), coming, world, _universe: universe })
    }

    pub(crate) fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    pub(crate) fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// Begins to send a message.
    pub(crate) fn send(&mut self, to: usize, message: Message) {
        let Message { words, arrays } = message;
        let mut header = vec![arrays.len() as u64];
        for array in &arrays {
            let kind = match array.entries() {
                Entries::Singles(_) => 0,
                Entries::Doubles(_) => 1,
                Entries::Text(_) => 2,
            };
            header.extend([kind, array.len() as u64]);
        }
        header.extend(words);
        let message = Message { words: header, arrays };
        let process = self.world.process_at_rank(to as i32);
        let mut transfers = vec![send(&process, &message.words, HEADERS)];
        for array in message.arrays.iter().filter(|array| array.len() > 0) {
            transfers.push(match array.entries() {
                Entries::Singles(values) => send(&process, values, ARRAYS),
                Entries::Doubles(values) => send(&process, values, ARRAYS),
                Entries::Text(bytes) => send(&process, bytes, ARRAYS),
            });
        }
        self.leaving.push(OnItsWay { transfers, message });
    }

    /// The next message that is here as a whole, and who sent it.
    pub(crate) fn receive(&mut self) -> Option<(usize, Message)> {
        self.leaving.retain_mut(|message| !message.is_over());
        while let Some(found) = self.world.any_process().immediate_matched_probe_with_tag(HEADERS) {
            let from = found.1.source_rank();
            let (header, _) = found.matched_receive_vec::<u64>();
            let message = self.expect(from, &header);
            self.coming[from as usize].push_back(message);
        }
        for (rank, coming) in self.coming.iter_mut().enumerate() {
            if coming.front_mut().is_some_and(OnItsWay::is_over) {
                return coming.pop_front().map(|OnItsWay { message, .. }| (rank, message));
            }
        }
        None
    }

    /// Begins to receive the arrays that a header announces.
    fn expect(&self, from: i32, header: &[u64]) -> OnItsWay {
        let arrays = header[0] as usize;
        let (kinds, words) = header[1..].split_at(2 * arrays);
        let process = self.world.process_at_rank(from);
        let (mut transfers, mut message) = (Vec::new(), Message::default());
        message.words = words.to_vec();
        for kind in kinds.chunks_exact(2) {
            let len = kind[1] as usize;
            message.arrays.push(match kind[0] {
                0 => Array::Singles(receive(&process, len, &mut transfers)),
                1 => Array::Doubles(Arc::new(receive(&process, len, &mut transfers))),
                _ => Array::Text(receive(&process, len, &mut transfers)),
            });
        }
        OnItsWay { transfers, message }
    }

    /// Whether something is being sent or received.
    pub(crate) fn is_moving(&self) -> bool {
        !self.leaving.is_empty() || self.coming.iter().any(|coming| !coming.is_empty())
    }

    /// Waits until everything is sent.
    pub(crate) fn flush(&mut self) {
        self.leaving.clear();
    }
}

fn send<T: Equivalence + 'static>(
    to: &impl Destination,
    entries: &[T],
    tag: i32,
) -> Box<dyn Pending> {
    let (entries, scope) = (outlasting(entries), StaticScope);
    Box::new(Transfer(Some(to.immediate_send_with_tag(scope, entries, tag))))
}

/// Makes room for so many entries and begins to receive them.
fn receive<T: Equivalence + Clone + Default + 'static>(
    from: &impl Source,
    len: usize,
    transfers: &mut Vec<Box<dyn Pending>>,
) -> Vec<T> {
    let mut entries = vec![T::default(); len];
    if len > 0 {
        let (place, scope) = (outlasting_mut(&mut entries), StaticScope);
        let request = from.immediate_receive_into_with_tag(scope, place, ARRAYS);
        transfers.push(Box::new(Transfer(Some(request))));
    }
    entries
}

/// Entries for as long as a transfer needs them.
///
/// A request of the crate `mpi` borrows what it transfers, for a scope that ends with a block of code. Transfers
/// here begin and end in any order, and each owns its entries ([`OnItsWay`]), which safe code cannot say.
#[expect(unsafe_code)]
fn outlasting<T>(entries: &[T]) -> &'static [T] {
    // SAFETY: they are on the heap, in a message that is kept beside the transfer and dropped after it, and
    // dropping the transfer waits until MPI is done. Nothing changes them meanwhile.
    unsafe { std::slice::from_raw_parts(entries.as_ptr(), entries.len()) }
}

/// The same to be written to.
#[expect(unsafe_code)]
fn outlasting_mut<T>(entries: &mut [T]) -> &'static mut [T] {
    // SAFETY: as above; nothing reads them before the transfer is over.
    unsafe { std::slice::from_raw_parts_mut(entries.as_mut_ptr(), entries.len()) }
}
