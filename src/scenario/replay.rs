//! `trace`: recordings of devices that are replayed.

use super::error::ScenarioError;
use super::render::short;
use super::section::Section;
use super::tree::{Node, Raw};
use crate::clock::Span;
use crate::device::{Assign, Repeat, Replay, TraceStore};
use gruppetto_trace::{Input, Recordings, TraceError, read_store};
use std::cell::RefCell;
use std::sync::Arc;

/// Device names that a message shows.
const SHOWN: usize = 5;

/// Traces that were read: one may be large, and all variants replay the same.
#[derive(Default)]
pub(super) struct TraceStores(RefCell<Vec<(String, String, Arc<TraceStore>)>>);

impl TraceStores {
    /// The recordings of a file whose device's name begins with `prefix`.
    fn read(&self, path: &str, prefix: &str) -> Result<Arc<TraceStore>, TraceError> {
        let mut known = self.0.borrow_mut();
        if let Some((.., trace)) = known.iter().find(|(p, d, _)| p == path && d == prefix) {
            return Ok(Arc::clone(trace));
        }
        let trace = Arc::new(read_store(&Input::file(path), prefix)?);
        known.push((path.into(), prefix.into(), Arc::clone(&trace)));
        Ok(trace)
    }
}

/// Reads the `trace` of a class: a file, or a table with a file and how it is replayed.
pub(super) fn read(node: &Node, traces: &TraceStores) -> Result<Replay, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let Raw::String(_) = &node.value else {
            let error = node.wrong_type("a trace").expected("the name of a file, in quotes");
            return Err(error
                .help("or { file = \"traces/phones.csv\", repeat = true, shift = \"random\" }"));
        };
        let nothing = Node::empty_table(node.at.clone());
        return read_how(&mut Section::open("fleet.class.trace", &nothing)?, node, traces);
    };
    let mut section = Section::open("fleet.class.trace", node)?;
    let file = section.require("file", "the trace, relative to the folder of the scenario")?;
    let replay = read_how(&mut section, file, traces)?;
    section.finish("here")?;
    Ok(replay)
}

/// Reads the `links` of a class: a trace that tells them, and how it is replayed.
pub(super) fn read_links(node: &Node, traces: &TraceStores) -> Result<Replay, ScenarioError> {
    let mut section = Section::open("fleet.class.links", node)?;
    let file = section.require("trace", "a trace with a column `up` or `down`")?;
    let replay = read_how(&mut section, file, traces)?;
    section.finish("here")?;
    if !replay.trace.tells_some_link() {
        let error = file.at.error("the trace does not tell how fast links are");
        return Err(error.expected("a trace with a column `up` or `down`"));
    }
    Ok(replay)
}

/// Reads a `file` and the keys that say how it is replayed.
pub(super) fn read_how(
    section: &mut Section<'_>,
    file: &Node,
    traces: &TraceStores,
) -> Result<Replay, ScenarioError> {
    let path = file.text()?;
    let devices = section.get("devices");
    let prefix = devices.map_or(Ok(""), Node::text)?;
    let repeat_at = section.get("repeat");
    let repeat = repeat_at.map_or(Ok(Repeat::Never), read_repeat)?;
    let shifts = [("none", false), ("random", true)];
    let shifted = section
        .get("shift")
        .map_or(Ok(false), |node| node.one_of("fleet.class.trace.shift", "shift", &shifts))?;
    let assigns = [("in-order", Assign::InOrder), ("random", Assign::Random)];
    let assign = section.get("assign").map_or(Ok(Assign::InOrder), |node| {
        node.one_of("fleet.class.trace.assign", "assign", &assigns)
    })?;
    let trace = traces.read(path, prefix).map_err(|error| unreadable(file, &error))?;
    if trace.is_empty() {
        return Err(nobody(file, devices.map(|node| (node, prefix))));
    }
    if !trace.tells_speeds() && !trace.tells_availability() {
        let error = file.at.error("the trace says when recordings end, and nothing else");
        return Err(error.expected("how fast devices are, or when they are there"));
    }
    match repeat_at {
        Some(node) if repeat == Repeat::AtItsEnd && !trace.knows_its_ends() => {
            let error = node.at.error("not every recording of the trace says when it ends");
            Err(error
                .expected("an end to begin again at, or how often: `repeat = \"24h\"`")
                .help("a last row with nothing but device and time ends a recording"))
        }
        _ => Ok(Replay { trace, repeat, shifted, assign }),
    }
}

/// As short as anything that comes and goes: a run goes through every change there is.
const SHORTEST: Span = Span::from_nanos(1_000_000);

fn read_repeat(node: &Node) -> Result<Repeat, ScenarioError> {
    match &node.value {
        Raw::Bool(false) => Ok(Repeat::Never),
        Raw::Bool(true) => Ok(Repeat::AtItsEnd),
        Raw::String(_) => node
            .duration()
            .and_then(|every| match every {
                every if every >= SHORTEST => Ok(Repeat::Every(every)),
                _ => {
                    let error = node.at.error("a recording cannot begin again so soon");
                    Err(error.expected("1ms or more"))
                }
            })
            .map_err(|error| error.note("or `true`: when the recording ends")),
        _ => Err(node
            .wrong_type("`true`, `false` or a duration")
            .expected("`true`: when the recording ends; or how often, such as \"24h\"")),
    }
}

/// What the trace says is wrong, at the place where the scenario names it.
fn unreadable(file: &Node, error: &TraceError) -> ScenarioError {
    let brief = error.brief();
    if let Some(why) = brief.strip_prefix("cannot read: ") {
        let error = file.at.error(format!("cannot read the trace: {why}"));
        return error
            .expected("a CSV file, gzipped or not, relative to the folder of the scenario");
    }
    let said = file.at.error(format!("in the trace, {brief}"));
    let said = match error.advice() {
        Some(advice) => said.help(advice),
        None => said,
    };
    said.note("`gruppetto trace inspect` tells all that is wrong with a trace")
}

/// Nothing was selected; says what there is.
fn nobody(file: &Node, devices: Option<(&Node, &str)>) -> ScenarioError {
    let Some((node, prefix)) = devices else {
        return file.at.error("the trace has no recordings").expected("one device or more");
    };
    let names: Vec<String> = file
        .text()
        .ok()
        .and_then(|path| Recordings::open(path).ok())
        .into_iter()
        .flatten()
        .map_while(Result::ok)
        .take(SHOWN)
        .map(|recording| short(&recording.device))
        .collect();
    let error = node
        .at
        .error(format!("no device of the trace has a name that begins with \"{}\"", short(prefix)));
    error.expected(format_args!("the beginning of names such as: {}", names.join(", ")))
}
