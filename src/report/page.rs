//! `report.html`: a page that explains a run, made of what is in its folder.
//!
//! The page is one file: a skeleton, a style, a script and the data. What the data look like is said in
//! [`super::findings`]; the script draws them.

use super::durable::write_whole;
use super::row_file::FileError;
use crate::run_files::Summary;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::path::Path;

const SKELETON: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// All files of `page/js`, in the order of their names.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));

/// Characters of a scenario that are shown.
const LONGEST_SCENARIO: usize = 100_000;

/// Writes a page about runs to `out`.
pub fn write_page(runs: &[PageRun], out: &Path) -> Result<(), FileError> {
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let title = format!("{} – Gruppetto", names.join(", "));
    let data: Vec<&Map<String, Value>> = runs.iter().map(|run| &run.data).collect();
    let summaries: Vec<&RawValue> = runs.iter().map(|run| &*run.summary).collect();
    write_whole(out, page(&title, &data, &summaries).as_bytes())
}

/// A run as a page tells of it.
pub struct PageRun {
    name: String,
    data: Map<String, Value>,
    /// As it is written: not a digit is lost.
    summary: Box<RawValue>,
}

impl PageRun {
    /// The run in `folder` with this summary, which is `text` as it is written; its findings, its scenario, and who
    /// runs it if it goes on.
    pub fn new(
        folder: &Path,
        summary: &Summary,
        text: String,
        (findings, mut scenario, holder): (Map<String, Value>, String, Option<&str>),
    ) -> Self {
        let mut data = findings;
        if let Some((end, _)) = scenario.char_indices().nth(LONGEST_SCENARIO) {
            scenario.truncate(end);
            scenario.push_str("\n# … and so on");
        }
        let (path, flags) = (folder.display(), data.get("flags").and_then(Value::as_str));
        let flags = flags.unwrap_or_default();
        let repeat = format!("gruppetto run {path}/scenario.toml{flags} --out {path}-again");
        let resume = format!("gruppetto run {path}/scenario.toml{flags} --out {path} --resume");
        data.insert("repeat".into(), repeat.into());
        data.insert("resume".into(), resume.into());
        data.insert("holder".into(), holder.into());
        data.insert("scenario".into(), scenario.into());
        data.insert("folder".into(), folder.display().to_string().into());
        let summary_text = RawValue::from_string(text).expect("a summary is JSON");
        PageRun { name: summary.name.clone(), data, summary: summary_text }
    }
}

fn page(title: &str, folders: &[&Map<String, Value>], summaries: &[&RawValue]) -> String {
    let mut data = String::from("{\"format\":1,\"folders\":[");
    for (index, (folder, summary)) in folders.iter().zip(summaries).enumerate() {
        let rest = json!(folder).to_string();
        let comma = if index > 0 { "," } else { "" };
        data.push_str(comma);
        data.push_str(&format!("{{\"summary\":{},{}", summary.get(), &rest[1..]));
    }
    data.push_str("]}");
    // Inside a script no `<` may stand, or a name could end it.
    let data = data.replace('<', "\\u003c");
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    // In this order nothing that is filled in can be taken for a place to fill.
    [("/*STYLE*/", STYLE), ("/*SCRIPT*/", SCRIPT), ("/*DATA*/", &data), ("<!--TITLE-->", &title)]
        .iter()
        .fold(SKELETON.to_string(), |page, (place, text)| page.replacen(place, text, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_filled_and_names_stay_text() {
        for place in ["<!--TITLE-->", "/*STYLE*/", "/*SCRIPT*/", "/*DATA*/"] {
            assert_eq!(SKELETON.matches(place).count(), 1, "{place}");
            assert!(!STYLE.contains(place) && !SCRIPT.contains(place), "{place}");
        }
        let data = Map::from_iter([("folder".to_string(), json!("</script><script>x()"))]);
        let summary = RawValue::from_string("{\"name\": \"/*DATA*/<b>\"}".into()).unwrap();
        let page = page("<i>&/*DATA*/", &[&data], &[&summary]);
        assert!(page.contains("<title>&lt;i>&amp;/*DATA*/</title>"));
        assert!(page.contains(r#""folder":"\u003c/script>\u003cscript>x()""#));
        assert!(page.contains(r#""name": "/*DATA*/\u003cb>""#));
        // The name of SVG is no address that anybody asks.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains("http://") && !page.contains("https://"), "nothing is fetched");
    }
}
