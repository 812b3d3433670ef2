//! The image data sets that are known by name, and where they are looked for.

use super::error::DataError;
use super::file::{self, cifar, idx};
use super::{Dataset, Features, Samples, Targets, moments};
use std::path::{Path, PathBuf};

/// A data set that is known by name.
pub struct KnownDataset {
    /// Its name in `[task] dataset`.
    pub name: &'static str,
    classes: u32,
    form: Form,
    /// Folders that others put it in, below a place where data sets are kept.
    folders: &'static [&'static str],
    /// How to get it, as commands.
    help: &'static [&'static str],
}

/// In which files it comes.
enum Form {
    /// Images and labels as idx; names begin with these words for training and for testing, and
    /// labels begin at a number.
    Idx([&'static str; 2], u32),
    /// CIFAR's records, with so many label bytes.
    Cifar(&'static [&'static str], &'static str, usize),
}

const fn emnist(
    name: &'static str,
    heads: [&'static str; 2],
    classes: u32,
    from: u32,
) -> KnownDataset {
    let folders = &["EMNIST/raw", "emnist", "gzip"];
    let help = &["mkdir -p data && curl -L -o data/emnist.zip \
         https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip && unzip -j data/emnist.zip -d \
         data/emnist"];
    KnownDataset { name, classes, form: Form::Idx(heads, from), folders, help }
}

/// All of them.
pub const KNOWN: &[KnownDataset] = &[
    KnownDataset {
        name: "mnist",
        classes: 10,
        form: Form::Idx(["train", "t10k"], 0),
        folders: &["MNIST/raw"],
        help: &["scripts/get-data mnist"],
    },
    KnownDataset {
        name: "fashion-mnist",
        classes: 10,
        form: Form::Idx(["train", "t10k"], 0),
        folders: &["FashionMNIST/raw"],
        help: &["scripts/get-data fashion-mnist", "apt-get install dataset-fashion-mnist"],
    },
    emnist("emnist-balanced", ["emnist-balanced-train", "emnist-balanced-test"], 47, 0),
    emnist("emnist-byclass", ["emnist-byclass-train", "emnist-byclass-test"], 62, 0),
    emnist("emnist-bymerge", ["emnist-bymerge-train", "emnist-bymerge-test"], 47, 0),
    emnist("emnist-digits", ["emnist-digits-train", "emnist-digits-test"], 10, 0),
    emnist("emnist-letters", ["emnist-letters-train", "emnist-letters-test"], 26, 1),
    emnist("emnist-mnist", ["emnist-mnist-train", "emnist-mnist-test"], 10, 0),
    KnownDataset {
        name: "cifar10",
        classes: 10,
        form: Form::Cifar(
            &[
                "data_batch_1.bin",
                "data_batch_2.bin",
                "data_batch_3.bin",
                "data_batch_4.bin",
                "data_batch_5.bin",
            ],
            "test_batch.bin",
            1,
        ),
        folders: &["cifar-10-batches-bin"],
        help: &["scripts/get-data cifar10"],
    },
    KnownDataset {
        name: "cifar100",
        classes: 100,
        form: Form::Cifar(&["train.bin"], "test.bin", 2),
        folders: &["cifar-100-binary"],
        help: &["mkdir -p data && curl -L \
                 https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz | tar xz -C data"],
    },
];

/// The folders in which data sets are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataFolders {
    /// In this folder alone, or in a folder of the usual name below it.
    Only(PathBuf),
    /// Below these folders, in this order.
    Below(Vec<PathBuf>),
}

impl DataFolders {
    /// `$GRUPPETTO_DATA`, `./data`, the user's cache, the system's data sets, `~/data`.
    pub fn usual() -> DataFolders {
        let of = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = std::env::home_dir();
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let cache = of("XDG_CACHE_HOME").or_else(|| below_home(".cache"));
        let places = [
            of("GRUPPETTO_DATA"),
            Some("data".into()),
            cache.map(|cache| cache.join("gruppetto/data")),
            Some("/usr/share/datasets".into()),
            below_home(".cache/torchvision"),
            below_home("data"),
        ];
        DataFolders::Below(places.into_iter().flatten().collect())
    }

    fn folders(&self, known: &KnownDataset) -> Vec<PathBuf> {
        let below = |place: &PathBuf| {
            let names = std::iter::once(known.name).chain(known.folders.iter().copied());
            names.map(|name| place.join(name)).collect::<Vec<_>>()
        };
        match self {
            DataFolders::Only(path) => std::iter::once(path.clone()).chain(below(path)).collect(),
            DataFolders::Below(places) => places.iter().flat_map(below).collect(),
        }
    }
}

impl KnownDataset {
    /// The data set of that name.
    pub fn named(name: &str) -> Option<&'static KnownDataset> {
        KNOWN.iter().find(|known| known.name == name)
    }

    /// Finds and reads it.
    pub fn load(&self, places: &DataFolders) -> Result<Dataset, DataError> {
        let folders = places.folders(self);
        let first = self.names()[0].clone();
        let folder = folders.iter().find(|folder| spelled(folder, &first).is_some());
        let folder = folder.ok_or_else(|| self.missing(places, &folders))?;
        let found: Vec<PathBuf> = self
            .names()
            .iter()
            .map(|name| {
                spelled(folder, name).ok_or_else(|| {
                    let error = DataError::new(&folder.join(name), "the file is missing");
                    self.advise(error.expected(format!("it beside {first}")))
                })
            })
            .collect::<Result<_, _>>()?;
        let (shape, train, test) = match &self.form {
            Form::Idx(_, from) => self.load_idx(&found, *from)?,
            Form::Cifar(_, _, label_bytes) => self.load_cifar(&found, *label_bytes)?,
        };
        let Features::Bytes(pixels) = &train.x else { unreachable!("images are bytes") };
        let (mean, std) = moments(pixels, shape[0], shape[1] * shape[2]);
        let from = if let Form::Idx(_, from) = self.form { from } else { 0 };
        Ok(Dataset {
            name: self.name.into(),
            shape,
            classes: self.classes as usize,
            class_names: (from..from + self.classes).map(|class| class.to_string()).collect(),
            train,
            test,
            mean,
            std,
            clients: None,
        })
    }

    /// The names of its files: training, then testing.
    fn names(&self) -> Vec<String> {
        match &self.form {
            Form::Idx(heads, _) => heads
                .iter()
                .flat_map(|head| {
                    ["images-idx3-ubyte", "labels-idx1-ubyte"].map(|tail| format!("{head}-{tail}"))
                })
                .collect(),
            Form::Cifar(train, test, _) => {
                train.iter().chain([test]).map(|name| name.to_string()).collect()
            }
        }
    }

    fn load_idx(&self, files: &[PathBuf], from: u32) -> Result<Loaded, DataError> {
        let part = |images: &Path, labels: &Path| {
            let found = idx::parse(images, file::read(images)?, 3)?;
            if found.shape[1..] != [28, 28] {
                let what =
                    format!("its images have {} × {} pixels", found.shape[1], found.shape[2]);
                return Err(DataError::new(images, what).expected("28 × 28"));
            }
            let given = idx::parse(labels, file::read(labels)?, 1)?;
            let (count, labelled) = (found.shape[0], given.shape[0]);
            if count != labelled {
                let what = format!("{labelled} labels for {count} images");
                return Err(DataError::new(labels, what).expected("one label per image"));
            }
            some(images, count)?;
            let label = |(index, label): (usize, &u8)| {
                let class = u32::from(*label).checked_sub(from).filter(|c| *c < self.classes);
                class.ok_or_else(|| {
                    let what = format!("label {label} of image {index} is out of range");
                    let wanted = format!("{from} to {}", from + self.classes - 1);
                    DataError::new(labels, what).expected(wanted)
                })
            };
            let y = given.values.iter().enumerate().map(label).collect::<Result<_, _>>()?;
            Ok(Samples { x: Features::Bytes(found.values), y: Targets::Classes(y) })
        };
        let (train, test) = (part(&files[0], &files[1])?, part(&files[2], &files[3])?);
        Ok((vec![1, 28, 28], train, test))
    }

    fn load_cifar(&self, files: &[PathBuf], label_bytes: usize) -> Result<Loaded, DataError> {
        let part = |files: &[PathBuf]| {
            let (mut pixels, mut labels) = (Vec::new(), Vec::new());
            for path in files {
                let bytes = file::read(path)?;
                let is_first = pixels.is_empty();
                let into = (&mut pixels, &mut labels);
                cifar::parse(path, &bytes, label_bytes, self.classes, into)?;
                if is_first {
                    // All of them are of one size.
                    pixels.reserve_exact(pixels.len() * (files.len() - 1));
                }
            }
            Ok(Samples { x: Features::Bytes(pixels), y: Targets::Classes(labels) })
        };
        let (test, train) = files.split_last().expect("a data set has files");
        Ok((vec![3, 32, 32], part(train)?, part(std::slice::from_ref(test))?))
    }

    fn missing(&self, places: &DataFolders, folders: &[PathBuf]) -> DataError {
        let error = DataError::general(format!("the data set \"{}\" is not here", self.name));
        let first = &self.names()[0];
        let shown = |folder: &PathBuf| folder.display().to_string();
        let list: Vec<String> = match places {
            DataFolders::Only(path) => vec![shown(path)],
            DataFolders::Below(_) => {
                let own = folders.iter().filter(|folder| folder.ends_with(self.name));
                own.map(shown).collect()
            }
        };
        self.advise(error.expected(format!("`{first}`, gzipped or not, in {}", list.join(", "))))
    }

    fn advise(&self, error: DataError) -> DataError {
        match self.help {
            [get] => error.help(format!("get it with `{get}`")),
            [get, or @ ..] => error.help(format!("get it with `{get}` or `{}`", or.join("` or `"))),
            [] => error,
        }
    }
}

/// Shape, training and test samples.
type Loaded = (Vec<usize>, Samples, Samples);

fn some(file: &Path, count: usize) -> Result<(), DataError> {
    match count {
        0 => Err(DataError::new(file, "it has no images").expected("one or more")),
        _ => Ok(()),
    }
}

/// A file of that name, gzipped or not, with the dot that some copies have before `idx`.
fn spelled(folder: &Path, name: &str) -> Option<PathBuf> {
    let dotted = name.replace("-idx", ".idx");
    [name.to_string(), format!("{name}.gz"), dotted.clone(), format!("{dotted}.gz")]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
}

#[cfg(test)]
#[path = "images/tests.rs"]
mod tests;
