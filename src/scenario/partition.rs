//! `[task.partition]`: how a data set is spread over clients.

use super::error::ScenarioError;
use super::section::Section;
use super::task::told;
use super::tree::{Node, Raw};
use crate::data::{Dataset, PartitionConfig, PartitionError, PartitionScheme, read_split};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Below this a Dirichlet distribution gives everything to one client, as far as numbers can tell.
const LEAST_ALPHA: f64 = 1e-6;
/// Every client has so many samples at least, unless something else is asked.
const USUAL_MIN_SIZE: usize = 10;

/// Reads the keys of `[task.partition]` that say how `data` is spread, and how many clients there are
/// then; `clients` is where the task asks for how many.
pub(super) fn read(
    section: &mut Section<'_>,
    data: &Dataset,
    clients: Option<&Node>,
    asked: Option<usize>,
) -> Result<(PartitionConfig, usize), ScenarioError> {
    let given = section.get("scheme");
    let scheme = match given {
        Some(node) => read_scheme(node, data)?,
        None if data.clients.is_some() => PartitionScheme::Natural,
        None => PartitionScheme::Iid,
    };
    let usual = if matches!(scheme, PartitionScheme::Dirichlet(_)) { USUAL_MIN_SIZE } else { 1 };
    let min_size = match section.get("min_size") {
        Some(node) => node.whole("min_size", 1..=1_000_000_000)? as usize,
        None => usual,
    };
    let fixed = match &scheme {
        PartitionScheme::File(indices) => Some((indices.len(), "the split file")),
        PartitionScheme::Natural => {
            data.clients.as_ref().map(|clients| (clients.names.len(), "the data"))
        }
        _ => None,
    };
    let number = match (fixed, asked, clients) {
        (Some((found, whose)), Some(asked), Some(node)) if asked != found => {
            let error = node.at.error(format!("{whose} has {found} clients, not {asked}"));
            return Err(error.expected(format_args!("no `clients`, or {found}")));
        }
        (Some((found, _)), ..) => found,
        (None, Some(asked), _) => asked,
        (None, None, _) => 30,
    };
    Ok((PartitionConfig { scheme, min_size }, number))
}

fn read_scheme(node: &Node, data: &Dataset) -> Result<PartitionScheme, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let names = [("iid", false), ("natural", true)];
        let natural = node.one_of_or_table("task.partition.scheme", "scheme", &names)?;
        return match (natural, &data.clients) {
            (false, _) => Ok(PartitionScheme::Iid),
            (true, Some(_)) => Ok(PartitionScheme::Natural),
            (true, None) => {
                let error = node.at.error("the data does not say whose a sample is");
                Err(error
                    .expected("kind = \"table\" with a column or array that names the client")
                    .help("name it in [task]: `client = \"user\"`"))
            }
        };
    };
    let mut section = Section::open("task.partition.scheme", node)?;
    let (which, value) = section.exactly_one(&["dirichlet", "shards", "file"])?;
    let by_class = |scheme| match data.classes {
        0 => {
            let error = value.at.error("the targets are real numbers, and this goes by classes");
            Err(error.expected("\"iid\", \"natural\" or { file = \"split.json\" }"))
        }
        _ => Ok(scheme),
    };
    match which {
        "dirichlet" => {
            let alpha = value.number_that(
                "dirichlet",
                "a concentration from 1e-6 to 1e6; smaller means more different",
                |alpha| (LEAST_ALPHA..=1e6).contains(&alpha),
            )?;
            by_class(PartitionScheme::Dirichlet(alpha))
        }
        "shards" => {
            by_class(PartitionScheme::Shards(value.whole("shards", 1..=1_000_000)? as usize))
        }
        _ => {
            let indices = read_split(Path::new(value.text()?), data.train.len());
            indices
                .map(|all| PartitionScheme::File(Arc::new(all)))
                .map_err(|error| told(value, &error))
        }
    }
}

/// Whether the data can be spread so, with every seed the scenario is run with.
pub(super) fn check(
    partition: &PartitionConfig,
    data: &Dataset,
    clients: usize,
    seeds: Range<u64>,
    at: &Node,
) -> Result<(), ScenarioError> {
    // Nobody else's sizes depend on the seed.
    let needed = match partition.scheme {
        PartitionScheme::Dirichlet(_) | PartitionScheme::Shards(_) => seeds,
        _ => seeds.start..seeds.start + 1,
    };
    needed.into_iter().try_for_each(|seed| {
        let Err(error) = partition.sizes(data, clients, seed) else {
            return Ok(());
        };
        let said = at.at.error(error.to_string());
        Err(match error {
            PartitionError::TooMany { .. } => {
                said.expected("fewer clients, or a smaller `min_size` or `shards`")
            }
            PartitionError::Unlucky { .. } => said
                .expected("a larger `dirichlet`, fewer clients, or a smaller `min_size`")
                .help("try `--set task.partition.min_size=1`"),
            _ => said.expected("a smaller `min_size`, or another split"),
        })
    })
}
