//! Broken scenarios, and the message each must give.
//!
//! The cases stand in `broken/*.txt`. Each begins with the first line of its message, goes on with
//! the scenario, and ends with pieces of the notes, one per line after `= `. The place of the
//! caret is marked in the scenario itself: `«lr» = 1` expects it under `lr`. A case is put between
//! a name, a stop and a fleet that are right, unless it says that it is a whole file.

use gruppetto::scenario::Scenario;

const FILES: [&str; 11] = [
    include_str!("broken/top-level.txt"),
    include_str!("broken/stop.txt"),
    include_str!("broken/task.txt"),
    include_str!("broken/data.txt"),
    include_str!("broken/client.txt"),
    include_str!("broken/server.txt"),
    include_str!("broken/fleet.txt"),
    include_str!("broken/device.txt"),
    include_str!("broken/event.txt"),
    include_str!("broken/variant.txt"),
    include_str!("broken/expect.txt"),
];

/// Broken traces stand beside the cases.
const NAME: &str = "tests/integration/broken/case.toml";
const HEAD: &str = "name = \"t\"\nstop.rounds = 5\n";
const TAIL: &str = "\n[[fleet.class]]\nname = \"d\"\nstep_time = \"1ms\"\n";

/// A scenario with its caret marked, the first line of the message, and pieces of the rest.
struct Case {
    marked: String,
    message: String,
    pieces: Vec<String>,
}

/// Reads one case from its lines.
fn case(text: &str) -> Case {
    let (title, rest) = text.split_once('\n').expect("a title and a scenario");
    let (pieces, lines): (Vec<&str>, Vec<&str>) =
        rest.lines().partition(|line| line.starts_with("= "));
    let body = lines.join("\n");
    let (message, marked) = match title.strip_prefix("error in a whole file: ") {
        Some(message) => (message, body),
        None => (title.strip_prefix("error: ").expect("a title"), format!("{HEAD}{body}{TAIL}")),
    };
    let pieces = pieces.iter().map(|piece| piece[2..].to_string()).collect();
    Case { marked, message: message.into(), pieces }
}

/// The cases of a file: each begins at a line that begins with `error`.
fn cases(file: &str) -> Vec<Case> {
    let mut texts = Vec::<String>::new();
    for line in file.lines() {
        if line.starts_with("error") {
            texts.push(String::new());
        }
        let text = texts.last_mut().expect("a file begins with a title");
        *text += line;
        text.push('\n');
    }
    texts.iter().map(|text| case(text)).collect()
}

fn assert_all(cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    let (failed, all) = (failures.len(), cases.len());
    assert!(failures.is_empty(), "{failed} of {all}\n\n{}", failures.join("\n\n"));
}

#[test]
fn every_broken_scenario_says_what_is_wrong_and_where() {
    let cases: Vec<Case> = FILES.into_iter().flat_map(cases).collect();
    assert!(cases.len() >= 300, "only {} cases were found", cases.len());
    assert_all(&cases);
}

/// What an editor would not keep in a text file, or not show.
#[test]
fn carets_are_right_whatever_stands_before_them() {
    let whole = |message: &str, marked: &str| Case {
        message: message.into(),
        marked: marked.into(),
        pieces: Vec::new(),
    };
    assert_all(&[
        whole("missing key `name` at the top level", "«»"),
        whole("missing key `name` at the top level", "\n\n# nothing\n«seed» = 1"),
        whole("invalid TOML: invalid basic string", "name = \"x«»"),
        whole("invalid TOML: invalid basic string", "name = \"caf«\n»"),
        whole("\"a b\" cannot be the name of a scenario", "\tname =\t«\"a b\"»\n"),
        whole("`rounds` cannot be 0", "name = \"x\"\r\nstop.rounds = «0»\r\n"),
        whole("duplicate key `lr`", "[client]\r\nlr = 0.1\r\n«lr» = 0.2\r\n"),
        whole("duplicate key `client`", "[client]\nlr = 0.1\n[server]\n[«client»]"),
        whole(
            "unknown key `größe` in [server]",
            "name = \"x\"\nserver = { \"late\" = \"drop\", «\"größe\"» = 1 }",
        ),
        whole(
            "unknown key `b` in [client]",
            "name = \"x\"\nclient = { lr = 1, work = { steps = 1 }, «b» = \"λ→∞ 好\" }",
        ),
        whole(
            "unknown choice of clients \"λ→∞\"",
            &format!("description = \"½ 好\"\nrecord.clients = «\"λ→∞\"»\n{HEAD}{TAIL}"),
        ),
        whole(
            "unknown metric \"好\"",
            "name = \"x\"\nstop = { \"rounds\" = 1, target = { at_most = 1, metric = «\"好\"» } } # 好",
        ),
    ]);
}

fn check(case: &Case) -> Result<(), String> {
    let Case { marked, message, pieces } = case;
    let unmarked = || format!("no caret in\n{marked}");
    let (before, rest) = marked.split_once('«').ok_or_else(unmarked)?;
    let (under, after) = rest.split_once('»').ok_or_else(unmarked)?;
    let text = format!("{before}{under}{after}");
    let shown = match Scenario::parse(NAME, &text, &[], None) {
        Ok(_) => return Err(format!("accepted:\n{text}")),
        Err(error) => error.to_string(),
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let wrong = |what: &str| {
        Err(format!("{what}; expected: {message} at {line}:{column} {pieces:?}\n{shown}"))
    };
    if shown.lines().next() != Some(&format!("error: {message}")) {
        return wrong("another message");
    }
    if !shown.contains(&format!("--> {NAME}:{line}:{column}\n")) {
        return wrong("another place");
    }
    // The carets stand under exactly the marked text.
    let lines: Vec<&str> = shown.lines().collect();
    let first = under.split('\n').next().unwrap_or("").trim_end();
    let above = |index: usize, begin: usize, width: usize| {
        lines[index - 1].chars().skip(begin).take(width).collect::<String>()
    };
    let stands_right = lines.iter().enumerate().any(|(index, line)| {
        let begin = line.chars().take_while(|c| *c != '^').count();
        let width = line.matches('^').count();
        width == first.chars().count().max(1) && above(index, begin, width) == first
    });
    if !stands_right {
        return wrong("another caret");
    }
    // Long notes are broken into lines; the pieces do not care where.
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(piece) = pieces.iter().find(|piece| !flat.contains(piece.as_str())) {
        return wrong(&format!("without `{piece}`"));
    }
    match shown.lines().find(|line| line.chars().count() > 100) {
        Some(long) => wrong(&format!("a long line: {long}")),
        None => Ok(()),
    }
}

/// The form as a whole, letter by letter.
#[test]
fn a_diagnostic_looks_like_this() {
    let text =
        "name = \"demo\"\nstop.rounds = 5\n\n\n\n\n\n\n\n[server]\n\tweigting = \"fedavg\"\n";
    let error = Scenario::parse("scenarios/demo.toml", text, &[], None).unwrap_err();
    let expected = "\
error: unknown key `weigting` in [server]
  --> scenarios/demo.toml:11:2
   |
11 |     weigting = \"fedavg\"
   |     ^^^^^^^^
   = expected one of: close, late, staleness, max_staleness, concurrency,
     partial, weighting, tau_eff, participation, optimizer, sample, scheme,
     evaluate_every
   = help: did you mean `weighting`?";
    assert_eq!(error.to_string(), expected);
}
