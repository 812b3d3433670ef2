//! What is shown of one run.

use super::{coloured, panel};
use crate::report::TextStyle;
use crate::watch::display;
use crate::watch::event::What;
use crate::watch::run::WatchedRun;
use crate::watch::state::State;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline};

pub(super) fn latency(frame: &mut Frame<'_>, area: Rect, state: &State, run: &WatchedRun) {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let lines = display::latency_lines(run).into_iter().enumerate().map(|(row, line)| match row {
        0 => Line::styled(line, dim),
        1 => Line::styled(line, bold),
        _ => Line::raw(line),
    });
    let heading = display::latency_heading(state, run);
    let paragraph = Paragraph::new(lines.collect::<Vec<_>>()).block(panel(heading));
    frame.render_widget(paragraph, area);
}

pub(super) fn tau(frame: &mut Frame<'_>, area: Rect, run: &WatchedRun, text_style: TextStyle) {
    let block = panel(display::tau_heading(run));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let [above, axis] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(inside);
    let bars = run.taus.bars(usize::from(inside.width));
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        let text = "no row of clients.csv yet";
        frame.render_widget(Paragraph::new(text), inside);
        return;
    };
    // A few bars are drawn broad.
    let breadth = (usize::from(inside.width) / bars.len()).max(1);
    let counts: Vec<u64> = bars.iter().map(|bar| bar.count).collect();
    let heights = visible(&counts, above.height);
    let data: Vec<u64> =
        heights.iter().flat_map(|count| std::iter::repeat_n(*count, breadth)).collect();
    let drawn = Rect { width: data.len() as u16, ..above };
    frame.render_widget(
        Sparkline::default().data(data).style(coloured(text_style, Color::Cyan)),
        drawn,
    );
    let axis = Rect { width: drawn.width.max(12).min(axis.width), ..axis };
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Line::styled(first.from.to_string(), dim), axis);
    if bars.len() > 1 {
        let end = Line::styled(last.to.to_string(), dim).alignment(Alignment::Right);
        frame.render_widget(end, axis);
    }
}

/// Where anybody is, something is seen.
fn visible(counts: &[u64], rows: u16) -> Vec<u64> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let least = most.div_ceil(8 * u64::from(rows.max(1)));
    counts.iter().map(|count| if *count == 0 { 0 } else { (*count).max(least) }).collect()
}

pub(super) fn arrivals(frame: &mut Frame<'_>, area: Rect, run: &WatchedRun, text_style: TextStyle) {
    let block = panel(display::arrivals_heading(run));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let [above, below] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(2)]).areas(inside);
    let newest = run.recent.len().saturating_sub(usize::from(above.width));
    let recent = || run.recent.iter().skip(newest);
    let arrived: Vec<u64> = recent().map(|(_, arrived)| *arrived).collect();
    let most = recent().map(|(asked, arrived)| *asked.max(arrived)).max().unwrap_or(0);
    let sparkline = Sparkline::default().data(arrived).max(most.max(1));
    frame.render_widget(sparkline.style(coloured(text_style, Color::Cyan)), above);
    let lines = vec![Line::raw(display::heard(run)), Line::raw(display::outcomes(run))];
    frame.render_widget(Paragraph::new(lines), below);
}

pub(super) fn events(frame: &mut Frame<'_>, area: Rect, run: &WatchedRun, text_style: TextStyle) {
    let room = usize::from(area.height.saturating_sub(1));
    let lines = run.events.last(room).into_iter().map(|event| {
        let style = match &event.what {
            What::End { .. } => coloured(text_style, Color::Green),
            what if what.is_trouble() => coloured(text_style, Color::Yellow),
            _ => Style::new(),
        };
        Line::from(Span::styled(event.to_string(), style))
    });
    let lines: Vec<Line<'_>> = lines.collect();
    frame.render_widget(Paragraph::new(lines).block(panel("last events".into())), area);
}
