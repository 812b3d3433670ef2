//! An inspection as text.

use super::heat_map;
use super::{Glyphs, Inspection};

impl Inspection {
    /// The whole report, in lines of up to `width` characters.
    pub fn report(&self, width: usize, glyphs: Glyphs) -> String {
        let (times, chi2) = match glyphs {
            Glyphs::Unicode => ("×", "χ²"),
            Glyphs::Ascii => ("x", "chi2"),
        };
        let mut text = format!("{}\n", self.name);
        let mut line = |label: &str, what: String| {
            text.push_str(&format!("  {label:15}{what}\n"));
        };
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let targets = match self.classes.len() {
            0 => "real targets".to_string(),
            classes => format!("{classes} classes"),
        };
        let sample = match self.shape.len() {
            1 => format!("{} features", shape[0]),
            _ => format!("images of {}", shape.join(&format!(" {times} "))),
        };
        line("samples", format!("{sample}, {targets}"));
        line("train, test", format!("{}, {}", self.train, self.test));
        if !self.mean.is_empty() {
            let list = |values: &[f64]| {
                values.iter().map(|v| format!("{v:.4}")).collect::<Vec<_>>().join(" ")
            };
            line("pixels / 255", format!("mean {}, std {}", list(&self.mean), list(&self.std)));
        }
        line("clients", format!("{}, {}, seed {}", self.sizes.len(), self.scheme, self.seed));
        let used: usize = self.sizes.iter().map(|n| *n as usize).sum();
        if used != self.train {
            line("unused", format!("{} training samples belong to nobody", self.train - used));
        }
        let mut sorted = self.sizes.clone();
        sorted.sort_unstable();
        if let Some(last) = sorted.len().checked_sub(1) {
            // The nearest rank.
            let at = |percent: usize| sorted[(last * percent + 50) / 100];
            line(
                "n per client",
                format!(
                    "{} to {} (10 %: {}, 50 %: {}, 90 %: {})",
                    at(0),
                    at(100),
                    at(10),
                    at(50),
                    at(90)
                ),
            );
        }
        if let Some(found) = &self.heterogeneity {
            line(
                "heterogeneity",
                format!("{:.3} (total variation; 0: all alike, 1: apart)", found.total_variation),
            );
            line(
                "",
                format!("{chi2} {:.4}, {:.4} if dealt at random", found.chi2, found.chi2_if_iid),
            );
            text.push('\n');
            text.push_str(&heat_map::draw(self, width, glyphs));
        }
        text
    }
}
