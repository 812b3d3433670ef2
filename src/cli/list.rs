//! `gruppetto list`: what there is to choose from.

use super::{Problem, print, style};
use crate::report::{Style, wrapped};
use std::fmt::Write;
use std::process::ExitCode;

/// The scenarios in the repository: name and description, put here when the program is built.
const SCENARIOS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// Everything else, as scenarios say it.
const CHOICES: [(&str, &[(&str, &str)]); 6] = [
    (
        "tasks ([task] kind)",
        &[
            ("quadratic", "F_i = ½(x−e_i)ᵀH_i(x−e_i): exact, and the paper's first figures"),
            ("synthetic", "Synthetic(α, β) of Li et al., softmax on native kernels"),
            ("images", "mnist, fashion-mnist, emnist, cifar10, cifar100, from files"),
            ("table", "csv, npz or libsvm"),
        ],
    ),
    (
        "models ([task] model)",
        &[
            ("softmax", "native kernels, or libtorch"),
            ("mlp", "784-200-10, or { mlp = [300, 100] }"),
            ("cnn", "two convolutions and two dense layers, of any size"),
            ("vgg11", "configuration A, without batch norm"),
            ("resnet8", "with group norm"),
            ("{ torchscript = \"net.pt\" }", "your own, exported from PyTorch"),
        ],
    ),
    (
        "local solvers ([client])",
        &[
            ("lr, lr_decay, lr_schedule", "SGD, and how its rate falls"),
            ("momentum", "local momentum"),
            ("prox", "the proximal term μ of FedProx"),
            ("weight_decay", "shrinks the model a little in every step"),
            ("variance_reduction", "\"fednova\", \"scaffold\" or \"vrlsgd\""),
            ("compression", "fp16, { top_k = 0.1 }, { quantize = 8 }; error_feedback"),
        ],
    ),
    (
        "weighting ([server] weighting)",
        &[
            ("fednova", "normalised by ‖a_i‖₁: no bias, however many steps"),
            ("fedavg", "by data: more steps weigh more"),
            ("uniform", "everybody alike"),
        ],
    ),
    (
        "when a round closes ([server] close)",
        &[
            ("all", "when everybody is back"),
            ("{ deadline = \"10s\" }", "after so long, or { percentile = 80, of = 20 }"),
            ("{ first = 10, of = 13 }", "when the first ten are back"),
            ("{ buffer = 5 }", "FedBuff: after every fifth update"),
            ("each", "FedAsync: after every update"),
            ("{ window = \"30s\" }", "again and again after so long"),
        ],
    ),
    (
        "who is asked ([server] scheme)",
        &[
            ("uniform", "at random"),
            ("by-size", "in proportion to their data"),
            ("round-robin", "one after the other"),
            ("oort", "by utility, with exploration"),
            ("tiers", "TiFL: among the equally fast"),
        ],
    ),
];

/// Does what `gruppetto list` says.
pub(super) fn list() -> Result<ExitCode, Problem> {
    print(&text(style()))?;
    Ok(ExitCode::SUCCESS)
}

fn text(style: Style) -> String {
    let mut out = String::new();
    section(&mut out, style, "scenarios (scenarios/NAME.toml)", SCENARIOS);
    for (title, choices) in CHOICES {
        out.push('\n');
        section(&mut out, style, title, choices);
    }
    out.push_str("\ndocs/scenario.md has every key; gruppetto new NAME writes a first scenario\n");
    out
}

fn section(out: &mut String, style: Style, title: &str, entries: &[(&str, &str)]) {
    let _ = writeln!(out, "{}", style.bold(title));
    let width = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(29);
    for (name, what) in entries {
        let pad = width.saturating_sub(name.chars().count());
        let mut lines = wrapped(what, 80 - 2 - width - 2).into_iter();
        let _ = writeln!(out, "  {name}{:pad$}  {}", "", lines.next().unwrap_or_default());
        lines.for_each(|line| {
            let _ = writeln!(out, "  {:width$}  {line}", "");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_into_eighty_columns_and_knows_the_scenarios() {
        let text = text(Style::Plain);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains("  demo "), "{text}");
        assert!(SCENARIOS.iter().all(|(_, what)| !what.is_empty()), "each says what it shows");
    }
}
