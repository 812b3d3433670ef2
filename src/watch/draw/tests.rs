use super::*;
use crate::run_files::{Summary, TableHeader};
use crate::watch::rows::{ClientReader, RoundReader};
use crate::watch::view::Wish;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::Path;

const ROUNDS: &str = "variant,seed,round,virtual_seconds,asked,arrived,tau_mean,chi2,train_loss,\
                      grad_norm,test_accuracy,test_loss,distance,waited_seconds";
const CLIENTS: &str = "variant,seed,round,client,class,tau,dispatched_ns,download_ns,compute_ns,\
                       upload_ns,arrived_ns,outcome,staleness,phase";

/// Two variants of twenty rounds, ten clients in each, one of them late.
fn example() -> State {
    let mut rounds = RoundReader::new(TableHeader::new(Path::new("rounds.csv"), ROUNDS)).unwrap();
    let mut clients =
        ClientReader::new(TableHeader::new(Path::new("clients.csv"), CLIENTS)).unwrap();
    let mut state = State { has_clients: true, ..State::default() };
    for (variant, speed) in [("fedavg", 0.02), ("fednova", 0.04)] {
        for round in 1..=20u64 {
            let now = round * 2_000_000_000;
            for client in 0..10 {
                let (tau, start) = (2 + client * client, now - 2_000_000_000);
                let (outcome, end) =
                    if client == 9 { ("late", now + 500_000_000) } else { ("used", now) };
                let compute = 20_000_000 * tau;
                state.take_part(
                    &clients
                        .read(&format!(
                            "{variant},1,{round},{client},phone,{tau},{start},4000000,{compute},\
                             90000000,{end},{outcome},0,done"
                        ))
                        .unwrap(),
                );
            }
            let loss = 2.0 / (1.0 + speed * (round * round) as f64);
            let (seconds, waited) = (2 * round, if round == 19 { "3.5" } else { "0.0" });
            state.close(
                &rounds
                    .read(&format!(
                        "{variant},1,{round},{seconds}.0,10,9,30.5,0.125,{loss},,,,,{waited}"
                    ))
                    .unwrap(),
            );
        }
    }
    state.summary = Some(Summary { name: "example".into(), ..Summary::default() });
    state
}

fn screen(width: u16, height: u16, state: &State, view: &View, text_style: TextStyle) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, view, text_style)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width));
    rows.map(|row| {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        format!("{}\n", line.trim_end())
    })
    .collect()
}

#[test]
fn eighty_columns_hold_everything() {
    let text = screen(80, 24, &example(), &View::default(), TextStyle::Colour);
    let expected = include_str!("80x24.txt");
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    let text = screen(30, 4, &example(), &View::default(), TextStyle::Plain);
    assert_eq!(text, "Please make this at least 40 ×\n12; q quits.\n\n\n");
}

#[test]
fn any_size_and_any_state_can_be_drawn() {
    let mut help = View::default();
    help.grant(Wish::Help, &State::default());
    help.grant(Wish::SwitchScale, &State::default());
    for state in [State::default(), example()] {
        for view in [&View::default(), &help] {
            for (width, height) in
                (0..130).step_by(7).flat_map(|w| (0..60).step_by(3).map(move |h| (w, h)))
            {
                screen(width + 1, height + 1, &state, view, TextStyle::Colour);
            }
        }
    }
}

#[test]
fn narrow_screens_show_the_most_telling() {
    let text = screen(40, 24, &example(), &View::default(), TextStyle::Plain);
    for part in ["example · running", "train_loss", "p99", "last events"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("local steps"), "there is no room\n{text}");
    let text = screen(40, 12, &example(), &View::default(), TextStyle::Plain);
    assert!(text.contains("train_loss") && !text.contains("p99"), "{text}");
}

#[test]
fn nothing_is_coloured_without_colours() {
    let state = example();
    for text_style in [TextStyle::Plain, TextStyle::Colour] {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| draw(frame, &state, &View::default(), text_style)).unwrap();
        let cells = terminal.backend().buffer().content();
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(coloured, text_style == TextStyle::Colour);
    }
}

#[test]
fn keys_change_what_is_seen() {
    let (state, mut view) = (example(), View::default());
    let mut after = |wish| {
        view.grant(wish, &state);
        screen(80, 24, &state, &view, TextStyle::Plain)
    };
    assert!(after(Wish::NextRun).contains("fedavg, seed 1 (chosen)"));
    assert!(after(Wish::NextMeasure).contains("arrived / asked over simulated time"));
    assert!(after(Wish::SwitchScale).contains("arrived / asked, logarithmic"));
    assert!(after(Wish::Pause).contains(" paused "));
    assert!(after(Wish::Help).contains("logarithmic scale, or not"));
}
