//! The dashboard on a screen of any size.

mod chart;
mod panels;

use super::display;
use super::state::State;
use super::view::View;
use crate::report::TextStyle;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

/// Where there is less room than this, nothing sensible fits.
const SMALLEST: (u16, u16) = (40, 12);
/// Where panels fit side by side.
const WIDE: u16 = 70;
/// Columns of a table of latencies.
const LATENCIES: u16 = 42;

const HELP: [&str; 8] = [
    "v, Tab     next run, then the newest again",
    "V          run before",
    "m          next measure",
    "l          logarithmic scale, or not",
    "space      pause, go on",
    "?          this help",
    "q, Ctrl-C  quit",
    "Esc        leave the help, or quit",
];

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, view: &View, text_style: TextStyle) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let (width, height) = SMALLEST;
        let text = format!("Please make this at least {width} × {height}; q quits.");
        let paragraph = Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true });
        frame.render_widget(paragraph, area);
        return;
    }
    let [top, body, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    frame.render_widget(title(state, view, text_style), top);
    frame.render_widget(keys(state, view, text_style), bottom);
    if area.width >= WIDE {
        draw_wide(frame, body, state, view, text_style);
    } else {
        draw_narrow(frame, body, state, view, text_style);
    }
    if view.shows_help {
        draw_help(frame, body);
    }
}

/// Curves above, two rows of two panels below as far as there is room.
fn draw_wide(frame: &mut Frame<'_>, body: Rect, state: &State, view: &View, text_style: TextStyle) {
    let spread = if body.height >= 14 { (body.height / 4).clamp(6, 12) } else { 0 };
    let news = if body.height >= 19 { (body.height / 4).clamp(5, 14) } else { 0 };
    let [curves, middle, low] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(spread),
        Constraint::Length(news),
    ])
    .areas(body);
    let beside = |area, left| {
        Layout::horizontal([Constraint::Length(left), Constraint::Fill(1)]).spacing(2).areas(area)
    };
    chart::draw(frame, curves, state, view, text_style);
    if let Some(run) = view.run(state) {
        let [left, right] = beside(middle, LATENCIES.max(body.width / 2 - 1));
        panels::latency(frame, left, state, run);
        panels::tau(frame, right, run, text_style);
        let [left, right] = beside(low, body.width * 2 / 5 + 2);
        panels::arrivals(frame, left, run, text_style);
        panels::events(frame, right, run, text_style);
    }
}

/// One panel above the other, the most telling first.
fn draw_narrow(
    frame: &mut Frame<'_>,
    body: Rect,
    state: &State,
    view: &View,
    text_style: TextStyle,
) {
    let from = |least: u16, height: u16| if body.height >= least { height } else { 0 };
    let [curves, latency, news, tau, arrivals] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(from(14, 6)),
        Constraint::Length(from(19, 5)),
        Constraint::Length(from(26, 6)),
        Constraint::Length(from(32, 5)),
    ])
    .areas(body);
    chart::draw(frame, curves, state, view, text_style);
    if let Some(run) = view.run(state) {
        panels::latency(frame, latency, state, run);
        panels::events(frame, news, run, text_style);
        panels::tau(frame, tau, run, text_style);
        panels::arrivals(frame, arrivals, run, text_style);
    }
}

fn title(state: &State, view: &View, text_style: TextStyle) -> Line<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let status = display::status(state);
    let colour = match status.as_str() {
        "running" => Color::Cyan,
        "complete" => Color::Green,
        _ => Color::Yellow,
    };
    let mut spans = vec![Span::styled(state.name().to_string(), bold), Span::raw(" · ")];
    spans.push(Span::styled(status, coloured(text_style, colour)));
    for part in display::title(state, view) {
        spans.push(Span::raw(format!(" · {part}")));
    }
    Line::from(spans)
}

/// What one should know, or else which keys there are.
fn keys(state: &State, view: &View, text_style: TextStyle) -> Line<'static> {
    let mut spans = Vec::new();
    if view.is_paused {
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        spans.push(Span::styled(" paused ", reversed));
        spans.push(Span::raw(" "));
    }
    if state.is_behind {
        spans.push(Span::raw("reading … "));
    }
    let dim = Style::new().add_modifier(Modifier::DIM);
    spans.push(Span::styled("q quit · v run · m measure · l log · ? help", dim));
    for note in display::notes(state) {
        spans.push(Span::styled(format!(" · {note}"), coloured(text_style, Color::Yellow)));
    }
    Line::from(spans)
}

fn draw_help(frame: &mut Frame<'_>, body: Rect) {
    let area = body.centered(
        Constraint::Length(body.width.min(46)),
        Constraint::Length(body.height.min(HELP.len() as u16 + 2)),
    );
    frame.render_widget(Clear, area);
    let lines: Vec<Line<'_>> = HELP.iter().map(|line| Line::raw(*line)).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" Keys ")), area);
}

/// A panel is a rule with its name; its content goes below.
fn panel(name: String) -> Block<'static> {
    let rule = Style::new().add_modifier(Modifier::DIM);
    Block::new()
        .borders(Borders::TOP)
        .border_style(rule)
        .title(Span::styled(format!("{name} "), Style::reset()))
}

fn coloured(text_style: TextStyle, colour: Color) -> Style {
    match text_style {
        TextStyle::Plain => Style::new(),
        TextStyle::Colour => Style::new().fg(colour),
    }
}

#[cfg(test)]
mod tests;
