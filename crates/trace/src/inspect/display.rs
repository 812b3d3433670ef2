//! An inspection as text, at most 80 columns wide.

use super::{Bin, Inspection, Spread};
use gruppetto_sim::clock::Span;
use std::fmt::{self, Display, Formatter};

/// The longest bar.
const BAR: f64 = 40.0;

impl Display for Inspection {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let s = |count: u64| if count == 1 { "" } else { "s" };
        let (devices, changes) = (self.devices, self.changes);
        writeln!(f, "{devices} device{}, {changes} change{}", s(devices), s(changes))?;
        if self.longest > 0.0 {
            let (shortest, longest) = (time(self.shortest), time(self.longest));
            writeln!(
                f,
                "recorded for {shortest} to {longest}; {} say when it ended",
                self.with_end
            )?;
        }
        for aspect in &self.aspects {
            writeln!(
                f,
                "\n{} [{}], of {} device{}",
                aspect.name,
                aspect.unit,
                aspect.devices,
                s(aspect.devices)
            )?;
            if aspect.devices > 0 {
                spread(f, &aspect.spread, number)?;
            }
        }
        if let Some(told) = &self.availability {
            writeln!(f, "\navailable, of {} device{}", told.devices, s(told.devices))?;
            let (share, daily) = (100.0 * told.share, number(told.windows_per_day));
            writeln!(f, "  {share:.1} % of the time, {daily} windows per device and day")?;
            for (title, lengths) in [("windows last", &told.on), ("and are apart", &told.off)] {
                if !lengths.histogram.is_empty() {
                    writeln!(f, "\n  {title}")?;
                    spread(f, lengths, time)?;
                }
            }
            if !told.by_hour.is_empty() {
                writeln!(f, "\n  share that is there, by hour of the day")?;
                for (hour, share) in told.by_hour.iter().enumerate() {
                    writeln!(f, "  {hour:>21} {:>5.1} % {}", 100.0 * share, bar(*share))?;
                }
            }
        }
        if self.problems.is_empty() {
            return writeln!(f, "\nno problems found");
        }
        writeln!(f, "\nproblems")?;
        for problem in &self.problems {
            writeln!(f, "  {} {}", problem.count, problem.what)?;
            let first: String = problem.first.chars().take(120).collect();
            let first = format!("first: {first}");
            let letters: Vec<char> = first.chars().collect();
            for line in letters.chunks(74) {
                writeln!(f, "    {}", line.iter().collect::<String>().trim())?;
            }
        }
        Ok(())
    }
}

fn spread(f: &mut Formatter, spread: &Spread, show: fn(f64) -> String) -> fmt::Result {
    let Spread { p1, p10, p50, p90, p99, .. } = *spread;
    let titled = [("p1", p1), ("p10", p10), ("p50", p50), ("p90", p90), ("p99", p99)];
    let quantiles: Vec<_> =
        titled.iter().map(|(title, value)| format!("{title} {}", show(*value))).collect();
    writeln!(f, "  {}", quantiles.join("  "))?;
    let most = spread.histogram.iter().map(|bin| bin.share).fold(0.0, f64::max);
    for Bin { from, to, share } in &spread.histogram {
        let range = match from == to {
            true => show(*from),
            false => format!("{} to {}", show(*from), show(*to)),
        };
        let bar = bar(if most > 0.0 { share / most } else { 0.0 });
        writeln!(f, "  {range:>21} {:>5.1} % {bar}", 100.0 * share)?;
    }
    Ok(())
}

fn bar(share: f64) -> String {
    let length = (BAR * share).round() as usize;
    // What is there at all is seen.
    "#".repeat(if share > 0.0 { length.max(1) } else { 0 })
}

/// Three significant digits.
fn number(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        0.000_995..0.995 => {
            format!("{value:.prec$}", prec = (2 - value.log10().floor() as i32) as usize)
        }
        0.995..9.995 => format!("{value:.2}"),
        9.995..99.95 => format!("{value:.1}"),
        99.95..999_999.5 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}

/// Seconds as a duration.
fn time(seconds: f64) -> String {
    Span::from_nanos_f64(seconds * 1e9).map_or_else(|_| number(seconds), |span| span.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1.00"),
            (12.34, "12.3"),
            (1234.5, "1234"),
            (2e9, "2.00e9"),
            (1e-7, "1.00e-7"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
