//! What Python shares with native tasks: how samples are spread over clients, and the order in which a client visits its
//! own.

use gruppetto::data::{
    Dataset, Features, NaturalClients, PartitionConfig, PartitionScheme, Samples, Targets,
};
use gruppetto::random::{Purpose, stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The samples of every client, as bytes of `uint32`. `labels` are classes; of a natural partition, clients.
#[pyfunction]
pub fn partition<'py>(
    py: Python<'py>,
    scheme: &str,
    labels: &[u8],
    how: (usize, f64, usize, u64),
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (clients, parameter, min_size, seed) = how;
    let (chunks, _) = labels.as_chunks::<4>();
    let labels: Vec<u32> = chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect();
    let scheme = match scheme {
        "dirichlet" => PartitionScheme::Dirichlet(parameter),
        "shards" => PartitionScheme::Shards(parameter as usize),
        "natural" => PartitionScheme::Natural,
        _ => PartitionScheme::Iid,
    };
    let given = py.detach(|| {
        let data = labelled(labels, clients);
        PartitionConfig { scheme, min_size }.assign(&data, clients, seed)
    });
    let given = given.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let bytes = |own: Vec<u32>| {
        PyBytes::new_with(py, 4 * own.len(), |buffer| {
            for (into, index) in buffer.chunks_exact_mut(4).zip(&own) {
                into.copy_from_slice(&index.to_le_bytes());
            }
            Ok(())
        })
    };
    given.into_iter().map(bytes).collect()
}

/// A data set of which only labels are known.
fn labelled(labels: Vec<u32>, clients: usize) -> Dataset {
    let classes = labels.iter().max().map_or(0, |most| *most as usize + 1);
    let samples = |y| Samples { x: Features::Bytes(Vec::new()), y: Targets::Classes(y) };
    let names = vec![String::new(); clients];
    Dataset {
        name: "labels".into(),
        shape: vec![0],
        classes,
        class_names: vec![String::new(); classes],
        clients: Some(NaturalClients { of: labels.clone(), names }),
        train: samples(labels),
        test: samples(Vec::new()),
        mean: Vec::new(),
        std: Vec::new(),
    }
}

/// The order in which a client visits its samples in one round, as native trainers have it.
#[pyclass]
pub struct BatchOrder(gruppetto::train::BatchOrder);

#[pymethods]
impl BatchOrder {
    /// Over `all` samples in batches of `size`.
    #[new]
    fn new(all: usize, size: usize, seed: u64, client: u64, round: u64) -> Self {
        let rng = stream(seed, Purpose::Batches, client, round);
        BatchOrder(gruppetto::train::BatchOrder::new(all, size, rng))
    }

    /// The samples of the next `steps` steps, as bytes of `int64`.
    fn take<'py>(&mut self, py: Python<'py>, steps: usize) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::new();
        for _ in 0..steps {
            let batch = self.0.next_batch();
            bytes.extend(batch.iter().flat_map(|index| i64::from(*index).to_le_bytes()));
        }
        PyBytes::new(py, &bytes)
    }
}
