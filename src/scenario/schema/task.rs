//! `[task]`: what is learned, from which data, by which model.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Choice, Key, Table, choice, key};
use crate::scenario::model;

pub(super) const TABLES: &[Table] = &[
    Table::header("task", "what is learned", TASK),
    Table::braces("task.init", "where the model starts", INIT)
        .exactly_one(&[&[&["normal"], &["file"]]]),
    model::TABLE,
    Table::braces("task.model.cnn", "the size of a CNN", model::CNN),
    Table::braces("task.model.vgg11", "VGG-11 with another dropout", model::VGG11),
    Table::header("task.partition", "which client has which samples", PARTITION),
    Table::braces("task.partition.scheme", "how training samples are spread", SCHEME)
        .exactly_one(&[&[&["dirichlet"], &["shards"], &["file"]]]),
];

const TASK: &[Key] = &[
    key("kind", "", Toml("\"synthetic\""), "the family of problems")
        .choices(KINDS)
        .listed("tasks")
        .plugin("Trainer"),
    key(
        "clients",
        "1 to 100,000,000",
        Words("30, or as many as the data has"),
        "number of clients",
    ),
    key("init", "", Words("`\"zeros\"`; `\"default\"` for deep models"), "where the model starts")
        .choices(&[
            choice("\"zeros\"", "at zero"),
            choice("\"default\"", "the model's own starting weights"),
            choice("{ normal = 0.1 }", "normal entries of that standard deviation"),
            choice("{ file = \"x.safetensors\" }", "a model of an earlier run"),
        ]),
    key("alpha", "number, 0 or more", Toml("1.0"), "α; changes no label, see above").with(SYNTHETIC),
    key(
        "model_difference",
        "0 to 1",
        Toml("1.0"),
        "how much the clients' models differ: from 0, one for all, to 1, each its own as in the original",
    )
    .with(SYNTHETIC),
    key("beta", "number, 0 or more", Toml("1.0"), "how much the clients' features differ")
        .with(SYNTHETIC),
    key("features", "whole number", Toml("60"), "features per sample").with(SYNTHETIC),
    key("classes", "whole number, 2 or more", Toml("10"), "classes").with(SYNTHETIC),
    key(
        "size",
        "DIST, at least 2",
        Toml("{ lognormal = { median = 54.6, sigma = 2.0 }, plus = 50, max = 2000 }"),
        "samples per client, before a tenth is put aside for testing",
    )
    .dist()
    .with(SYNTHETIC),
    key("model", "", Toml("\"softmax\""), "what learns; a synthetic task has `\"softmax\"` only")
        .with(&["synthetic", "images", "table"])
        .choices(model::MODELS)
        .listed("models"),
    key("dim", "whole number", Words("10, or the length of explicit centres"), "dimension of x")
        .with(QUADRATIC),
    key(
        "centers",
        "DIST per entry, or one vector per client",
        Toml("{ normal = { mean = 0.0, std = 0.1 } }"),
        "the vectors e_i",
    )
    .dist()
    .with(QUADRATIC),
    key(
        "curvature",
        "per client a diagonal, per client a matrix by rows",
        Toml("\"identity\""),
        "H_i, symmetric and positive definite",
    )
    .with(QUADRATIC)
    .choices(&[choice("\"identity\"", "H_i = I")]),
    key("weights", "one number per client, summing to 1", Toml("\"equal\""), "the weights p_i")
        .with(QUADRATIC)
        .choices(&[choice("\"equal\"", "1/m for each of m clients")]),
    key(
        "gradient_noise",
        "number, 0 or more",
        Toml("0.0"),
        "standard deviation of noise added to every gradient entry",
    )
    .with(QUADRATIC),
    key("dataset", "", Required, "which images").with(IMAGES).choices(DATASETS).listed("data sets"),
    key("path", "folder", Words("the usual places"), "where the files are").with(IMAGES),
    key("augment", "", Toml("\"none\""), "what is done to training images").with(IMAGES).choices(
        &[
            choice("\"none\"", "nothing"),
            choice(
                "\"crop-flip\"",
                "shifted by up to 4 pixels, mirrored half the time; needs libtorch",
            ),
        ],
    ),
    key(
        "file",
        "`.npz`, `.csv`, `.svm` or `.libsvm` file, gzipped or not",
        Required,
        "the table, relative to the folder of the scenario",
    )
    .with(TABLE),
    key("label", "name", Words("`\"y\"`"), "the column (array, in an npz file) that is predicted")
        .with(TABLE),
    key("client", "name", Words("none"), "the column (array) that names the client of a sample")
        .with(TABLE),
    key(
        "standardize",
        "`true`, `false`",
        Toml("false"),
        "bring every column to mean 0 and standard deviation 1 over the training set",
    )
    .with(TABLE),
    key(
        "backend",
        "",
        Words("`\"native\"` for softmax, `\"libtorch\"` for other models"),
        "what computes the model",
    )
    .with(FROM_FILES)
    .choices(&[
        choice("\"native\"", "the program's own kernels; softmax only"),
        choice("\"libtorch\"", "libtorch"),
    ]),
    key("partition", "`[task.partition]`", Words("all defaults"), "which client has which samples")
        .with(FROM_FILES),
];

const SYNTHETIC: &[&str] = &["synthetic"];
const QUADRATIC: &[&str] = &["quadratic"];
const IMAGES: &[&str] = &["images"];
const TABLE: &[&str] = &["table"];
const FROM_FILES: &[&str] = &["images", "table"];

const KINDS: &[Choice] = &[
    choice("\"quadratic\"", "F_i(x) = ½ xᵀH_i x − e_iᵀx: exact, as in the paper's first figures"),
    choice("\"synthetic\"", "Synthetic(α, β) of Li et al., learned by softmax regression"),
    choice("\"images\"", "a data set of images that is known by name, from files"),
    choice("\"table\"", "rows of numbers, or arrays, from a csv, npz or libsvm file"),
];

const DATASETS: &[Choice] = &[
    choice("\"mnist\"", "handwritten digits, 28 × 28, 10 classes"),
    choice("\"fashion-mnist\"", "articles of clothing, 28 × 28, 10 classes"),
    choice("\"emnist-balanced\"", "letters and digits, 28 × 28, 47 classes of equal size"),
    choice("\"emnist-byclass\"", "letters and digits, 28 × 28, 62 classes"),
    choice("\"emnist-bymerge\"", "letters and digits, 28 × 28, 47 classes"),
    choice("\"emnist-digits\"", "digits, 28 × 28, 10 classes"),
    choice("\"emnist-letters\"", "letters, 28 × 28, 26 classes"),
    choice("\"emnist-mnist\"", "MNIST as EMNIST has it, 28 × 28, 10 classes"),
    choice("\"cifar10\"", "colour photographs, 32 × 32, 10 classes"),
    choice("\"cifar100\"", "colour photographs, 32 × 32, 100 classes"),
];

const INIT: &[Key] = &[
    key("normal", "number above 0", Nothing, "standard deviation of the entries"),
    key("file", "`.safetensors` file", Nothing, "a model of an earlier run"),
];

const PARTITION: &[Key] = &[
    key(
        "scheme",
        "",
        Words("`\"natural\"` with a `client` column, else `\"iid\"`"),
        "how training samples are spread",
    )
    .choices(SCHEMES)
    .listed("partitions"),
    key(
        "min_size",
        "whole number, 1 or more",
        Words("10 with `dirichlet`, else 1"),
        "the fewest samples a client may have",
    ),
    key(
        "test_fraction",
        "0 to 0.9",
        Toml("0.1"),
        "part of a table that is put aside for testing, where it has no test set; not for images",
    ),
];

const SCHEMES: &[Choice] = &[
    choice("\"iid\"", "the same number for every client, at random"),
    choice("\"natural\"", "as the `client` column says"),
    choice("{ dirichlet = 0.1 }", "of each class, client i gets the part p_i, p ~ Dirichlet(α)")
        .detail(
            "p has an entry for every client, with the same α. All is drawn again until every client has `min_size`, \
             up to 1000 times. Small α: few classes each, and very different sizes",
        ),
    choice("{ shards = 2 }", "sorted by label, cut into even pieces, two for each at random")
        .detail("There are `clients` × 2 pieces"),
    choice("{ file = \"split.json\" }", "as a file says").detail(
        "`{ \"indices\": [[…], […]] }`: a list of training samples per client, counted from 0",
    ),
];

const SCHEME: &[Key] = &[
    key("dirichlet", "1e-6 to 1e6", Nothing, "the concentration α; smaller means more different"),
    key("shards", "whole number, 1 or more", Nothing, "pieces per client"),
    key("file", "`.json` file", Nothing, "the split"),
];
