//! Plug-ins in scenarios: what is told when something is wrong, and what the program makes of them.

use crate::simulated::options;
use gruppetto::aggregate::{AggregatedUpdate, ServerOptimizer};
use gruppetto::clock::{SimTime, Span, TimeOverflow};
use gruppetto::plugins::PluginError;
use gruppetto::policy::{
    Character, Closing, KeyedRng, Opened, RoundOpened, Selector, Then, UpdateArrived, Verdict,
    View, Work, WorkAmount, WorkAsked,
};
use gruppetto::run::{Assumptions, estimate, theory};
use gruppetto::{Options, Plugins, Scenario, run};

/// Asks for the clients it was told to.
struct Fixed(Vec<u32>);

impl Selector for Fixed {
    fn select(&mut self, _: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        self.0.clone()
    }
}

/// Closes after a time; may want to go on after it.
struct Later {
    told: Span,
    more: Option<Span>,
    character: Character,
}

impl Closing for Later {
    fn character(&self) -> Character {
        self.character
    }

    fn opened(&mut self, round: &RoundOpened) -> Result<Opened, TimeOverflow> {
        Ok(Opened { deadline: Some(round.now.after(self.told)?), wake: None })
    }

    fn arrived(&mut self, _: &UpdateArrived) -> Verdict {
        Verdict::COUNT
    }

    fn time_is_up(&mut self, now: SimTime) -> Then {
        match self.more.take() {
            Some(more) => Then::WakeAt(now.after(more).unwrap()),
            None => Then::Close,
        }
    }
}

struct Endless;

impl Work for Endless {
    fn amount(&mut self, _: &WorkAsked, _: &KeyedRng) -> WorkAmount {
        WorkAmount::UntilDeadline
    }
}

/// Three steps in odd rounds, one epoch in even ones.
struct InTurns;

impl Work for InTurns {
    fn amount(&mut self, ask: &WorkAsked, _: &KeyedRng) -> WorkAmount {
        assert!(ask.samples > 0 && ask.batch > 0 && ask.step > Span::ZERO);
        if ask.round % 2 == 1 { WorkAmount::Steps(3) } else { WorkAmount::Epochs(1.0) }
    }
}

/// Moves nowhere, and keeps all updates.
struct Keeps;

impl ServerOptimizer for Keeps {
    fn apply(&mut self, _: &mut [f64], update: &AggregatedUpdate<'_>) {
        assert!(!update.updates.is_empty() && update.direction.is_empty());
    }

    fn collects(&self) -> bool {
        true
    }
}

fn plugins() -> Plugins {
    let seconds = |seconds: u64| Span::from_nanos(seconds * 1_000_000_000);
    Plugins::new()
        .selector("fixed", |parameters, fleet| {
            let clients: Vec<u64> = parameters.require("clients")?;
            match clients.len() <= fleet.clients() {
                true => Ok(Box::new(Fixed(clients.iter().map(|client| *client as u32).collect()))),
                false => Err(parameters.wrong("clients", "at most as many as there are")),
            }
        })
        .selector("fixture", |_, _| Err(PluginError::new("never ready")))
        .closing("later", move |parameters, _| {
            let character = Character::ROUNDS.with_deadline();
            let extends = parameters.get_or("extends", false)?;
            Ok(Box::new(Later {
                told: seconds(1),
                more: parameters.get("more")?,
                character: if extends { character.extensible() } else { character },
            }))
        })
        .closing("hasty", move |_, _| {
            let character = Character::ROUNDS.leaving_behind();
            Ok(Box::new(Later { told: seconds(1), more: None, character }))
        })
        .work("endless", |_, _| Ok(Box::new(Endless)))
        .work("in-turns", |_, _| Ok(Box::new(InTurns)))
        .optimizer("keeps", |_, _| Ok(Box::new(Keeps)))
}

fn read(keys: &str) -> Result<Scenario, String> {
    let text = format!("name = \"p\"\nstop.rounds = 4\ntask.clients = 5\n{keys}\n");
    Scenario::parse_with("p.toml", &text, &[], None, &plugins()).map_err(|error| error.to_string())
}

#[test]
fn errors_have_their_place_and_say_what_there_is() {
    for (keys, parts) in [
        (
            "server.scheme = { plugin = \"fixde\", clients = [1] }",
            &[
                "no plug-in \"fixde\"",
                "`server.scheme`",
                "4:28",
                "\"fixed\", \"fixture\"",
                "mean `fixed`",
            ][..],
        ),
        ("server.weighting = { plugin = \"mine\" }", &["none is registered", "4:31"]),
        ("server.scheme = { plugin = \"fixed\" }", &["missing parameter `clients`", "an array"]),
        (
            "server.scheme = { plugin = \"fixed\", clients = \"all\" }",
            &["expected an array, found the string \"all\"", "4:47"],
        ),
        (
            "server.scheme = { plugin = \"fixed\", clients = [1], k = 2 }",
            &["\"fixed\" has no parameter `k`", "only: clients", "4:56"],
        ),
        (
            "server.scheme = { plugin = \"fixed\", clients = [0, 1, 2, 3, 4, 5] }",
            &["`clients` cannot be an array", "at most as many as there are"],
        ),
        ("server.scheme = { plugin = \"fixture\" }", &["never ready", "4:17"]),
        ("server.scheme = { plugin = 3 }", &["expected a string, found the number 3"]),
        (
            "server = { scheme = { plugin = \"fixed\", clients = [1] }, participation = \"unbiased\", close = \"all\" }\n\
             client.work.steps = 2",
            &["does not say how likely each client is to be asked", "4:74", "`drawing`"],
        ),
        (
            "server = { close = { plugin = \"hasty\" }, participation = \"unbiased\" }\n\
             client.work.steps = 2",
            &["the first to arrive are not a random sample", "4:58", "leaves slow clients behind"],
        ),
        ("task.kind = { plugin = \"mine\" }", &["no plug-in \"mine\"", "`task.kind`"]),
        (
            "server.close = { plugin = \"later\", more = \"soon\" }",
            &["a duration such as \"30s\"", "4:43"],
        ),
    ] {
        let error = read(keys).err().unwrap_or_else(|| panic!("accepted: {keys}"));
        for part in parts {
            assert!(error.contains(part), "{keys}\n{part}\n{error}");
        }
    }
}

fn fails(keys: &str) -> String {
    let scenario = read(keys).unwrap_or_else(|error| panic!("{error}"));
    match run(&scenario, &Options::default(), &plugins()) {
        Ok(_) => panic!("it ran: {keys}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_decision_that_cannot_be_carried_out_ends_the_run_with_its_place() {
    let message =
        fails("client.work.steps = 2\nserver.scheme = { plugin = \"fixed\", clients = [0, 9] }");
    for part in ["round 1", "seed 1", "client 9", "5 clients, counted from 0"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let message = fails("client.work = { plugin = \"endless\" }\nserver.close = \"all\"");
    for part in ["client", "round 1", "no deadline"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let message =
        fails("client.work.steps = 2\nserver.close = { plugin = \"later\", more = \"2s\" }");
    for part in ["round 1", "after the deadline", "may extend"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_round_that_is_extended_closes_later_and_tells_clients_the_first_deadline() {
    let text = "client.work = { until = \"deadline\" }\n\
                server.close = { plugin = \"later\", more = \"2s\", extends = true }\n\
                fleet.class = [{ name = \"phone\", step_time = \"90ms\" }]";
    let scenario = read(text).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().unwrap();
    let summary = run(&scenario, &options(folder.path(), 2), &plugins()).unwrap();
    // The first round goes on for two seconds more, the others close at their deadline.
    assert_eq!(summary.variants[0].virtual_seconds, 3.0 + 3.0);
    let clients = std::fs::read_to_string(folder.path().join("run/clients.csv")).unwrap();
    let arrived = |line: &str| line.split(',').nth(12).unwrap().parse::<u64>().unwrap();
    let first = clients.lines().skip(1).take(5).map(arrived).max().unwrap();
    assert!(first <= 1_000_000_000, "clients work towards the deadline they were told: {first}");
}

#[test]
fn work_of_a_plug_in_is_in_steps_or_epochs() {
    let scenario = read("client.work = { plugin = \"in-turns\" }\nserver.close = \"all\"").unwrap();
    let folder = tempfile::tempdir().unwrap();
    run(&scenario, &options(folder.path(), 1), &plugins()).unwrap();
    let clients = std::fs::read_to_string(folder.path().join("run/clients.csv")).unwrap();
    for line in clients.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (round, tau): (u64, u64) = (cells[2].parse().unwrap(), cells[6].parse().unwrap());
        assert!(if round % 2 == 1 { tau == 3 } else { tau >= 2 }, "{line}");
    }
}

#[test]
fn what_is_unknown_with_a_collecting_optimiser_is_told_as_unknown() {
    let scenario =
        read("client.work.steps = 2\nserver.optimizer = { plugin = \"keeps\" }").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let summary = run(&scenario, &options(folder.path(), 2), &plugins()).unwrap();
    assert!(summary.variants[0].chi2.is_nan());
    let file = |name: &str| std::fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&file("summary.json")).unwrap();
    assert!(json["variants"][0]["chi2"].is_null());
    let rounds = file("rounds.csv");
    let place = rounds.lines().next().unwrap().split(',').position(|name| name == "chi2").unwrap();
    assert!(rounds.lines().skip(1).all(|line| line.split(',').nth(place) == Some("")), "{rounds}");
    assert!(folder.path().join("run/report.html").exists());
}

#[test]
fn check_theory_and_timing_only_work_with_plug_ins() {
    let keys = "server.scheme = { plugin = \"fixed\", clients = [3, 1] }\n\
                server.close = { plugin = \"later\" }\nclient.work = { plugin = \"in-turns\" }";
    let scenario = read(keys).unwrap();
    let estimates = estimate(&scenario, 2).unwrap();
    let told = estimates[0].to_string();
    assert!(told.contains("asked"), "{told}");
    assert_eq!(theory(&scenario, &Assumptions::default()).unwrap().len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let timing = Options { timing_only: true, ..options(folder.path(), 1) };
    assert_eq!(run(&scenario, &timing, &plugins()).unwrap().variants[0].rounds, 4);
}
