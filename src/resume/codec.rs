//! A checkpoint as files.
//!
//! The numbers are tensors of a safetensors file; where they belong stands in its metadata, as JSON. Vectors of
//! single clients are in files of their own, so that a checkpoint writes only those that have changed.

use super::vectors::{NamedVectors, write_tensors};
use super::{FORMAT, log};
use crate::compress::Residual;
use crate::participation::RoundNumbers;
use crate::report::FileError;
use crate::server::{Checkpoint, Position, Resume};
use crate::solver::{ControlVector, ControlsState, OpenControls};
use crate::train::Model;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The file with the numbers.
pub(super) const FILE: &str = "checkpoint.safetensors";
/// The file with the log.
pub(super) const LOG: &str = "log";

/// A run cannot go on from what was kept of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[allow(missing_docs)]
    Read { path: PathBuf, source: io::Error },
    /// A file is not what it should be.
    #[error("{} is not a checkpoint: {what}", path.display())]
    #[allow(missing_docs)]
    Broken { path: PathBuf, what: String },
    /// Another version of the program wrote it.
    #[error(
        "the run was made by a program whose results are of format {found}, and this one's are of format \
         {expected}; go on with that program, or begin anew with --force"
    )]
    #[allow(missing_docs)]
    Format { found: u32, expected: u32 },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What a client remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Memory {
    /// The vector of variance reduction.
    Own,
    /// What error feedback has left over.
    Residual,
}

/// The vectors of clients.
type Memories = BTreeMap<(Memory, u32), Arc<Vec<f64>>>;

/// A vector of a client, and the number of the file that it is in.
pub(super) type Places = BTreeMap<(Memory, u32), u64>;

/// Where the numbers belong.
#[derive(Serialize, Deserialize)]
struct CheckpointMeta {
    format: u32,
    arrivals: u64,
    rounds: u64,
    evaluations: u64,
    before_evaluation: bool,
    log_bytes: u64,
    /// Of these bytes of the log.
    log_digest: u64,
    held: usize,
    /// Clients of variance reduction and of error feedback; 0 where there is none.
    controls: usize,
    residuals: usize,
    /// Clients on their way that left with another vector than they have now.
    departed: Vec<u32>,
    /// Those that left with none, though they have one now.
    departed_without: Vec<u32>,
    /// Of the open aggregation: clients with their gains, and Σ p_i, as bits.
    heard: Vec<(u32, u64)>,
    share: u64,
    /// Numbers of rounds, and whether their model is the newest.
    models: Vec<(u64, bool)>,
    places: Vec<(Memory, u32, u64)>,
}

/// Writes a checkpoint to `folder`; the vectors of clients are in the files that `places` says, and the log
/// before it has so many bytes, with this digest.
pub(super) fn save(
    folder: &Path,
    checkpoint: &Checkpoint,
    places: &Places,
    (log_bytes, log_digest): (u64, u64),
) -> Result<(), FileError> {
    let Checkpoint { position, x, optimizer, direction, held, buffered, .. } = checkpoint;
    let mut tensors: Vec<(String, &[f64])> =
        vec![("x".into(), x), ("optimizer".into(), optimizer), ("direction".into(), direction)];
    tensors.extend(held.iter().enumerate().map(|(i, delta)| (format!("held.{i}"), &delta[..])));
    if !buffered.is_empty() {
        tensors.push(("buffered".into(), buffered));
    }
    let (mut departed, mut departed_without) = (Vec::new(), Vec::new());
    let mut open = &OpenControls::default();
    let mut controls = 0;
    if let Some(state) = &checkpoint.controls {
        (open, controls) = (&state.open, state.own.len());
        tensors.extend(state.shared.iter().map(|shared| ("shared".into(), &shared[..])));
        tensors.extend(state.given.iter().map(|given| ("given".into(), &given[..])));
        for (client, (own, left_with)) in (0..).zip(state.own.iter().zip(&state.departed)) {
            match (own, left_with) {
                (Some(own), Some(left_with)) if Arc::ptr_eq(own, left_with) => {}
                (_, Some(left_with)) => {
                    departed.push(client);
                    tensors.push((format!("departed.{client}"), left_with));
                }
                (Some(_), None) => departed_without.push(client),
                (None, None) => {}
            }
        }
    }
    tensors.push(("open.sum".into(), &open.sum));
    let parts = open.heard.iter().enumerate();
    tensors.extend(parts.map(|(i, (.., part))| (format!("open.{i}"), &part[..])));
    let mut models = Vec::new();
    for (number, RoundNumbers { model, shared }) in &checkpoint.rounds {
        let is_newest = model.values() == &x[..];
        models.push((*number, is_newest));
        if !is_newest {
            tensors.push((format!("round.{number}.model"), model.values()));
        }
        tensors.extend(shared.iter().map(|shared| (format!("round.{number}.shared"), &shared[..])));
    }
    let meta = CheckpointMeta {
        format: FORMAT,
        arrivals: position.arrivals,
        rounds: position.rounds,
        evaluations: position.evaluations,
        before_evaluation: position.before_evaluation,
        log_bytes,
        log_digest,
        held: held.len(),
        controls,
        residuals: checkpoint.residuals.len(),
        departed,
        departed_without,
        heard: open.heard.iter().map(|(client, gain, _)| (*client, gain.to_bits())).collect(),
        share: open.share.to_bits(),
        models,
        places: places.iter().map(|((memory, client), file)| (*memory, *client, *file)).collect(),
    };
    let meta = serde_json::to_string(&meta).expect("plain data");
    write_tensors(&folder.join(FILE), &tensors, Some(meta))
}

/// The name of a file with vectors of clients.
pub(super) fn vectors_file(number: u64) -> String {
    format!("vectors-{number}.safetensors")
}

/// The name of a client's vector in it.
pub(super) fn vector_name(memory: Memory, client: u32) -> String {
    match memory {
        Memory::Own => format!("own.{client}"),
        Memory::Residual => format!("residual.{client}"),
    }
}

/// What was kept in `folder` of a run with so many clients; `None` if there is no checkpoint.
pub(super) fn load(folder: &Path, clients: usize) -> Result<Option<Resume>, CheckpointError> {
    if !folder.join(FILE).exists() {
        return Ok(None);
    }
    let mut tensors = NamedVectors::read(folder.join(FILE))?;
    let meta: CheckpointMeta = serde_json::from_str(&tensors.meta)
        .map_err(|error| tensors.broken(format!("what it is of cannot be read: {error}")))?;
    if meta.format != FORMAT {
        return Err(CheckpointError::Format { found: meta.format, expected: FORMAT });
    }
    if meta.evaluations == 0 {
        return Ok(None);
    }
    if [meta.controls, meta.residuals].iter().any(|count| *count != 0 && *count != clients) {
        return Err(tensors.broken(format!("it is not of a run with {clients} clients")));
    }
    let mut memories = memories(folder, &meta)?;
    let x = tensors.take("x")?;
    let mut controls = None;
    if meta.controls > 0 {
        let own: Vec<ControlVector> = (0..meta.controls as u32)
            .map(|client| memories.remove(&(Memory::Own, client)))
            .collect();
        let mut departed = own.clone();
        let without = meta.departed_without.iter().map(|client| (*client, Ok(None)));
        let with = meta.departed.iter().map(|client| {
            (*client, tensors.take(&format!("departed.{client}")).map(|own| Some(Arc::new(own))))
        });
        let mut odd = None;
        for (client, vector) in without.chain(with) {
            match departed.get_mut(client as usize) {
                Some(departed) => *departed = vector?,
                None => odd = Some(client),
            }
        }
        if let Some(client) = odd {
            return Err(tensors.broken(format!("there is no client {client}")));
        }
        let heard = meta.heard.iter().enumerate().map(|(i, (client, gain))| {
            Ok((*client, f64::from_bits(*gain), tensors.take(&format!("open.{i}"))?))
        });
        let heard = heard.collect::<Result<_, CheckpointError>>()?;
        let (sum, share) = (tensors.take("open.sum")?, f64::from_bits(meta.share));
        let open = OpenControls { heard, sum, share };
        let [shared, given] = ["shared", "given"].map(|name| tensors.shared(name));
        controls = Some(ControlsState { shared, given, own, departed, open });
    }
    let residuals: Vec<Residual> = (0..meta.residuals as u32)
        .map(|client| memories.remove(&(Memory::Residual, client)))
        .collect();
    let mut rounds = Vec::new();
    for (number, is_newest) in meta.models {
        let model = match is_newest {
            true => x.clone(),
            false => tensors.take(&format!("round.{number}.model"))?,
        };
        let (model, shared) =
            (Arc::new(Model::new(model)), tensors.shared(&format!("round.{number}.shared")));
        rounds.push((number, RoundNumbers { model, shared }));
    }
    let position = Position {
        arrivals: meta.arrivals,
        rounds: meta.rounds,
        evaluations: meta.evaluations,
        before_evaluation: meta.before_evaluation,
    };
    let checkpoint = Checkpoint {
        position,
        optimizer: tensors.take("optimizer")?,
        direction: tensors.take("direction")?,
        held: (0..meta.held)
            .map(|i| tensors.take(&format!("held.{i}")))
            .collect::<Result<_, _>>()?,
        buffered: tensors.shared("buffered").map(|values| values.to_vec()).unwrap_or_default(),
        x,
        controls,
        residuals,
        rounds,
    };
    Ok(Some(Resume::new(checkpoint, read_log(folder, meta.log_bytes, meta.log_digest)?)))
}

/// How long the log is before the checkpoint in `folder`, if there is one.
pub(super) fn log_bytes(folder: &Path) -> Option<u64> {
    let tensors = NamedVectors::read(folder.join(FILE)).ok()?;
    serde_json::from_str::<CheckpointMeta>(&tensors.meta).ok().map(|meta| meta.log_bytes)
}

/// The vectors of single clients.
fn memories(folder: &Path, meta: &CheckpointMeta) -> Result<Memories, CheckpointError> {
    let mut by_file: BTreeMap<u64, Vec<(Memory, u32)>> = BTreeMap::new();
    for (memory, client, file) in &meta.places {
        by_file.entry(*file).or_default().push((*memory, *client));
    }
    let mut memories = BTreeMap::new();
    for (file, wanted) in by_file {
        let mut tensors = NamedVectors::read(folder.join(vectors_file(file)))?;
        for (memory, client) in wanted {
            let vector = tensors.take(&vector_name(memory, client))?;
            memories.insert((memory, client), Arc::new(vector));
        }
    }
    Ok(memories)
}

/// The log up to the checkpoint; what follows was written for one that never came.
fn read_log(
    folder: &Path,
    bytes: u64,
    digest: u64,
) -> Result<crate::server::RunLog, CheckpointError> {
    let path = folder.join(LOG);
    let mut text = match fs::read(&path) {
        Ok(text) => text,
        Err(_) if bytes == 0 => Vec::new(),
        Err(source) => return Err(CheckpointError::Read { path, source }),
    };
    let is_long_enough = text.len() as u64 >= bytes;
    text.truncate(bytes as usize);
    let whole = is_long_enough && (cfg!(fuzzing) || xxh3_64(&text) == digest);
    let log = String::from_utf8(text).ok().filter(|_| whole).and_then(|text| log::parse(&text));
    let what = "it is not the log of a run, or not all of it".to_string();
    log.ok_or(CheckpointError::Broken { path, what })
}
