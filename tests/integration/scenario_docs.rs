//! Every example in `docs/scenario.md` and `README.md` is a scenario.

use gruppetto::scenario::Scenario;

const DOCS: &str = include_str!("../../docs/scenario.md");
const README: &str = include_str!("../../README.md");
const BASE: &str = "name = \"base\"\nstop.rounds = 5\n";

/// The fenced blocks of a language in `page`, with the number of their first line.
fn fences(page: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(tag)) => open = Some((number + 2, format!("{tag}\n"))),
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    let of_language = |(line, text): (usize, String)| {
        let (tag, body) = text.split_once('\n')?;
        (tag == language).then(|| (line, body.to_string()))
    };
    found.into_iter().filter_map(of_language).collect()
}

#[test]
fn complete_examples_are_scenarios() {
    let mut examples = fences(DOCS, "toml");
    assert!(examples.len() >= 4, "{}", examples.len());
    let of_readme = fences(README, "toml");
    assert!(!of_readme.is_empty());
    examples.extend(of_readme);
    for (line, text) in examples {
        let scenario = Scenario::parse("docs/scenario.md", &text, &[], None);
        assert!(scenario.is_ok(), "the example at line {line}:\n{}", scenario.unwrap_err());
    }
}

/// Examples on data sets of images, on a tiny one in their place.
#[test]
fn examples_on_images_are_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    crate::data_sets::tiny_images(folder.path(), 300);
    let path = format!("task.path={:?}", folder.path());
    let path = gruppetto::scenario::Override::parse(&path).unwrap();
    let examples = fences(DOCS, "toml images");
    assert!(!examples.is_empty());
    for (line, text) in examples {
        let scenario =
            Scenario::parse("docs/scenario.md", &text, std::slice::from_ref(&path), None);
        assert!(scenario.is_ok(), "the example at line {line}:\n{}", scenario.unwrap_err());
    }
}

#[test]
fn fragments_are_parts_of_scenarios() {
    let examples = fences(DOCS, "toml fragment");
    assert!(examples.len() >= 6, "{}", examples.len());
    for (line, text) in examples {
        let fleet = match text.contains("fleet") {
            true => "",
            false => "\n[[fleet.class]]\nname = \"device\"\nstep_time = \"5ms\"\n",
        };
        let base = if text.contains("[stop]") { "name = \"base\"\n" } else { BASE };
        let scenario =
            Scenario::parse("docs/scenario.md", &format!("{base}{text}{fleet}"), &[], None);
        assert!(scenario.is_ok(), "the fragment at line {line}:\n{}", scenario.unwrap_err());
    }
}
