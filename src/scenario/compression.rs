//! `[client] compression`: what an update loses on its way up.

use super::error::ScenarioError;
use super::section::Section;
use super::tree::{Node, Raw};
use crate::compress::{Compression, Packing};

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
