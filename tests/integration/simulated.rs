//! Runs scenarios through the library and reads back what they left.

use gruppetto::actors::ClockMode;
use gruppetto::plugins::Plugins;
use gruppetto::report::load_tensors;
use gruppetto::run::{self, Options};
use gruppetto::run_files::Summary;
use gruppetto::scenario::Scenario;
use gruppetto::train::Values;
use std::path::Path;

/// The scenario in `text`.
pub fn scenario(text: &str) -> Scenario {
    Scenario::parse("test.toml", text, &[], None).unwrap_or_else(|error| panic!("{error}"))
}

/// How to run into `folder` with this many threads.
pub fn options(folder: &Path, threads: usize) -> Options {
    Options {
        out: Some(folder.join("run")),
        force: false,
        threads,
        clock_mode: ClockMode::Virtual,
        timing_only: false,
        device: Default::default(),
        ..Options::default()
    }
}

/// A scenario that was run, and its folder.
pub struct Simulated {
    pub summary: Summary,
    folder: tempfile::TempDir,
}

impl Simulated {
    /// Runs `text` with this many threads.
    pub fn run(text: &str, threads: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let summary = run::run(&scenario(text), &options(folder.path(), threads), &Plugins::new())
            .unwrap_or_else(|error| panic!("{error}"));
        Simulated { summary: summary.into(), folder }
    }

    /// A run that is over, in `folder`.
    pub fn new(summary: impl Into<Summary>, folder: tempfile::TempDir) -> Self {
        Simulated { summary: summary.into(), folder }
    }

    /// A file of the run.
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join("run").join(name)).unwrap()
    }

    /// The final x of a quadratic.
    pub fn x(&self, variant: &str) -> Vec<f64> {
        let path = self.folder.path().join(format!("run/model-{variant}.safetensors"));
        match &load_tensors(&path).unwrap()[0].values {
            Values::F64(x) => x.clone(),
            Values::F32(_) => panic!("quadratics are in double precision"),
        }
    }

    /// The rows of a CSV file as the values of these columns.
    pub fn columns<const N: usize>(&self, file: &str, names: [&str; N]) -> Vec<[String; N]> {
        let text = self.file(file);
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let places = names.map(|name| header.iter().position(|column| *column == name).unwrap());
        lines.map(|line| places.map(|place| line[place].to_string())).collect()
    }
}

/// The largest difference between two vectors.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
