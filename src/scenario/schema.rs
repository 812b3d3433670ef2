//! Every key of the language, in one table.
//!
//! The same table tells an unknown key from a known one, lists what was expected, and lets
//! `--set` and a variant's `set` tell a path that leads somewhere from one that does not.

/// A table of the language and its keys.
pub(super) struct Keys {
    /// The path of the table; the empty path is the file itself.
    pub table: &'static str,
    /// Keys that work.
    pub now: &'static [&'static str],
}

/// The table that stands for every DIST.
pub(super) const DIST: &str = "dist";

const fn keys(table: &'static str, now: &'static [&'static str]) -> Keys {
    Keys { table, now }
}

/// Every table.
pub(super) const TABLES: &[Keys] = &[
    keys(
        "",
        &[
            "name",
            "description",
            "seed",
            "repeats",
            "stop",
            "task",
            "client",
            "server",
            "fleet",
            "event",
            "variant",
            "record",
            "expect",
        ],
    ),
    keys("stop", &["rounds", "time", "target", "divergence"]),
    keys("stop.target", &["metric", "at_least", "at_most"]),
    keys(
        "task",
        &[
            "kind",
            "clients",
            "init",
            "alpha",
            "beta",
            "features",
            "classes",
            "size",
            "model",
            "dim",
            "centers",
            "curvature",
            "weights",
            "gradient_noise",
            "dataset",
            "path",
            "augment",
            "file",
            "label",
            "client",
            "standardize",
            "backend",
            "partition",
        ],
    ),
    keys("task.init", &["normal", "file"]),
    keys("task.model", &["mlp", "cnn", "vgg11", "torchscript", "loss"]),
    keys("task.model.cnn", &["channels", "hidden"]),
    keys("task.model.vgg11", &["dropout"]),
    keys("task.partition", &["scheme", "min_size", "test_fraction"]),
    keys("task.partition.scheme", &["dirichlet", "shards", "file"]),
    keys(
        "client",
        &[
            "batch",
            "lr",
            "lr_schedule",
            "momentum",
            "prox",
            "lr_decay",
            "weight_decay",
            "variance_reduction",
            "compression",
            "work",
        ],
    ),
    keys("client.compression", &["fp16", "top_k", "quantize", "error_feedback"]),
    keys("client.lr_schedule", &["after", "times"]),
    keys("client.work", &["until", "epochs", "steps", "redraw", "last_batch"]),
    keys(
        "server",
        &[
            "close",
            "late",
            "staleness",
            "max_staleness",
            "concurrency",
            "partial",
            "weighting",
            "tau_eff",
            "participation",
            "optimizer",
            "sample",
            "scheme",
            "evaluate_every",
        ],
    ),
    keys("server.close", &["deadline", "first", "of", "buffer", "window"]),
    keys("server.close.deadline", &["percentile", "of"]),
    keys("server.staleness", &["polynomial", "hinge"]),
    keys("server.staleness.hinge", &["a", "b"]),
    keys("server.optimizer", &["kind", "lr", "momentum", "beta1", "beta2", "epsilon"]),
    keys("server.sample", &["clients", "fraction"]),
    keys("server.scheme", &["oort", "tiers"]),
    keys("server.scheme.oort", &["exploration", "decay", "least", "alpha", "round_time"]),
    keys("server.scheme.tiers", &["count"]),
    keys("fleet", &["assign", "class", "server_uplink", "server_downlink"]),
    keys(
        "fleet.class",
        &[
            "name",
            "share",
            "step_time",
            "speed",
            "trace",
            "jitter",
            "uplink",
            "downlink",
            "latency",
            "dropout",
            "availability",
            "slowdown",
            "thermal",
            "lr",
            "momentum",
            "prox",
            "lr_decay",
            "weight_decay",
        ],
    ),
    keys("fleet.class.trace", &["file", "repeat", "shift", "assign", "devices"]),
    keys(
        "fleet.class.availability",
        &["on", "off", "trace", "repeat", "shift", "assign", "devices"],
    ),
    keys("fleet.class.slowdown", &["factor", "every", "lasting"]),
    keys("fleet.class.thermal", &["curve", "cooling"]),
    keys(
        "event",
        &[
            "at", "round", "select", "lasting", "slow", "offline", "leave", "join", "network",
            "deadline", "lr",
        ],
    ),
    keys("event.select", &["class", "clients", "fraction"]),
    keys("event.network", &["up", "down"]),
    keys("event.lr", &["times"]),
    keys("record", &["clients", "timeline"]),
    keys("record.clients", &["clients"]),
    keys("record.timeline", &["clients"]),
    keys("variant", &["name", "set"]),
    keys("expect", &["that", "of", "at_least", "at_most", "equals", "times", "within"]),
    keys("expect.that", &["correlation"]),
    keys(
        DIST,
        &[
            "uniform",
            "normal",
            "lognormal",
            "pareto",
            "exponential",
            "choice",
            "empirical",
            "column",
            "unit",
            "plus",
            "min",
            "max",
        ],
    ),
    keys("dist.normal", &["mean", "std"]),
    keys("dist.lognormal", &["median", "sigma"]),
    keys("dist.pareto", &["scale", "shape"]),
    keys("dist.exponential", &["mean"]),
];

/// Keys whose value may be a DIST.
const DISTS: &[&str] = &[
    "task.size",
    "task.centers",
    "client.work.epochs",
    "client.work.steps",
    "fleet.class.step_time",
    "fleet.class.speed",
    "fleet.class.uplink",
    "fleet.class.downlink",
    "fleet.class.latency",
    "fleet.class.availability.on",
    "fleet.class.availability.off",
    "fleet.class.slowdown.every",
    "fleet.class.slowdown.lasting",
];

/// Keys of one table that exclude each other: `--set` of one takes the place of the others.
const RIVALS: &[(&str, &[&[&str]])] = &[
    ("stop.target", &[&["at_least"], &["at_most"]]),
    ("task.init", &[&["normal"], &["file"]]),
    ("task.model", &[&["mlp"], &["cnn"], &["vgg11"], &["torchscript", "loss"]]),
    ("task.partition.scheme", &[&["dirichlet"], &["shards"], &["file"]]),
    ("client.compression", &[&["fp16"], &["top_k"], &["quantize"]]),
    ("client.work", &[&["until"], &["epochs", "last_batch"], &["steps"]]),
    ("server.close", &[&["deadline"], &["first", "of"], &["buffer"], &["window"]]),
    ("server.sample", &[&["clients"], &["fraction"]]),
    ("server.scheme", &[&["oort"], &["tiers"]]),
    ("server.staleness", &[&["polynomial"], &["hinge"]]),
    ("fleet.class", &[&["step_time"], &["speed"]]),
    (
        "fleet.class.availability",
        &[&["on", "off"], &["trace", "repeat", "shift", "assign", "devices"]],
    ),
    (
        DIST,
        &[
            &["uniform"],
            &["normal"],
            &["lognormal"],
            &["pareto"],
            &["exponential"],
            &["choice"],
            &["empirical", "column", "unit"],
        ],
    ),
];

/// The keys of a table of the language.
pub(super) fn table(path: &str) -> Option<&'static Keys> {
    TABLES.iter().find(|keys| keys.table == path)
}

/// The table that the value of `key` in `table` is, where it can be one.
pub(super) fn child(table_path: &str, key: &str) -> Option<&'static str> {
    let path = join(table_path, key);
    let path = if DISTS.contains(&path.as_str()) { DIST } else { &path };
    table(path).map(|keys| keys.table)
}

/// The keys that `key` takes the place of when it is assigned in `table`.
pub(super) fn rivals(table: &str, key: &str) -> Vec<&'static str> {
    let groups =
        RIVALS.iter().find(|(path, _)| *path == table).map_or(&[][..], |(_, groups)| *groups);
    match groups.iter().any(|group| group.contains(&key)) {
        true => groups
            .iter()
            .filter(|group| !group.contains(&key))
            .flat_map(|group| *group)
            .copied()
            .collect(),
        false => Vec::new(),
    }
}

/// How messages speak of a table.
pub(super) fn title(table: &str) -> String {
    match table {
        "" => "at the top level".into(),
        "variant" | "expect" | "event" | "fleet.class" => format!("in [[{table}]]"),
        "stop" | "task" | "task.partition" | "client" | "server" | "fleet" | "record" => {
            format!("in [{table}]")
        }
        DIST => "in a distribution".into(),
        _ => format!("in `{}`", table.trim_start_matches("dist.")),
    }
}

/// A dotted path.
pub(super) fn join(table: &str, key: &str) -> String {
    match table {
        "" => key.into(),
        _ => format!("{table}.{key}"),
    }
}

impl Keys {
    /// Whether a key belongs to the language.
    pub fn knows(&self, key: &str) -> bool {
        self.now.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nested_table_hangs_on_a_key() {
        for keys in TABLES.iter().filter(|keys| keys.table.contains('.')) {
            let (parent, key) = keys.table.rsplit_once('.').unwrap();
            assert!(table(parent).is_some_and(|parent| parent.knows(key)), "{}", keys.table);
        }
        for path in DISTS {
            let (parent, key) = path.rsplit_once('.').unwrap();
            assert_eq!(child(parent, key), Some(DIST), "{path}");
            assert!(table(parent).is_some_and(|parent| parent.knows(key)), "{path}");
        }
        for (path, groups) in RIVALS {
            let keys = table(path).unwrap();
            assert!(groups.iter().flat_map(|group| *group).all(|key| keys.knows(key)), "{path}");
        }
    }
}
