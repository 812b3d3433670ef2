//! Draws diagnostics as plain text of about 80 columns, whatever the text they speak of holds.

use super::source::{Origin, Position, Where};
use std::fmt::{self, Formatter};

/// Where notes are broken.
const WIDTH: usize = 80;
/// The longest piece of a line that is shown.
const SHOWN: usize = 68;
/// How much of it stands before the caret when the line is cut.
const LEAD: usize = 24;

/// Writes the place and the line it lies on, and returns the width of the margin.
pub(super) fn snippet(f: &mut Formatter<'_>, at: &Where) -> Result<usize, fmt::Error> {
    let position = at.position();
    match &at.source.origin {
        Origin::File(name) => {
            let (line, before, width) = window(&position);
            let number = position.line.to_string();
            let gutter = number.len();
            let name = clean(name);
            write!(f, "\n{:gutter$}--> {name}:{number}:{}", "", position.before + 1)?;
            write!(f, "\n{:gutter$} |\n{number} | {line}", "")?;
            write!(f, "\n{:gutter$} | {:before$}{}", "", "", "^".repeat(width))?;
            Ok(gutter)
        }
        Origin::Argument(option) => {
            let (line, before, width) = window(&position);
            // The argument is its own line: the caret goes right under it.
            let before = before + option.len() + 1;
            write!(f, "\n  --> {option} {line}\n   |  {:before$}{}", "", "^".repeat(width))?;
            Ok(2)
        }
    }
}

/// Writes one `= …` line, broken between words where it is too long.
pub(super) fn note(f: &mut Formatter<'_>, gutter: usize, text: &str) -> fmt::Result {
    write!(f, "\n{:gutter$} =", "")?;
    let mut column = gutter + 2;
    for word in clean(text).split(' ') {
        let length = word.chars().count();
        if column + 1 + length > WIDTH && column > gutter + 3 {
            write!(f, "\n{:1$}", "", gutter + 3)?;
            column = gutter + 3;
        } else {
            write!(f, " ")?;
            column += 1;
        }
        write!(f, "{word}")?;
        column += length;
    }
    Ok(())
}

/// The part of a line around its caret, with the caret's column and width in it.
fn window(position: &Position<'_>) -> (String, usize, usize) {
    let mut shown = String::new();
    let (mut before, mut width) = (0, 0);
    let cut = position.text.chars().count() > SHOWN;
    let skipped = if cut { position.before.saturating_sub(LEAD) } else { 0 };
    if skipped > 0 {
        shown.push('…');
        before += 1;
    }
    let mut rest = position.text.chars().enumerate().skip(skipped);
    for (index, c) in rest.by_ref().take(SHOWN) {
        let piece = visible(c);
        match index {
            _ if index < position.before => before += piece.chars().count(),
            _ if index < position.before + position.width => width += piece.chars().count(),
            _ => {}
        }
        shown.push_str(&piece);
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    // An error at the very end of a line points just past it.
    (shown, before, width.max(1))
}

/// Text with nothing in it that could move the cursor or hide other text.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> std::borrow::Cow<'static, str> {
    match c {
        '\t' => "    ".into(),
        // Control characters, and those that turn the direction of writing.
        c if c.is_control() => "�".into(),
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "�".into(),
        c => c.to_string().into(),
    }
}

/// A piece of user text short enough for a message.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 32;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
