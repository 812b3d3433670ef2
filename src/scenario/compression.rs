//! `[client] compression`: what an update loses on its way up.

use super::error::ScenarioError;
use super::schema::entry::Preset::{Nothing, Toml};
use super::schema::entry::{Choice, Key, Table, choice, key};
use super::section::Section;
use super::tree::{Node, Raw};
use crate::compress::{Compression, Packing};

/// What may be done to an update.
pub(super) const COMPRESSIONS: &[Choice] = &[
    choice("\"none\"", "the server gets what was computed; 32n bits"),
    choice("\"fp16\"", "every number in half precision; 16n bits").or("{ fp16 = true }").detail(
        "The nearest, of two the even one; what is too large becomes ±65504, not infinity, and \
         what is below 3e-8 becomes 0",
    ),
    choice(
        "{ top_k = 0.1 }",
        "the tenth of the numbers that is largest in magnitude, 0 for others",
    )
    .detail(
        "At least one number, of equals the first. 32 + ⌈log₂n⌉ bits for each, number and \
             place; never more than 32n",
    ),
    choice("{ quantize = 8 }", "every number in 8 bits, right on average (QSGD); 8n + 32 bits")
        .detail(
            "A whole multiple of the largest magnitude over 2⁷ − 1, rounded up or down at random",
        ),
];

/// The table; exactly one of these keys is given.
pub(super) const TABLE: Table =
    Table::braces("client.compression", "what an update loses on its way up", COMPRESSION)
        .exactly_one(&[&[&["fp16"], &["top_k"], &["quantize"]]]);

/// The keys of a table that says so.
const COMPRESSION: &[Key] = &[
    key("fp16", "`true`", Nothing, "half precision"),
    key("top_k", "above 0, up to 1", Nothing, "the part of the numbers that is sent"),
    key("quantize", "2 to 16", Nothing, "bits per number"),
    key(
        "error_feedback",
        "`true`, `false`",
        Toml("false"),
        "a client keeps what an update lost and adds it to its next one",
    ),
];

/// Reads `compression`.
pub(super) fn read(node: &Node) -> Result<Packing, ScenarioError> {
    let Raw::Table(_) = &node.value else {
        let names = [("none", Compression::None), ("fp16", Compression::Fp16)];
        let compression = node.one_of_or_table("client.compression", "compression", &names)?;
        return Ok(Packing { compression, error_feedback: false });
    };
    let mut section = Section::open("client.compression", node)?;
    let (how, value) = section.exactly_one(&["fp16", "top_k", "quantize"])?;
    let compression = match how {
        "fp16" => match value.truth()? {
            true => Compression::Fp16,
            false => {
                let error = value.at.error("`fp16` cannot be false");
                return Err(error.expected("true, or `compression = \"none\"`"));
            }
        },
        "top_k" => {
            let part = value.number_that("top_k", "a number above 0, up to 1", |part| {
                part > 0.0 && part <= 1.0
            });
            Compression::TopK(part.map_err(|error| {
                error.note("the part of the parameters that is sent: 0.1 is a tenth of them")
            })?)
        }
        _ => Compression::Quantize(value.whole("quantize", 2..=16).map_err(|error| {
            error.note("bits per number; one is the sign, and a full number has 32")
        })? as u32),
    };
    let error_feedback = section.get("error_feedback").map_or(Ok(false), Node::truth)?;
    section.finish("here")?;
    Ok(Packing { compression, error_feedback })
}
