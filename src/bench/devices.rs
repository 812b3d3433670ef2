//! Devices that change: recordings replayed, phones that come and go, links that are shared.

use super::round_timer::RoundTimer;
use super::{Extent, Figure, median, millions};
use crate::actors::ClockMode;
use crate::clock::Span;
use crate::run::{Error, Options, run};
use crate::scenario::Scenario;
use crate::train::DeviceChoice;
use gruppetto_trace::{Mixture, TraceError, TraceWriter};
use std::path::Path;

/// Asked at a time.
const ASKED: u64 = 1000;

pub(super) fn figures(extent: Extent) -> Result<Vec<Figure>, Error> {
    let full = extent == Extent::Full;
    let (repeats, rounds, clients) = if full { (3, 500, 100_000) } else { (1, 60, 20_000) };
    let name = format!("gruppetto-bench-{}.csv", std::process::id());
    let trace = std::env::temp_dir().join(name);
    let (mut steady, mut replayed, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    let recorded = format!(
        "trace = {{ file = {:?}, repeat = true, shift = \"random\", assign = \"random\" }}",
        trace.display().to_string()
    );
    let links = "server_uplink = \"100Gbps\"\nserver_downlink = \"100Gbps\"\n";
    if let Err(error) = make_up(&trace) {
        return Ok(vec![Figure::new("devices that change", format!("not measured: {error}"))]);
    }
    // Side by side, so that all see the same machine.
    for _ in 0..repeats {
        steady.push(rate(clients, rounds, "", "step_time = \"100ms\"\nuplink = \"20Mbps\""));
        replayed.push(rate(clients, rounds, "", &recorded));
        shared.push(rate(clients, rounds, links, &recorded));
    }
    // Whatever became of it, the trace is not kept.
    let _ = std::fs::remove_file(&trace);
    let middle =
        |rates: Vec<Result<f64, Error>>| rates.into_iter().collect::<Result<_, _>>().map(median);
    let (steady, replayed, shared) = (middle(steady)?, middle(replayed)?, middle(shared)?);
    let figure = Figure::new("  trace, availability, shared links", millions(shared));
    Ok(vec![
        Figure::new(format!("client-rounds, {ASKED} of {clients} devices"), millions(steady)),
        Figure::new("  trace, availability", millions(replayed)),
        if full { figure.goal("at least 0.3", shared >= 0.3e6) } else { figure },
    ])
}

/// Writes a day of a thousand phones.
fn make_up(path: &Path) -> Result<(), TraceError> {
    let phones = Mixture::named("phones").expect("one of the shipped mixtures");
    let mut writer = TraceWriter::create(path, phones.columns(), "for gruppetto bench")?;
    let day = Span::from_nanos(86_400_000_000_000);
    for phone in phones.devices(1, day).take(1000) {
        writer.write(&phone)?;
    }
    writer.finish()
}

/// Client-rounds per second from the first aggregation to the last.
fn rate(clients: usize, rounds: u64, links: &str, device: &str) -> Result<f64, Error> {
    let text = format!(
        r#"
name = "devices"
stop.rounds = {rounds}
[task]
kind = "quadratic"
clients = {clients}
[client]
work = {{ steps = 200 }}
[server]
close = "all"
sample = {{ clients = {ASKED} }}
[record]
clients = "off"
[fleet]
{links}
[[fleet.class]]
name = "phone"
{device}
latency = "40ms"
"#
    );
    let scenario = Scenario::parse("devices", &text, &[], None).expect("a fixed scenario");
    let options = Options {
        out: None,
        force: true,
        threads: 1,
        clock_mode: ClockMode::Virtual,
        timing_only: true,
        device: DeviceChoice::Cpu,
        ..Options::default()
    };
    let round_timer = RoundTimer::default();
    run(&scenario, &options, &round_timer.plugins())?;
    Ok((ASKED * (rounds - 1)) as f64 / round_timer.between_first_and_last())
}
