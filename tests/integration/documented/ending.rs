//! outputs.md: what there is of a run at its end.

use super::{near, quadratic};
use crate::simulated::{Simulated, options};
use gruppetto::actors::Interrupt;
use gruppetto::metric::Metric;
use gruppetto::plugins::Plugins;
use gruppetto::policy::{KeyedRng, Selector, View};
use gruppetto::run::run;
use gruppetto::scenario::Scenario;

/// Rounds of 10 ms, of which every tenth is evaluated; each leaves half of the way. The client is the only one,
/// so that its gradient is everybody's.
fn rarely_evaluated(stop: &str, rest: &str) -> Simulated {
    let clients = "clients = 1\ncenters = [[1.0]]";
    let fleet = format!("[[fleet.class]]\nname = \"c\"\nstep_time = \"10ms\"\n{rest}");
    let server = "close = \"all\"\nevaluate_every = 10";
    Simulated::run(&quadratic(stop, clients, "lr = 0.5\nwork.steps = 1", server, &fleet), 1)
}

/// "measured every `evaluate_every` aggregations and at the end: the last row has the metrics of
/// `summary.json`", also of a run that `[stop] time` ends in the middle of round 3, or that everybody leaves.
#[test]
fn the_last_row_has_the_metrics_of_the_end() {
    let leave = "[[event]]\nat = \"25ms\"\nleave = true\n";
    for (stop, rest, stopped_by) in [
        ("rounds = 2", "", "rounds"),
        ("time = \"25ms\"", "", "time"),
        ("rounds = 9", leave, "deserted"),
    ] {
        let run = rarely_evaluated(stop, rest);
        let variant = &run.summary.variants[0];
        // Round 3 of the run that is left closes with nobody in it.
        let rounds = if stopped_by == "deserted" { 3 } else { 2 };
        assert_eq!((variant.stopped_by.as_str(), variant.rounds), (stopped_by, rounds));
        near(variant.metrics.get(Metric::Distance).unwrap(), 0.25);
        let rows = run.columns("rounds.csv", ["distance", "grad_norm_squared", "kappa2"]);
        let (last, earlier) = rows.split_last().unwrap();
        assert!(earlier.iter().all(|row| row[0].is_empty()), "{rows:?}");
        assert_eq!(*last, ["0.25", "0.0625", "0.0"], "{stopped_by}");
    }
}

/// theory.md: κ² stands "where the model was measured and as many client-rounds have passed as there are clients,
/// and at the end". Four clients, one a round: the end comes after two, in the middle of round 3. Both
/// rounds were measured.
#[test]
fn gradients_are_compared_at_the_end() {
    let clients = "clients = 4\ncenters = [[1.0], [-1.0], [0.0], [0.0]]";
    let server = "close = \"all\"\nscheme = \"round-robin\"\nsample.clients = 1";
    let fleet = "[[fleet.class]]\nname = \"c\"\nstep_time = \"10ms\"";
    let text = quadratic("time = \"25ms\"", clients, "lr = 0.5\nwork.steps = 1", server, fleet);
    let rows = Simulated::run(&text, 1).columns("rounds.csv", ["distance", "kappa2"]);
    // The first two were heard, and weigh the same: ½·1² + ½·1², whatever x is.
    assert_eq!(rows, [["0.5", ""], ["0.25", "1.0"]]);
}

/// Asks everybody, and interrupts the run when it opens round 3.
struct Interrupting {
    interrupt: Interrupt,
}

impl Selector for Interrupting {
    fn select(&mut self, view: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        if view.round == 3 {
            self.interrupt.set();
        }
        (0..view.wanted as u32).collect()
    }
}

/// "of a run that was interrupted, those that were measured last": here before the first round. It ends in
/// round 3, at the next event.
#[test]
fn a_run_that_is_interrupted_has_what_was_measured_last() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), 1);
    let clients = "clients = 1\ncenters = [[1.0]]";
    let server = "close = \"all\"\nevaluate_every = 10";
    let text = quadratic("rounds = 9", clients, "lr = 0.5\nwork.steps = 1", server, "");
    let interrupt = options.interrupt.clone();
    let plugins = Plugins::new().selector("interrupting", move |_, _| {
        Ok(Box::new(Interrupting { interrupt: interrupt.clone() }))
    });
    let text = text.replace("[server]\n", "[server]\nscheme = { plugin = \"interrupting\" }\n");
    let scenario = Scenario::parse_with("test.toml", &text, &[], None, &plugins).unwrap();
    let summary = run(&scenario, &options, &plugins).unwrap();
    let run = Simulated::new(summary, folder);
    let variant = &run.summary.variants[0];
    assert_eq!((variant.stopped_by.as_str(), variant.rounds), ("interrupted", 2));
    assert_eq!(variant.metrics.get(Metric::Distance), Some(1.0));
    assert_eq!(run.columns("rounds.csv", ["distance"]), [[""], [""]]);
    assert_eq!(run.x("fednova"), [0.75], "the model went on");
}

/// "0 of a client that was lost, gave up, or was still on its way at the end": the first has arrived when the
/// time is up and has its two steps, though its round never closed and its update counts for nothing. The
/// second is in the middle of its work.
#[test]
fn an_update_of_a_round_that_never_closed_has_its_steps_and_one_on_its_way_none() {
    let fleet = "[fleet]\nassign = \"in-order\"\n\
                 [[fleet.class]]\nname = \"fast\"\nstep_time = \"1ms\"\n\
                 [[fleet.class]]\nname = \"slow\"\nstep_time = \"20ms\"\n";
    let clients = "clients = 2\ndim = 1";
    let text = quadratic("time = \"25ms\"", clients, "work.steps = 2", "close = \"all\"", fleet);
    let run = Simulated::run(&text, 1);
    let rows = run.columns("clients.csv", ["client", "tau", "outcome", "weight", "phase"]);
    assert_eq!(
        rows,
        [["0", "2", "unfinished", "0.0", "done"], ["1", "0", "unfinished", "0.0", "compute"]]
    );
    assert_eq!(run.summary.variants[0].tau.max, 0, "no update was used");
}
