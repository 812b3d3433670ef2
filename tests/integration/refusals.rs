//! What cannot be run is refused before anything is touched; what was not done is said.

use crate::support::{Workshop, names, stderr, stdout, summary};

const SMALL: &str = r#"
name = "small"
stop.rounds = 3
task = { kind = "quadratic", clients = 4, dim = 2 }
client.work.steps = 3
server.close = "all"
"#;

/// Refused with these words by `run` and `check`, and an earlier run is still there.
fn refused(text: &str, arguments: &[&str], words: &[&str], check_too: bool) {
    let workshop = Workshop::new(SMALL);
    let earlier = workshop.run("out", &[]);
    let before = names(&earlier);
    std::fs::write(workshop.path("s.toml"), text).unwrap();
    let run = workshop.call(&[&["run", "s.toml", "--out", "out", "--force"], arguments].concat());
    let check = workshop.call(&["check", "s.toml"]);
    for output in if check_too { vec![run, check] } else { vec![run] } {
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        words
            .iter()
            .for_each(|word| assert!(stderr(&output).contains(word), "{}", stderr(&output)));
    }
    assert_eq!(names(&earlier), before);
    assert_eq!(summary(&earlier)["status"], "complete");
}

#[test]
fn a_starting_point_of_another_model_is_refused() {
    let workshop = Workshop::new(SMALL);
    let model = workshop.run("other", &[]).join("model-fednova.safetensors");
    let from =
        |path: &str| SMALL.replace("dim = 2", &format!("dim = 3, init = {{ file = {path:?} }}"));
    let words = ["tensor `x` has shape [2]", "the task needs [3]", "variant fednova"];
    refused(&from(model.to_str().unwrap()), &[], &words, true);
    let rubbish = workshop.path("rubbish");
    std::fs::write(&rubbish, "rubbish").unwrap();
    refused(&from(rubbish.to_str().unwrap()), &[], &["not a safetensors file"], true);
}

#[test]
fn more_memory_than_there_is_is_refused() {
    let text = SMALL.replace("clients = 4, dim = 2", "clients = 100_000_000, dim = 100_000");
    refused(&text, &[], &["GB of memory", "are free", "fewer clients"], true);
}

#[test]
fn a_slip_of_a_unit_is_refused() {
    let text = SMALL
        .replace("client.work.steps = 3\n", "")
        .replace("server.close = \"all\"", "server.close.deadline = \"30d\"")
        + "[[fleet.class]]\nname = \"a\"\nstep_time = \"1ns\"\n";
    refused(&text, &[], &["2.6e15 local steps", "is the unit"], true);
}

#[test]
fn too_many_passes_over_many_samples_are_refused() {
    let text = "name = \"s\"\nstop.rounds = 1\nclient = { batch = 1, work.epochs = 100_000 }\n\
                task = { kind = \"synthetic\", clients = 2, size = 20_000 }\nserver.close = \"all\"\n";
    refused(text, &[], &["local steps in a round, more than 1e9", "larger `batch`"], true);
}

/// `check` estimates: it draws no billion steps.
#[test]
fn a_billion_jittered_steps_are_checked_in_no_time() {
    let text = SMALL.replace("steps = 3", "steps = { uniform = [9e8, 1e9] }")
        + "[[fleet.class]]\nname = \"a\"\nstep_time = \"1ms\"\njitter = 0.2\n";
    let workshop = Workshop::new(&text);
    for stop in ["server.close=\"all\"", "server.close={deadline=\"11d\"}"] {
        let began = std::time::Instant::now();
        let output = workshop.call(&["check", "s.toml", "--set", stop]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("back after 1"), "{}", stdout(&output));
        assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
    }
}

#[test]
fn a_schedule_without_an_end_is_refused() {
    let target = "stop.target = { metric = \"distance\", at_most = 0.1 }";
    let text = SMALL.replace("stop.rounds = 3", target);
    refused(&text, &["--timing-only"], &["would never end", "--set stop.rounds=100"], false);
}

#[test]
fn what_is_expected_of_metrics_is_skipped_without_training_and_that_is_said() {
    let expects = "[[expect]]\nthat = \"train_loss\"\nat_most = 1\n[[expect]]\nthat = \"rounds\"\nequals = 3\nwithin = 0\n";
    let workshop = Workshop::new(&format!("{SMALL}{expects}"));
    let output = workshop.call(&["run", "s.toml", "--out", "out", "--timing-only"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output).contains("skipped  train_loss of fednova at most 1 "),
        "{}",
        stdout(&output)
    );
    let summary = summary(&workshop.path("out"));
    assert_eq!(summary["timing_only"], true);
    let expect = &summary["expect"];
    assert_eq!((&expect[0]["skipped"], &expect[0]["ok"]), (&true.into(), &false.into()));
    assert_eq!((&expect[1]["skipped"], &expect[1]["ok"]), (&false.into(), &true.into()));
}

#[test]
fn a_run_without_clients_says_so() {
    let class = "[[fleet.class]]\nname = \"a\"\nstep_time = \"1s\"\n";
    let leave = format!("{SMALL}{class}[[event]]\nat = \"2s\"\nleave = true\n");
    let workshop = Workshop::new(&leave);
    let output = workshop.call(&["run", "s.toml"]);
    let words = ["fednova ended early, after 2.00s", "enough will never come"];
    words.iter().for_each(|word| assert!(stdout(&output).contains(word), "{}", stdout(&output)));
    refused(&leave.replace("2s", "0s"), &[], &["wait for ever", "no client is ever there"], true);
    let join = leave.replace("2s", "1h").replace("leave", "join");
    std::fs::write(workshop.path("s.toml"), join).unwrap();
    let output = workshop.call(&["check", "s.toml"]);
    assert!(stdout(&output).contains("1h 00m for clients"), "{}", stdout(&output));
}
