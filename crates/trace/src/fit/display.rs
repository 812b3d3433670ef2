//! A fit as blocks of a scenario, with what is good and bad about it in comments. At most 80
//! columns wide.

use super::{Fit, FitClass, Lognormal, Quality};
use gruppetto_sim::clock::Span;
use std::fmt::{self, Display, Formatter};

impl Display for Fit {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.heading(f)?;
        self.table(f)?;
        let shares = shares(&self.classes);
        for (class, share) in self.classes.iter().zip(shares) {
            let devices = class.share * self.devices as f64;
            writeln!(f, "\n[[fleet.class]]\nname = \"{}\"", class.name)?;
            writeln!(f, "share = {share}  # {devices:.0} of {}", self.devices)?;
            match (&class.step_time, &class.speed) {
                (Some(step), _) => writeln!(f, "step_time = {}", dist(step))?,
                (_, Some(speed)) => writeln!(f, "speed = {}", dist(speed))?,
                (None, None) => {
                    writeln!(f, "# step_time = \"…\"  # required; the trace does not tell it")?;
                }
            }
            for (key, link) in [("uplink", &class.uplink), ("downlink", &class.downlink)] {
                if let Some(link) = link {
                    writeln!(f, "{key} = {}", dist(link))?;
                }
            }
            if let Some(told) = &class.availability {
                for (key, mean) in [("on", told.on), ("off", told.off)] {
                    let mean = duration(mean * 1e9);
                    writeln!(
                        f,
                        "availability.{key} = {{ exponential = {{ mean = \"{mean}\" }} }}"
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl Fit {
    fn heading(&self, f: &mut Formatter) -> fmt::Result {
        let s = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {many}"),
        };
        let devices = s(self.devices, "device", "devices");
        let classes = s(self.classes.len(), "class", "classes");
        let mut text = format!(
            "{classes} of devices, fitted to {devices} of {}",
            self.file.chars().flat_map(char::escape_debug).collect::<String>()
        );
        if let [_, _, ..] = self.bic[..] {
            // Of many devices the numbers are large, and only whole ones count.
            let decimals = usize::from(self.devices < 10_000);
            let list: Vec<_> = self.bic.iter().map(|bic| format!("{bic:.decimals$}")).collect();
            text += &format!("\nBIC of 1 class, 2, … (lowest is best): {}", list.join(", "));
        }
        if let Some(batch) = self.batch {
            text += &format!("\nA step is {batch} samples, as in `client.batch = {batch}`.");
        }
        if self.left_out > 0 {
            let what = "left out: they tell no sensible compute speed";
            text += &format!("\n{} {what}", s(self.left_out as usize, "device", "devices"));
        }
        for (what, sigma) in [("compute speed", self.within), ("links", self.within_links)] {
            if sigma > 0.02 {
                text += &format!(
                    "\nWithin a device {what} varied by a sigma of {sigma:.2}: not in these classes."
                );
            }
        }
        if self.unconnected > 0.0 {
            let share = 100.0 * self.unconnected;
            text += &format!("\nLinks were 0 for {share:.2} % of the time: not in these classes.");
        }
        if self.never_there > 0 {
            let count = s(self.never_there, "device", "devices");
            text += &format!("\n{count} left out: never available");
        }
        if self.classes.iter().any(|class| class.availability.is_some()) {
            text += "\nAvailability comes and goes at random here. Whatever rhythm the trace has\n\
                     is kept by replaying it.";
        }
        text.lines().try_for_each(|line| writeln!(f, "# {line}"))
    }

    fn table(&self, f: &mut Formatter) -> fmt::Result {
        if self.quality.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "#\n# {:18} {:>7} {:>11} {:>11} {:>11} {:>11}",
            "", "", "p10", "p50", "p90", "p99"
        )?;
        for Quality { name, unit, trace, fit } in &self.quality {
            let title = if *unit == "s" { name.to_string() } else { format!("{name} [{unit}]") };
            for (title, source, values) in [(&*title, "trace", trace), ("", "fit", fit)] {
                write!(f, "# {title:18} {source:>7}")?;
                for value in values {
                    let shown = match *unit {
                        "s" => Span::from_nanos_f64(value * 1e9).unwrap_or_default().to_string(),
                        _ => digits(*value, 4),
                    };
                    write!(f, " {shown:>11}")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

/// Shares to four decimals that add up to 1: the largest makes up for the rounding of the others.
fn shares(classes: &[FitClass]) -> Vec<String> {
    let mut parts: Vec<i64> =
        classes.iter().map(|class| ((class.share * 1e4).round() as i64).max(1)).collect();
    let sum: i64 = parts.iter().sum();
    if let Some(largest) = parts.iter_mut().max() {
        *largest += 10_000 - sum;
    }
    parts.iter().map(|part| format!("{}", *part as f64 / 1e4)).map(decimal).collect()
}

/// TOML tells 1 from 1.0.
fn decimal(text: String) -> String {
    if text.contains('.') { text } else { format!("{text}.0") }
}

fn dist(Lognormal { median, unit, sigma }: &Lognormal) -> String {
    let median = match *unit {
        "ms" => duration(median * 1e6),
        "Mbps" => {
            scaled(*median * 1e6, &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9)])
        }
        _ => format!("{} {unit}", digits(*median, 4)),
    };
    match format!("{sigma:.3}").as_str() {
        "0.000" => format!("\"{median}\""),
        sigma => format!("{{ lognormal = {{ median = \"{median}\", sigma = {sigma} }} }}"),
    }
}

/// Four digits and a unit; never finer than a nanosecond.
fn duration(nanos: f64) -> String {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];
    match nanos < 1000.0 {
        true => format!("{}ns", nanos.round().max(1.0)),
        false => scaled(nanos, &units),
    }
}

/// In the largest unit that leaves something before the point.
fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let (unit, scale) = units.iter().rev().find(|(_, scale)| value >= *scale).unwrap_or(&units[0]);
    format!("{}{unit}", digits(value / scale, 4))
}

/// So many significant digits, plainly written and without idle zeros.
fn digits(value: f64, count: i32) -> String {
    if value <= 0.0 || !value.is_finite() {
        return "0".into();
    }
    let decimals = (count - 1 - value.log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gruppetto_sim::units::{parse_duration, parse_rate};

    #[test]
    fn quantities_read_back() {
        for (nanos, text) in [
            (0.3, "1ns"),
            (456.4, "456ns"),
            (1234.56, "1.235us"),
            (25e6, "25ms"),
            (1.5e9, "1.5s"),
            (90e9, "1.5m"),
            (25_272e9, "7.02h"),
            (1e17, "27778h"),
        ] {
            assert_eq!(duration(nanos), text);
            assert!(parse_duration(text).is_ok(), "{text}");
        }
        let fixed = |median, unit| dist(&Lognormal { median, unit, sigma: 0.0 });
        assert_eq!(fixed(10_000.0, "Mbps"), "\"10Gbps\"");
        assert_eq!(fixed(0.25, "Mbps"), "\"250kbps\"");
        assert_eq!(fixed(4.0, "GFLOPS"), "\"4 GFLOPS\"");
        assert!(parse_rate("250kbps").is_ok());
    }

    #[test]
    fn shares_add_up() {
        let class = |share| FitClass {
            name: "a".into(),
            share,
            step_time: None,
            speed: None,
            uplink: None,
            downlink: None,
            availability: None,
        };
        assert_eq!(shares(&[class(1.0)]), ["1.0"]);
        let third = || class(1.0 / 3.0);
        assert_eq!(shares(&[third(), third(), third()]), ["0.3333", "0.3333", "0.3334"]);
        assert_eq!(shares(&[class(1e-9), class(1.0)]), ["0.0001", "0.9999"]);
    }
}
