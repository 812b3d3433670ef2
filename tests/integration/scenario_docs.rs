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

/// Nothing is left undocumented: each key stands in the page, in backquotes.
#[test]
fn every_key_is_documented() {
    let error = |text: &str| Scenario::parse("x.toml", text, &[], None).unwrap_err().to_string();
    let listed = |table: &str| {
        let shown = error(&format!("{BASE}{table}")).replace('\n', " ");
        let list = shown
            .split("expected one of: ")
            .nth(1)
            .unwrap()
            .split(" = ")
            .next()
            .unwrap()
            .to_string();
        list.split(',').map(|key| key.trim().to_string()).collect::<Vec<_>>()
    };
    for table in [
        "oops = 1",
        "[task]\noops = 1",
        "[task]\nmodel = { oops = 1 }",
        "[task]\nmodel = { vgg11 = { oops = 1 } }",
        "[task]\nkind = \"images\"\npartition = { oops = 1 }",
        "[task]\nkind = \"table\"\nfile = \"tests/data/points.csv\"\nclient = \"user\"\n\
         partition.scheme = { oops = 1 }",
        "[client]\noops = 1",
        "[server]\noops = 1",
        "[server]\nscheme = { oops = 1 }",
        "[server]\nscheme = { oort = { oops = 1 } }",
        "[server]\nscheme = { tiers = { oops = 1 } }",
        "[fleet]\noops = 1",
        "[[fleet.class]]\noops = 1",
        "[[expect]]\noops = 1\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"",
        "[record]\noops = 1\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"",
        "[[fleet.class]]\nname = \"d\"\ntrace = { oops = 1 }",
        "[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"\navailability = { oops = 1 }",
        "[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"\nslowdown = { oops = 1 }",
        "[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"\nthermal = { oops = 1 }",
        "[[event]]\noops = 1\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"",
        "[[event]]\nround = 1\nslow = 2\nselect = { oops = 1 }\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1s\"",
        "task.size = { oops = 1 }",
    ] {
        let keys = listed(table);
        assert!(!keys.is_empty() && !keys[0].is_empty(), "{table}");
        for key in keys {
            let (quoted, header) = (format!("`{key}`"), format!("[{key}]"));
            assert!(DOCS.contains(&quoted) || DOCS.contains(&header), "`{key}` of {table}");
        }
    }
}
