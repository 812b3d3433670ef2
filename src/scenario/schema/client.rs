//! `[client]`: how a client works.

use super::entry::Preset::{Nothing, Required, Toml, Words};
use super::entry::{Choice, Key, Table, choice, key};
use crate::scenario::{compression, foresight};

pub(super) const TABLES: &[Table] = &[
    Table::header("client", "how a client works", CLIENT).listed("local solvers"),
    compression::TABLE,
    foresight::TABLE,
    Table::braces("client.lr_schedule", "a change of the learning rate", LR_SCHEDULE),
    Table::braces("client.work", "how many local steps a client sets out to make", WORK)
        .exactly_one(&[&[&["until"], &["epochs", "last_batch"], &["steps"]]]),
];

const CLIENT: &[Key] = &[
    key("batch", "whole number", Words("20 (`\"full\"` for quadratics)"), "samples per local step")
        .choices(&[choice("\"full\"", "all of a client's: deterministic gradient descent")]),
    key("lr", "number above 0", Toml("0.02"), "learning rate η"),
    key(
        "lr_schedule",
        "list of `{ after = …, times = … }`",
        Toml("[]"),
        "how the rate falls from round to round: what it is multiplied by after some of them",
    ),
    key(
        "momentum",
        "0 to below 1",
        Toml("0"),
        "local momentum ρ; the buffer is zero when a round begins",
    ),
    key(
        "prox",
        "number, 0 or more; `lr` · `prox` ≤ 1 in every round",
        Toml("0"),
        "μ of FedProx's proximal term μ(x − x₀)",
    ),
    key("lr_decay", "above 0, up to 1", Toml("1"), "γ: step k of a round uses ηγᵏ"),
    key("weight_decay", "number, 0 or more", Toml("0"), "λ of the weight decay λx"),
    key("variance_reduction", "", Toml("\"none\""), "what corrects the local gradients")
        .choices(VARIANCE_REDUCTION)
        .listed("variance reduction"),
    key("compression", "", Toml("\"none\""), "what an update loses on its way up")
        .choices(compression::COMPRESSIONS)
        .listed("compression of updates"),
    key(
        "work",
        "",
        Toml("{ until = \"deadline\" }"),
        "how many local steps a client sets out to make",
    )
    .choices(WORKS)
    .listed("how much work a client has")
    .plugin("Work"),
    key(
        "foresight",
        "",
        Toml("\"exact\""),
        "what a client knows when it decides whether another step and its upload fit before the deadline",
    )
    .choices(foresight::FORESIGHTS)
    .listed("what clients know of their own time"),
];

const VARIANCE_REDUCTION: &[Choice] = &[
    choice("\"none\"", "nothing"),
    choice("\"fednova\"", "Σ p_j d_j − d_i, the normalised gradients of the clients' last rounds")
        .detail("Section 5 of the paper; with any solver"),
    choice("\"fednova-as-printed\"", "the same with d_i as Algorithm 2 computes it").detail(
        "That includes the last correction, so corrections alternate between nothing and all that is \
         needed, and half of the drift stays; with any solver",
    ),
    choice("\"scaffold\"", "c − c_i, the control variates of SCAFFOLD (option II)")
        .detail("With plain SGD only"),
    choice("\"vrlsgd\"", "−Δ_i of variance-reduced local SGD")
        .detail("With τ_i in place of its common number of steps, and with plain SGD only"),
];

const LR_SCHEDULE: &[Key] = &[
    key(
        "after",
        "round number, or a part of `[stop] rounds` such as `\"50%\"`",
        Required,
        "the last round before the change",
    ),
    key("times", "number above 0", Required, "what the rate is multiplied by"),
];

const WORKS: &[Choice] = &[
    choice("{ until = \"deadline\" }", "as many steps as the deadline allows: τ_i emerges")
        .detail("Needs `close = { deadline = \"…\" }` and a `[fleet]`"),
    choice("{ epochs = 2 }", "passes over the local data, a DIST"),
    choice("{ steps = 20 }", "local steps, a DIST"),
    choice("{ steps = [3, 10, 50] }", "one number per client; also of `epochs`"),
];

const WORK: &[Key] = &[
    key("until", "", Nothing, "when a client stops")
        .choices(&[choice("\"deadline\"", "when another step and the upload would not fit")]),
    key("epochs", "DIST above 0, or one number per client", Nothing, "passes over the local data")
        .dist(),
    key("steps", "DIST, 1 or more, or one number per client", Nothing, "local steps").dist(),
    key("redraw", "", Toml("\"round\""), "when an amount that is a DIST is drawn").choices(&[
        choice("\"round\"", "for every client in every round"),
        choice("\"once\"", "once for every client"),
    ]),
    key(
        "last_batch",
        "",
        Toml("\"fills-up\""),
        "beside `epochs`: how samples that do not fill a batch are counted",
    )
    .choices(&[
        choice("\"fills-up\"", "τ_i = ⌊E·n_i/B⌋"),
        choice("\"counts\"", "as a batch, as PyTorch's loaders do: τ_i = ⌊E·⌈n_i/B⌉⌋"),
    ]),
];
