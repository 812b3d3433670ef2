//! `[task] kind = "images"` and `kind = "table"`: data from files, and the model that learns it.

use super::files_task::FilesTask;
use super::{Found, Given, MOST_PARAMETERS};
use crate::data::{
    Augment, Backend, Cost, DataError, DataFolders, Dataset, Init, KNOWN, KnownDataset, Loss,
    ModelConfig, TableConfig,
};
use crate::scenario::error::ScenarioError;
use crate::scenario::section::Section;
use crate::scenario::tree::Node;
use crate::scenario::{model, partition};
use std::cell::RefCell;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Data sets that were read: one may be large, and all variants and seeds share it.
#[derive(Default)]
pub(in crate::scenario) struct Shelf(RefCell<Vec<(Wanted, Arc<Dataset>)>>);

/// What was asked for.
#[derive(Clone, PartialEq)]
enum Wanted {
    Images(&'static str, DataFolders),
    Table(TableConfig),
}

impl Shelf {
    fn get(&self, wanted: Wanted) -> Result<Arc<Dataset>, DataError> {
        let mut known = self.0.borrow_mut();
        if let Some((_, data)) = known.iter().find(|(other, _)| *other == wanted) {
            return Ok(data.clone());
        }
        let data = Arc::new(match &wanted {
            Wanted::Images(name, places) => {
                let known = KnownDataset::named(name).expect("only known names are asked for");
                known.load(places)?
            }
            Wanted::Table(config) => config.load()?,
        });
        known.push((wanted, data.clone()));
        Ok(data)
    }
}

/// Which of the two kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileTaskKind {
    Images,
    Table,
}

/// What reading a task from files needs to know besides its keys.
pub(in crate::scenario) struct Desk<'a> {
    pub shelf: &'a Shelf,
    /// The seeds that the scenario is run with.
    pub seeds: Range<u64>,
}

/// Reads the keys of a task of images.
pub(super) fn read_images(
    section: &mut Section<'_>,
    given: &Given<'_>,
) -> Result<Found, ScenarioError> {
    read(section, FileTaskKind::Images, given)
}

/// Reads the keys of a task of a table.
pub(super) fn read_table(
    section: &mut Section<'_>,
    given: &Given<'_>,
) -> Result<Found, ScenarioError> {
    read(section, FileTaskKind::Table, given)
}

/// Reads the keys of such a task, and the number of clients that follows.
fn read(
    section: &mut Section<'_>,
    format: FileTaskKind,
    given: &Given<'_>,
) -> Result<Found, ScenarioError> {
    let Given { clients, desk } = given;
    let model_at = section.get("model");
    let model = model_at.map_or(Ok(ModelConfig::Softmax), model::read)?;
    let backend = model::read_backend(section, &model, model_at)?;
    let augment = match format {
        FileTaskKind::Images => read_augment(section, backend)?,
        FileTaskKind::Table => Augment::None,
    };
    let partition_at = section.get("partition");
    let mut spread = section.open_in("partition")?;
    let (wanted, at) = match format {
        FileTaskKind::Images => wanted_images(section)?,
        FileTaskKind::Table => wanted_table(section, &mut spread, &model)?,
    };
    let data = desk.shelf.get(wanted).map_err(|error| told(at, &error))?;
    let (clients_at, asked) = clients.unzip();
    let (partition, number) = partition::read(&mut spread, &data, clients_at, asked)?;
    spread.finish(match format {
        FileTaskKind::Images => "with kind = \"images\"",
        FileTaskKind::Table => "here",
    })?;
    let blame = partition_at.or(clients_at).unwrap_or(at);
    partition::check(&partition, &data, number, desk.seeds.clone(), blame)?;
    let cost = cost(&model, &data, model_at.unwrap_or(at))?;
    let init = if model.is_deep() { Init::Default } else { Init::Zeros };
    let problem = FilesTask { data, partition, augment, model, backend, cost };
    Ok(Found { clients: number, init, problem: Arc::new(problem) })
}

fn wanted_images<'a>(section: &mut Section<'a>) -> Result<(Wanted, &'a Node), ScenarioError> {
    let node = section.require("dataset", "which images, such as \"fashion-mnist\"")?;
    let names: Vec<(&'static str, &'static str)> =
        KNOWN.iter().map(|known| (known.name, known.name)).collect();
    let name = node.one_of("task.dataset", "data set", &names)?;
    let path = section.get("path");
    let places = match path {
        Some(path) => DataFolders::Only(PathBuf::from(path.text()?)),
        None => DataFolders::usual(),
    };
    Ok((Wanted::Images(name, places), path.unwrap_or(node)))
}

fn wanted_table<'a>(
    section: &mut Section<'a>,
    spread: &mut Section<'_>,
    model: &ModelConfig,
) -> Result<(Wanted, &'a Node), ScenarioError> {
    let file = section.require("file", "the table: an .npz, .csv or .svm file")?;
    let mut name = |key| section.get(key).map(|node| node.text().map(String::from)).transpose();
    let (label, client) = (name("label")?, name("client")?);
    let standardize = section.get("standardize").map_or(Ok(false), Node::truth)?;
    let test_fraction = spread.get("test_fraction").map(|node| {
        node.number_that("test_fraction", "a part from 0 to 0.9", |part| {
            (0.0..=0.9).contains(&part)
        })
    });
    let real_targets = matches!(model, ModelConfig::TorchScript { loss: Loss::Mse, .. });
    let test_fraction = test_fraction.transpose()?;
    let path = PathBuf::from(file.text()?);
    let config =
        TableConfig { file: path, label, client, real_targets, test_fraction, standardize };
    Ok((Wanted::Table(config), file))
}

fn read_augment(section: &mut Section<'_>, backend: Backend) -> Result<Augment, ScenarioError> {
    let kinds = [("none", Augment::None), ("crop-flip", Augment::CropFlip)];
    let Some(node) = section.get("augment") else {
        return Ok(Augment::None);
    };
    match (node.one_of("task.augment", "augment", &kinds)?, backend) {
        (Augment::CropFlip, Backend::Native) => {
            let error = node.at.error("the native softmax learns images as they are");
            Err(error.expected("\"none\", or a model that libtorch runs"))
        }
        (augment, _) => Ok(augment),
    }
}

fn cost(model: &ModelConfig, data: &Dataset, at: &Node) -> Result<Cost, ScenarioError> {
    if let (least @ 2.., &[_, height, width]) = (model.least_side(), &data.shape[..])
        && height.min(width) < least
    {
        let what = format!("model \"{}\" halves images until nothing is left", model.name());
        let error = at.at.error(format!("{what} of {height} × {width}"));
        return Err(error.expected(format_args!("images of {least} × {least} or more")));
    }
    let cost = match (model.cost(&data.shape, data.classes), model) {
        (Some(cost), _) => cost,
        // Only the module itself knows its size.
        #[cfg(feature = "torch")]
        (None, ModelConfig::TorchScript { path, loss }) => {
            gruppetto_torch::inspect_script(path, data, *loss).map_err(|error| {
                let error = at.at.error(error.to_string());
                error.expected("a file that torch.jit.script(net).save(\"net.pt\") writes")
            })?
        }
        #[cfg(not(feature = "torch"))]
        (None, ModelConfig::TorchScript { .. }) => Cost { parameters: 0, flops: 0.0, units: 0.0 },
        (None, _) => {
            let what = format!("model \"{}\" needs images, not rows of numbers", model.name());
            return Err(at.at.error(what).expected("\"softmax\" or \"mlp\""));
        }
    };
    match cost.parameters as u64 > MOST_PARAMETERS {
        true => Err(at
            .at
            .error("the model has too many parameters")
            .expected(format_args!("up to {MOST_PARAMETERS}"))),
        false => Ok(cost),
    }
}

/// What is wrong with a file, at the place where the scenario names it.
pub(in crate::scenario) fn told(node: &Node, error: &DataError) -> ScenarioError {
    let mut said = node.at.error(error.brief());
    if let Some(wanted) = error.wanted() {
        said = said.expected(wanted);
    }
    for help in error.advice() {
        said = said.help(help);
    }
    match error.file() {
        Some(file) => said.note(format_args!("the file is {}", file.display())),
        None => said,
    }
}
