//! Tables that a scenario names by file: npz, csv or libsvm.

use super::error::{DataError, shown};
use super::file::{self, RawTable, columns, npz, svm};
use super::{Dataset, Features, NaturalClients, Samples, Targets, moments};
use crate::random::{Purpose, shuffle, stream};
use std::path::{Path, PathBuf};

/// `[task] kind = "table"`: which file, and how it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConfig {
    /// The file.
    pub file: PathBuf,
    /// The column or array of targets; `y` if `None`.
    pub label: Option<String>,
    /// The column or array that says whose a sample is.
    pub client: Option<String>,
    /// Whether targets are real numbers rather than classes.
    pub real_targets: bool,
    /// Which part of the samples is put aside for testing; a tenth if `None`. Only where the file has
    /// no test set of its own.
    pub test_fraction: Option<f64>,
    /// Whether every column is brought to mean 0 and standard deviation 1 over the training set.
    pub standardize: bool,
}

/// Which part of the samples is put aside for testing by default.
const USUAL_FRACTION: f64 = 0.1;

/// More classes than this are surely real numbers.
const MOST_CLASSES: usize = 1_000_000;

impl TableConfig {
    /// Reads the table.
    pub fn load(&self) -> Result<Dataset, DataError> {
        let file = &self.file;
        let (label, client) = (self.label.as_deref(), self.client.as_deref());
        let name = file.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let kind = name.strip_suffix(".gz").unwrap_or(&name).rsplit('.').next().unwrap_or("");
        let (train, test) = match kind {
            "npz" => npz::parse(file, &file::read(file)?, label, client)?,
            "csv" => (columns::parse(file, &file::read(file)?, label, client)?, None),
            "svm" | "libsvm" => {
                if let Some(key) = label.map(|_| "label").or(client.map(|_| "client")) {
                    let what = format!("the libsvm format has no columns for `{key}` to name");
                    return Err(DataError::new(file, what));
                }
                (svm::parse(file, &file::read(file)?)?, None)
            }
            _ => {
                let error = DataError::new(file, "the name does not tell the format");
                return Err(error.expected("a name that ends in .npz, .csv, .svm or .libsvm"));
            }
        };
        self.assemble(name, train, test)
    }

    fn assemble(
        &self,
        name: String,
        train: RawTable,
        test: Option<RawTable>,
    ) -> Result<Dataset, DataError> {
        let file = &self.file;
        for part in [Some(&train), test.as_ref()].into_iter().flatten() {
            self.check(part)?;
        }
        if train.y.is_empty() {
            return Err(DataError::new(file, "it has no samples").expected("one or more"));
        }
        let (targets, class_names) =
            self.targets(&train.y, test.as_ref().map(|test| &test.y[..]))?;
        let RawTable { shape, x, clients, .. } = train;
        let features: usize = shape.iter().product();
        let [y, y_test] = targets;
        let all = Samples { x, y };
        if test.is_some() && self.test_fraction.is_some() {
            let error = DataError::new(file, "it has a test set of its own");
            return Err(error.expected("no `test_fraction`"));
        }
        let fraction = self.test_fraction.unwrap_or(USUAL_FRACTION);
        let (mut train, mut test, clients) = match test {
            Some(test) => (all, Samples { x: test.x, y: y_test }, clients),
            None => {
                let (kept, aside) = split(all.len(), clients.as_ref(), fraction);
                let clients = clients.map(|clients| NaturalClients {
                    of: kept.iter().map(|i| clients.of[*i as usize]).collect(),
                    names: clients.names,
                });
                (all.select(&kept, features), all.select(&aside, features), clients)
            }
        };
        let (mut mean, mut std) = (Vec::new(), Vec::new());
        match (&mut train.x, &mut test.x) {
            (Features::Bytes(pixels), _) if !self.standardize => {
                (mean, std) = moments(pixels, shape[0], shape[1] * shape[2]);
            }
            (Features::Floats(train), Features::Floats(test)) if self.standardize => {
                standardize(train, test, features);
            }
            (Features::Bytes(_), _) => {
                let error = DataError::new(file, "its samples are images");
                return Err(error.expected("no `standardize`: images always are, by channel"));
            }
            _ => {}
        }
        let classes = class_names.len();
        Ok(Dataset { name, shape, classes, class_names, train, test, mean, std, clients })
    }

    fn check(&self, part: &RawTable) -> Result<(), DataError> {
        let wrong = |what: String| Err(DataError::new(&self.file, what));
        if part.y.len() > u32::MAX as usize {
            return wrong("it has more than 4 billion samples".into());
        }
        let features: usize = part.shape.iter().product();
        if let Features::Floats(x) = &part.x
            && let Some(at) = x.iter().position(|x| !x.is_finite())
        {
            let what =
                format!("feature {} of sample {} is {}", at % features, at / features, x[at]);
            return Err(DataError::new(&self.file, what).expected("a finite number"));
        }
        match part.y.iter().position(|y| !(*y as f32).is_finite()) {
            Some(at) => wrong(format!("the target of sample {at} is {}", part.y[at])),
            None => Ok(()),
        }
    }

    /// Targets of the training and test set, and the names of the classes: the labels there are, in
    /// numeric order.
    fn targets(
        &self,
        train: &[f64],
        test: Option<&[f64]>,
    ) -> Result<([Targets; 2], Vec<String>), DataError> {
        let both = [train, test.unwrap_or(&[])];
        if self.real_targets {
            let narrow = |y: &[f64]| Targets::Values(y.iter().map(|y| *y as f32).collect());
            return Ok((both.map(narrow), Vec::new()));
        }
        let wrong = |what: String| DataError::new(&self.file, what);
        if let Some((at, y)) = train.iter().enumerate().find(|(_, y)| y.fract() != 0.0) {
            let error = wrong(format!("the label of sample {at} is {y}"));
            return Err(error
                .expected("classes as whole numbers")
                .help("to predict real numbers, use a TorchScript model with `loss = \"mse\"`"));
        }
        // Both zeros are one class.
        let whole = |y: &f64| y + 0.0;
        let mut known: Vec<f64> = train.iter().map(whole).collect();
        known.sort_by(f64::total_cmp);
        known.dedup();
        match known.len() {
            0 | 1 => {
                return Err(wrong("all labels are the same".into()).expected("2 classes or more"));
            }
            found if found > MOST_CLASSES => {
                return Err(wrong(format!("it has {found} classes")).expected("up to a million"));
            }
            _ => {}
        }
        let class = |y: &f64| known.binary_search_by(|known| known.total_cmp(&whole(y)));
        let y = train.iter().map(|y| class(y).expect("every label is known") as u32).collect();
        let tested: Result<Vec<u32>, DataError> = both[1]
            .iter()
            .map(|y| {
                let unknown = |_| {
                    wrong(format!(
                        "label {} of the test set is out of range",
                        shown(&y.to_string())
                    ))
                    .expected("labels that the training set has")
                };
                class(y).map(|class| class as u32).map_err(unknown)
            })
            .collect();
        let names = known.iter().map(|label| (*label + 0.0).to_string()).collect();
        Ok(([Targets::Classes(y), Targets::Classes(tested?)], names))
    }
}

/// Which samples are kept for training and which are put aside for testing, both ascending. The draw
/// depends on the data alone: all seeds test with the same samples. Nobody is left without any.
fn split(all: usize, clients: Option<&NaturalClients>, fraction: f64) -> (Vec<u32>, Vec<u32>) {
    let mut left = match clients {
        Some(clients) => {
            let mut left = vec![0usize; clients.names.len()];
            clients.of.iter().for_each(|client| left[*client as usize] += 1);
            left
        }
        None => vec![all],
    };
    let wanted = (fraction * all as f64).round() as usize;
    let mut order: Vec<u32> = (0..all as u32).collect();
    shuffle(&mut order, &mut stream(0, Purpose::Partition, 0, u64::MAX));
    let (mut kept, mut aside) = (Vec::new(), Vec::new());
    for sample in order {
        let owner = clients.map_or(0, |clients| clients.of[sample as usize] as usize);
        if aside.len() < wanted && left[owner] > 1 {
            left[owner] -= 1;
            aside.push(sample);
        } else {
            kept.push(sample);
        }
    }
    kept.sort_unstable();
    aside.sort_unstable();
    (kept, aside)
}

/// Brings every column to mean 0 and standard deviation 1 over the training set.
fn standardize(train: &mut [f32], test: &mut [f32], features: usize) {
    let rows = (train.len() / features) as f64;
    for column in 0..features {
        let values = || train.iter().skip(column).step_by(features).map(|x| f64::from(*x));
        let mean = values().sum::<f64>() / rows;
        let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / rows;
        let std = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        for part in [&mut *train, &mut *test] {
            for x in part.iter_mut().skip(column).step_by(features) {
                *x = ((f64::from(*x) - mean) / std) as f32;
            }
        }
    }
}

/// Reads bytes as if they were the file of that name, for those who break them.
#[doc(hidden)]
pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Dataset, DataError> {
    let file = Path::new(name);
    let config = TableConfig {
        file: file.into(),
        label: None,
        client: None,
        real_targets: false,
        test_fraction: None,
        standardize: false,
    };
    let (train, test) = match name.rsplit('.').next() {
        Some("npz") => npz::parse(file, bytes, None, None)?,
        Some("csv") => (columns::parse(file, bytes, None, None)?, None),
        Some("svm") => (svm::parse(file, bytes)?, None),
        Some("bin") => {
            let (mut pixels, mut labels) = (Vec::new(), Vec::new());
            file::cifar::parse(file, bytes, 1, 10, (&mut pixels, &mut labels))?;
            let y = labels.into_iter().map(f64::from).collect();
            (
                RawTable { shape: vec![3, 32, 32], x: Features::Bytes(pixels), y, clients: None },
                None,
            )
        }
        _ => {
            let found = file::idx::parse(file, bytes.to_vec(), 1)?;
            let y: Vec<f64> = found.values.iter().map(|v| f64::from(*v)).collect();
            (
                RawTable {
                    shape: vec![1, 1, 1],
                    x: Features::Bytes(found.values),
                    y,
                    clients: None,
                },
                None,
            )
        }
    };
    config.assemble(name.into(), train, test)
}

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;
