//! Whether a run in a folder is the one that is to go on.

use super::{Error, Options};
use crate::run_files::Summary;
use crate::scenario::Scenario;
use std::path::Path;

/// The run in a folder that is to go on; `None` if there is none and it begins.
pub(super) fn resumable(
    path: &Path,
    scenario: &Scenario,
    options: &Options,
) -> Result<Option<Summary>, Error> {
    if !path.join(Summary::FILE).exists() {
        return Ok(None);
    }
    let other = |what: String| Error::OtherRun { folder: path.to_owned(), what };
    let summary = Summary::read(path).map_err(|error| other(error.to_string()))?;
    // Without it the run was killed before it had anything.
    let text = std::fs::read_to_string(path.join("scenario.toml")).ok();
    let difference = text.as_deref().and_then(|text| first_difference(&scenario.resolved, text));
    if let Some((now, then)) = difference {
        return Err(other(format!(
            "its scenario is another one: `{then}` there is `{now}` now\n  = help: go on with the same \
             scenario and --set as before, or begin anew with --force"
        )));
    }
    if summary.timing_only != options.timing_only {
        let [there, now] = [summary.timing_only, options.timing_only]
            .map(|timing_only| if timing_only { "with" } else { "without" });
        return Err(other(format!("it was made {there} --timing-only, and this would be {now}")));
    }
    Ok(Some(summary))
}

/// The first line in which two texts differ.
fn first_difference<'a>(now: &'a str, then: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut now, mut then) = (now.lines(), then.lines());
    loop {
        match (now.next(), then.next()) {
            (None, None) => return None,
            (a, b) if a != b => return Some((a.unwrap_or(""), b.unwrap_or(""))),
            _ => {}
        }
    }
}
