//! Scenarios that keys are planted into.

use super::super::super::tree::{KeyValue, Node, ParsedTable, Raw, parse_file, parse_value};
use super::super::super::{Origin, Source, Where};
use super::super::super::{Scenario, ScenarioError, read, resolved};
use super::super::{DIST, Key, Table, join, key, rivals, table};
use std::sync::Arc;

/// What hosts have in common: something for every list of the language.
const TAIL: &str = r#"
[[event]]
round = 5
slow = 2.0

[[variant]]
name = "a"

[[variant]]
name = "b"

[[expect]]
that = "rounds"
of = "a"
at_least = "b"
within = 0.5

[[fleet.class]]
name = "phone"
"#;

const STEADY: &str = "step_time = \"25ms\"\n";

/// Fixed work under a deadline, on devices that change.
const FIXED_WORK: &str = r#"
task = { clients = 30 }
client = { work = { steps = 10 }, lr_schedule = [{ after = 10, times = 0.5 }] }
server = { close = { deadline = "5s" } }
"#;
const CHANGING: &str = r#"
step_time = "25ms"
slowdown = { factor = 4.0, every = "10m", lasting = "1m" }
thermal = { curve = [["2m", 0.7]] }
"#;

const SAMPLED: &str = r#"
task = { clients = 30 }
client = { work = { epochs = 1 } }
server = { close = "all", sample = { clients = 3 } }
"#;

const UNTIL_DEADLINE: &str = "server = { close = { deadline = \"5s\" } }\n";

const QUADRATIC: &str = r#"
task = { kind = "quadratic", clients = 3 }
client = { work = { steps = 10 } }
server = { close = "all" }
"#;

const TABLE: &str = r#"
task = { kind = "table", file = "points.csv", client = "user" }
client = { work = { steps = 10 } }
server = { close = "all" }
"#;

const SPREAD_TABLE: &str = r#"
task = { kind = "table", file = "points.csv", client = "user", clients = 2, partition.scheme = "iid" }
client = { work = { steps = 10 } }
server = { close = "all" }
"#;

const IMAGES: &str = r#"
task = { kind = "images", dataset = "mnist", path = "." }
client = { work = { steps = 10 } }
server = { close = "all" }
"#;

/// The devices of the host whose devices are recorded.
const RECORDED: &str = "trace = { file = \"speeds.csv\" }\nlinks = { trace = \"wifi.csv\" }\n";

pub(super) struct Hosts {
    /// As they were written.
    pub(super) trees: Vec<Node>,
    folder: tempfile::TempDir,
}

impl Hosts {
    pub(super) fn new() -> Hosts {
        let folder = tempfile::tempdir().unwrap();
        let points = include_str!("../../../../tests/data/points.csv");
        for (name, text) in [
            ("points.csv", points),
            ("phones.csv", "step\n20\n30\n"),
            ("nights.csv", "device,time [h],available\na,0,1\na,6,0\n"),
            ("speeds.csv", "device,time [s],step_time [ms]\na,0,10\na,60,20\n"),
            ("wifi.csv", "device,time [s],up [Mbps]\na,0,10\na,60,20\n"),
            ("split.json", "{ \"indices\": [[0, 2, 4], [1, 3]] }"),
            ("x.safetensors", ""),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        for (part, count) in [("train", 60), ("t10k", 10)] {
            let pixels = (0..count * 784).map(|pixel| (pixel % 251) as u8).collect();
            let labels = (0..count).map(|sample| (sample % 10) as u8).collect();
            let write = |name: &str, bytes: Vec<u8>| {
                std::fs::write(folder.path().join(format!("{part}-{name}")), bytes).unwrap();
            };
            write("images-idx3-ubyte", idx(&[count, 28, 28], pixels));
            write("labels-idx1-ubyte", idx(&[count], labels));
        }
        let texts = [
            (FIXED_WORK, CHANGING),
            (SAMPLED, STEADY),
            (UNTIL_DEADLINE, STEADY),
            (FIXED_WORK, RECORDED),
            (QUADRATIC, STEADY),
            (TABLE, STEADY),
            (SPREAD_TABLE, STEADY),
            (IMAGES, STEADY),
        ];
        let trees = texts.map(|(own, devices)| {
            let head = "name = \"host\"\nrepeats = 3\n\
                        stop = { rounds = 50, target = { metric = \"train_loss\", at_most = 0 } }\n";
            parse_file("host.toml", &format!("{head}{own}{TAIL}{devices}")).unwrap()
        });
        let hosts = Hosts { trees: trees.into(), folder };
        for (number, host) in hosts.trees.iter().enumerate() {
            if let Err(error) = hosts.read(host) {
                panic!("host {number} is no scenario:\n{error}");
            }
        }
        hosts
    }

    pub(super) fn read(&self, tree: &Node) -> Result<Scenario, ScenarioError> {
        let mut tree = tree.clone();
        resolved::anchor(&mut tree, self.folder.path());
        let scenario = read::read(&tree, &crate::plugins::Plugins::new())?;
        // Not part of what is run.
        Ok(Scenario { resolved: String::new(), portable: String::new(), ..scenario })
    }

    /// The hosts as they are, and with every alternative of what leads to `path`.
    pub(super) fn around(&self, path: &str) -> Vec<Node> {
        let settings = settings(path);
        let mut all = self.trees.clone();
        for host in &self.trees {
            all.extend(settings.iter().map(|(path, form)| planted(host, path, value(form))));
        }
        all
    }
}

/// A file in the format of MNIST.
fn idx(shape: &[u32], bytes: Vec<u8>) -> Vec<u8> {
    let head = [0, 0, 8, shape.len() as u8].into_iter();
    head.chain(shape.iter().flat_map(|side| side.to_be_bytes())).chain(bytes).collect()
}

/// Not every data set is at hand.
pub(super) fn is_for_want_of_files(error: &ScenarioError) -> bool {
    error.message().contains("the data set") && error.message().contains("is not here")
}

/// Alternatives of the keys on the way to `path`, and of the `kind` of the tables on that way.
fn settings(path: &str) -> Vec<(String, &'static str)> {
    let names: Vec<&str> = path.split('.').collect();
    let mut found = Vec::new();
    for length in 1..names.len() {
        let (above, own) = (names[..length].join("."), join(&names[..length].join("."), "kind"));
        if let Some(key) = key(&above) {
            found.extend(forms(key).map(|form| (above.clone(), form)));
        }
        if let Some(kind) = key(&own).filter(|_| own != path) {
            found.extend(forms(kind).map(|form| (own.clone(), form)));
        }
    }
    found
}

/// Everything that a key offers to choose from.
pub(super) fn forms(key: &Key) -> impl Iterator<Item = &'static str> + use<> {
    let of_dist = match key.is_dist {
        true => table(DIST).unwrap().choices,
        false => &[],
    };
    key.choices
        .iter()
        .chain(of_dist)
        .flat_map(|choice| std::iter::once(choice.form).chain(choice.or))
}

/// Where the keys of a table stand in a scenario.
pub(super) fn place(table: &Table) -> String {
    table.path.replacen(DIST, "fleet.class.step_time", 1)
}

pub(super) fn nowhere(text: &str) -> Where {
    let source = Arc::new(Source { origin: Origin::Argument("--set"), text: text.into() });
    Where { source, span: 0..text.len() }
}

pub(super) fn value(form: &str) -> Node {
    parse_value(&nowhere(form), 0..form.len()).unwrap()
}

pub(super) fn date() -> Node {
    Node { value: Raw::Date, at: nowhere("1979-05-27") }
}

/// A tree with a value at a path; of lists, in the first entry. Rivals give way, as with `--set`.
pub(super) fn planted(tree: &Node, path: &str, node: Node) -> Node {
    changed(tree, path, Some(node))
}

pub(super) fn changed(tree: &Node, path: &str, node: Option<Node>) -> Node {
    let mut tree = tree.clone();
    let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut spot = &mut tree;
    let mut way = String::new();
    for segment in above.split('.').filter(|segment| !segment.is_empty()) {
        let written = open(spot);
        let gone = rivals_at(&way, segment);
        written.entries.retain(|entry| !gone.contains(&entry.key.as_str()));
        way = join(&way, segment);
        let index = match written.entries.iter().position(|entry| entry.key == segment) {
            Some(index) => index,
            None => {
                let node = Node::empty_table(nowhere(""));
                written.entries.push(KeyValue { key: segment.into(), key_at: nowhere(""), node });
                written.entries.len() - 1
            }
        };
        spot = &mut written.entries[index].node;
    }
    let written = open(spot);
    let gone = rivals_at(above, name);
    written.entries.retain(|entry| entry.key != name && !gone.contains(&entry.key.as_str()));
    let entry = node.map(|node| KeyValue { key: name.into(), key_at: nowhere(name), node });
    written.entries.extend(entry);
    tree
}

fn rivals_at(place: &str, name: &str) -> Vec<&'static str> {
    let language = place.replacen("fleet.class.step_time", DIST, 1);
    table(&language).map_or(Vec::new(), |table| rivals(table, name))
}

/// The table that a node is, or has first; what is none becomes one.
fn open(node: &mut Node) -> &mut ParsedTable {
    let is_list = matches!(&node.value, Raw::Array(nodes) if !nodes.is_empty());
    if is_list {
        let Raw::Array(nodes) = &mut node.value else { unreachable!("just seen") };
        return open(&mut nodes[0]);
    }
    if !matches!(node.value, Raw::Table(_)) {
        *node = Node::empty_table(nowhere(""));
    }
    match &mut node.value {
        Raw::Table(table) => table,
        _ => unreachable!("just made one"),
    }
}
