//! The curves of all runs over simulated time.

use super::{coloured, panel};
use crate::report::{TextStyle, number};
use crate::watch::event::time;
use crate::watch::measure::Measure;
use crate::watch::state::State;
use crate::watch::view::{Scale, View};
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, LegendPosition, Paragraph};

/// Curves that can be told apart with some good will.
const MOST: usize = 24;
const COLOURS: [Color; 6] =
    [Color::Cyan, Color::Yellow, Color::Magenta, Color::Green, Color::Red, Color::Blue];

/// A curve of the chart.
struct DrawnCurve {
    name: String,
    variant: usize,
    points: Vec<(f64, f64)>,
    is_shown: bool,
}

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    view: &View,
    text_style: TextStyle,
) {
    let Some(measure) = view.measure(state) else {
        let text = "no round has closed yet";
        frame.render_widget(Paragraph::new(text).block(panel("curves".into())), area);
        return;
    };
    let curves = curves(state, view, measure);
    let left_out = state.runs.len().saturating_sub(MOST);
    let mut name = measure.title().to_string();
    if view.scale == Scale::Log {
        name.push_str(", logarithmic");
    }
    name.push_str(" over simulated time");
    if left_out > 0 {
        name.push_str(&format!(" ({MOST} of {} runs)", state.runs.len()));
    }
    if let Some(last) = view.run(state).and_then(|run| run.curve(measure).last()) {
        name.push_str(&format!(": {}", number(last)));
    }
    let points = || curves.iter().flat_map(|curve| &curve.points);
    if points().next().is_none() {
        let text = "nothing above 0 to draw logarithmically; l goes back";
        frame.render_widget(Paragraph::new(text).block(panel(name)), area);
        return;
    }
    let end = points().map(|(seconds, _)| *seconds).fold(0.0, f64::max);
    let low = points().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    let high = points().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
    let [low, high] = bounds(low, high);
    let label = |value: f64| match view.scale {
        Scale::Linear => tick(value, high - low),
        Scale::Log => number(10f64.powf(value)),
    };
    let dim = Style::new().add_modifier(Modifier::DIM);
    let end = if end > 0.0 { end } else { 1.0 };
    let times = [0.0, end / 2.0, end].map(time);
    let values = [low, (low + high) / 2.0, high].map(label);
    // Where curves end is what one wants to see.
    let ends = curves.iter().filter_map(|curve| curve.points.last());
    let legend = match ends.filter(|(_, value)| *value > (low + high) / 2.0).count() * 2 {
        above if above > curves.len() => LegendPosition::BottomRight,
        _ => LegendPosition::TopRight,
    };
    let chart = Chart::new(curves.iter().map(|curve| dataset(curve, text_style)).collect())
        .block(panel(name))
        .x_axis(Axis::default().bounds([0.0, end]).labels(times).style(dim))
        .y_axis(Axis::default().bounds([low, high]).labels(values).style(dim))
        .legend_position((state.runs.len() > 1).then_some(legend))
        .hidden_legend_constraints((Constraint::Percentage(50), Constraint::Percentage(70)));
    frame.render_widget(chart, area);
}

/// The newest runs and the one that is shown, which is drawn last: on top of the others.
fn curves(state: &State, view: &View, measure: Measure) -> Vec<DrawnCurve> {
    let variants = state.variants();
    let shown = view.run(state).map(std::ptr::from_ref);
    let newest = state.runs.len().saturating_sub(MOST);
    let mut curves = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for (index, run) in state.runs.iter().enumerate() {
        let is_shown = Some(std::ptr::from_ref(run)) == shown;
        if index < newest && !is_shown {
            continue;
        }
        let value = |value: f64| match view.scale {
            Scale::Linear => Some(value),
            Scale::Log => (value > 0.0).then(|| value.log10()),
        };
        let points: Vec<(f64, f64)> = run
            .curve(measure)
            .points()
            .filter_map(|(seconds, y)| Some((seconds, value(y)?)))
            .collect();
        let variant = variants.iter().position(|name| *name == run.variant).unwrap_or(0);
        // Seeds of a variant share its colour, and its place in the legend.
        let name = match named.contains(&run.variant.as_str()) {
            true => String::new(),
            false => run.variant.clone(),
        };
        named.push(&run.variant);
        curves.push(DrawnCurve { name, variant, points, is_shown });
    }
    curves.sort_by_key(|curve| curve.is_shown);
    curves
}

/// Without colours, all but the curve that is shown are drawn in letters.
fn dataset(curve: &DrawnCurve, text_style: TextStyle) -> Dataset<'_> {
    let letter = char::from(b'a' + (curve.variant % 26) as u8);
    let (marker, kind, name) = match text_style {
        TextStyle::Colour => (Marker::Braille, GraphType::Line, curve.name.clone()),
        TextStyle::Plain if curve.is_shown => {
            (Marker::Braille, GraphType::Line, format!("─ {}", curve.name))
        }
        TextStyle::Plain => {
            (Marker::Custom(letter), GraphType::Scatter, format!("{letter} {}", curve.name))
        }
    };
    let mut style = coloured(text_style, COLOURS[curve.variant % COLOURS.len()]);
    if curve.is_shown {
        style = style.add_modifier(Modifier::BOLD);
    }
    let data = Dataset::default().marker(marker).graph_type(kind).style(style).data(&curve.points);
    if curve.name.is_empty() { data } else { data.name(name) }
}

/// A little room above and below, and some where all values are the same.
fn bounds(low: f64, high: f64) -> [f64; 2] {
    let span = high - low;
    if span > 1e-12 * high.abs().max(low.abs()) && span > 0.0 {
        return [low - 0.02 * span, high + 0.02 * span];
    }
    let room = if high == 0.0 { 1.0 } else { 0.5 * high.abs() };
    [low - room, high + room]
}

/// As many digits as the axis can tell, the same number everywhere.
fn tick(value: f64, span: f64) -> String {
    let digits = 2.0 - span.log10().floor();
    match (0.0..=6.0).contains(&digits) || (span >= 100.0 && value.abs() < 1e6) {
        true => format!("{value:.*}", digits.max(0.0) as usize),
        false => number(value),
    }
}
