//! The nearest valid name, when there is one near enough to be meant.

use super::schema::{self, Table};
use strsim::{damerau_levenshtein, normalized_damerau_levenshtein};

/// Names that other tools and papers use, and where the same thing is said here.
const ALIASES: &[(&str, &str)] = &[
    ("learning_rate", "client.lr"),
    ("eta", "client.lr"),
    ("batch_size", "client.batch"),
    ("local_steps", "client.work.steps"),
    ("local_epochs", "client.work.epochs"),
    ("num_clients", "task.clients"),
    ("num_rounds", "stop.rounds"),
    ("max_rounds", "stop.rounds"),
    ("duration", "stop.time"),
    ("timeout", "server.close.deadline"),
    ("algorithm", "server.weighting"),
    ("strategy", "server.weighting"),
    ("aggregation", "server.weighting"),
    ("participants", "server.sample.clients"),
    ("bandwidth", "fleet.class.uplink"),
    ("upload", "fleet.class.uplink"),
    ("download", "fleet.class.downlink"),
    ("mu", "client.prox"),
];

/// What people may write in an `[[event]]`, and the key they look for.
const OF_EVENTS: &[(&str, &str)] = &[
    ("class", "select"),
    ("clients", "select"),
    ("fraction", "select"),
    ("who", "select"),
    ("time", "at"),
    ("duration", "lasting"),
    ("for", "lasting"),
    ("factor", "slow"),
    ("slowdown", "slow"),
    ("uplink", "network"),
    ("downlink", "network"),
];

/// No name is this long, and comparing a line of a megabyte takes its time.
const LONGEST: usize = 64;

/// The candidate that differs from `name` by few enough letters.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let compared = name.len() <= LONGEST;
    let reach = (name.chars().count() / 3).max(1);
    let lower = name.to_lowercase().replace('_', "-");
    candidates
        .into_iter()
        .filter(|_| compared)
        .map(|candidate| {
            (damerau_levenshtein(&lower, &candidate.to_lowercase().replace('_', "-")), candidate)
        })
        .filter(|(distance, _)| *distance <= reach)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// For a key that its table does not have: a key of the table, or else one elsewhere.
pub(super) fn key(table: &Table, key: &str) -> Option<String> {
    if key.len() > LONGEST {
        return None;
    }
    let of_events = OF_EVENTS.iter().find(|(alias, _)| table.path == "event" && *alias == key);
    of_events
        .map(|(_, meant)| *meant)
        .or_else(|| nearest(key, table.names()))
        .map(String::from)
        .or_else(|| path(&schema::join(table.path, key), None))
}

/// For a path that leads nowhere: the nearest one that leads somewhere. Paths into device classes
/// are spelled with `class`.
pub(super) fn path(wrong: &str, class: Option<&str>) -> Option<String> {
    let last = wrong.rsplit('.').next()?;
    if wrong.len() > 2 * LONGEST {
        return None;
    }
    let spelled = |path: &str| match path.strip_prefix("fleet.class.") {
        Some(rest) => format!("fleet.class.{}.{rest}", class.unwrap_or("NAME")),
        None => path.to_string(),
    };
    if let Some(path) = alias(last) {
        return Some(spelled(path));
    }
    like(wrong, paths().map(|path| spelled(&path)))
}

/// Where the thing is said that other tools call by this name.
fn alias(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, path)| *path)
}

/// For what is neither a key nor a table: the nearest path, or else the nearest name of a key.
pub(super) fn entry(wrong: &str) -> Option<String> {
    if wrong.len() > 2 * LONGEST {
        return None;
    }
    let keys =
        schema::tables().flat_map(|table| table.names().map(|key| schema::join(table.path, key)));
    let all = keys.chain(schema::tables().map(|table| table.path.to_string()));
    alias(wrong.rsplit('.').next()?)
        .map(String::from)
        .or_else(|| like(wrong, all))
        .or_else(|| nearest(wrong, schema::tables().flat_map(Table::names)).map(String::from))
}

/// The path that is most like a wrong one, if one is like it at all.
fn like(wrong: &str, paths: impl Iterator<Item = String>) -> Option<String> {
    let last = wrong.rsplit('.').next()?;
    let all: Vec<String> = paths.collect();
    let likeness = |path: &String| normalized_damerau_levenshtein(wrong, path);
    let best = |candidates: Vec<&String>| {
        candidates.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).cloned()
    };
    // The right key in the wrong table is a better guess than a similar spelling.
    let same = all.iter().filter(|path| path.rsplit('.').next() == Some(last)).collect();
    best(same).or_else(|| best(all.iter().filter(|path| likeness(path) >= 0.7).collect()))
}

/// Every path that `--set` can name.
fn paths() -> impl Iterator<Item = String> {
    schema::tables()
        .filter(|table| {
            !table.path.starts_with(schema::DIST)
                && !table.path.starts_with("event")
                && !matches!(table.path, "variant" | "expect")
        })
        .flat_map(|table| table.names().map(|key| schema::join(table.path, key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_suggested() {
        let names = ["fednova", "fedavg", "uniform"];
        assert_eq!(nearest("fednov", names), Some("fednova"));
        assert_eq!(nearest("FedAvg", names), Some("fedavg"));
        assert_eq!(nearest("scaffold", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn paths_lead_home() {
        for (wrong, right) in [
            ("server.deadline", Some("server.close.deadline")),
            ("client.learning_rate", Some("client.lr")),
            ("sever.weighting", Some("server.weighting")),
            ("server.weigting", Some("server.weighting")),
            ("stop.round", Some("stop.rounds")),
            ("fleet.clas.budget.jitter", Some("fleet.class.budget.jitter")),
            ("lr", Some("client.lr")),
            ("completely.elsewhere", None),
        ] {
            assert_eq!(path(wrong, Some("budget")).as_deref(), right, "{wrong}");
        }
    }
}
