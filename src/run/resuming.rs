//! Whether a run in a folder is the one that is to go on.

use super::inputs::{changed_input, input_digests, scenario_digest};
use super::{Error, Options};
use crate::report::put_back;
use crate::run_files::Summary;
use crate::scenario::Scenario;
use std::path::Path;

/// The run in a folder that is to go on; `None` if there is none and it begins.
pub(super) fn resumable(
    path: &Path,
    scenario: &Scenario,
    options: &Options,
) -> Result<Option<Summary>, Error> {
    put_back(path);
    if !path.join(Summary::FILE).exists() {
        return Ok(None);
    }
    let other = |what: String| Error::OtherRun { folder: path.to_owned(), what };
    let summary = Summary::read(path).map_err(|error| other(error.to_string()))?;
    let inputs = input_digests(scenario);
    if let Some(changed) = changed_input(&summary.inputs, &inputs) {
        return Err(other(format!(
            "{changed} has changed since the run began\n  = help: go on with the file as it was, or begin anew \
             with --force"
        )));
    }
    if summary.scenario_digest != scenario_digest(scenario, &inputs) {
        // Without it the run was killed before it had anything.
        let text = std::fs::read_to_string(path.join("scenario.toml")).unwrap_or_default();
        let difference = first_difference(&scenario.resolved, &text);
        return Err(other(match difference {
            Some((now, then)) => format!(
                "its scenario is another one: `{then}` there is `{now}` now\n  = help: go on with the same \
                 scenario and --set as before, or begin anew with --force"
            ),
            None => "it was made by another version of Gruppetto, or with files that are gone\n  = help: go on \
                     with that version, or begin anew with --force"
                .into(),
        }));
    }
    if summary.wall_clock {
        return Err(Error::WallClock);
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
