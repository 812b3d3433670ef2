//! The nearest valid name, when there is one near enough to be meant.

use super::schema::{self, TABLES};
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
pub(super) fn key(table: &str, key: &str) -> Option<String> {
    let here = schema::table(table)?;
    if key.len() > LONGEST {
        return None;
    }
    let of_events = OF_EVENTS.iter().find(|(alias, _)| table == "event" && *alias == key);
    of_events
        .map(|(_, meant)| *meant)
        .or_else(|| nearest(key, here.now.iter().copied()))
        .map(String::from)
        .or_else(|| path(&schema::join(table, key), None))
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
    if let Some((_, path)) = ALIASES.iter().find(|(alias, _)| *alias == last) {
        return Some(spelled(path));
    }
    let all: Vec<String> = paths().map(|path| spelled(&path)).collect();
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
    TABLES
        .iter()
        .filter(|keys| {
            !keys.table.starts_with(schema::DIST)
                && !keys.table.starts_with("event")
                && !matches!(keys.table, "variant" | "expect")
        })
        .flat_map(|keys| keys.now.iter().map(|key| schema::join(keys.table, key)))
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
