//! A prediction as text.

use super::{ClientWeight, Outlook, Prediction};
use crate::report;
use std::fmt;

/// Clients shown at each end of the list of weights.
const SHOWN: usize = 4;

/// Like the tables of a run, but nothing here has diverged.
fn number(value: f64) -> String {
    if value.is_finite() { report::number(value) } else { "infinite".into() }
}

impl fmt::Display for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outlook::Predicted(prediction) => prediction.fmt(f),
            Outlook::Silent { variant, error } => writeln!(f, "{variant}\n  {error}"),
        }
    }
}

impl fmt::Display for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.variant)?;
        let heard = self.weights.iter().filter(|client| client.w > 0.0).count();
        let clients = format!(
            "{} a round, {heard} of {} ever heard",
            number(self.participants),
            self.weights.len()
        );
        line(f, "rounds", &format!("{} in which somebody is heard", self.rounds))?;
        line(f, "clients", &clients)?;
        line(f, "local steps τ̄", &number(self.tau))?;
        line(f, "effective steps τ_eff", &number(self.tau_eff))?;
        line(f, "slowdown τ̄/τ_eff", &number(self.slowdown))?;
        line(f, "χ² of w against p", &number(if self.chi2 < 1e-12 { 0.0 } else { self.chi2 }))?;
        if self.missing_mass > 0.0 {
            line(f, "never heard", &format!("{:.1} % of the data", 100.0 * self.missing_mass))?;
        }
        let [a, b, c] = [self.a, self.b, self.c].map(number);
        line(f, "A, B, C", &format!("{a}, {b}, {c}"))?;
        self.stretch(f)?;
        self.rate(f)?;
        self.terms(f)?;
        self.proximal(f)?;
        if let Some(point) = &self.fixed_point {
            let [distance, norm] = [point.distance, point.grad_norm].map(number);
            let how = if point.on_average { "on average, " } else { "" };
            let text = format!("{how}at ‖x − x*‖ = {distance}, ‖∇F‖ = {norm}");
            line(f, "rests, if it does,", &text)?;
        }
        self.weight_table(f)
    }
}

fn line(f: &mut fmt::Formatter<'_>, label: &str, text: &str) -> fmt::Result {
    // Padding counts characters; a combining bar or tilde is one of its own and takes no column.
    let columns = label.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count();
    writeln!(f, "  {label}{:1$}{text}", "", 24usize.saturating_sub(columns))
}

impl Prediction {
    /// How far the server stretches what clients found, and where that is too far.
    fn stretch(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // FedAvg's is 1 but for rounding.
        let exact = |stretch: f64| if (stretch - 1.0).abs() < 1e-9 { 1.0 } else { stretch };
        let [mean, most] = [self.stretch, self.max_stretch].map(|s| number(exact(s)));
        let varies = self.max_stretch > self.stretch * (1.0 + 1e-9);
        let most = if varies { format!(", at most {most}") } else { String::new() };
        // A single round too far is made good by the others.
        let verdict = match self.largest_stretch.map(|limit| limit * (1.0 + 1e-9)) {
            Some(limit) if self.stretch > limit => "; too far",
            Some(limit) if self.max_stretch > limit => "; in some rounds too far",
            _ => "",
        };
        line(f, "stretch τ_eff Σ w/‖a‖₁", &format!("{mean}{most}{verdict}"))
    }

    fn rate(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lr, theorem] = [self.lr, self.theorem_lr].map(number);
        line(f, "learning rate η", &format!("{lr}; Theorem 1 takes √(m/τ̄T) = {theorem}"))?;
        let limit = number(self.lr_limit.largest_lr_times_lipschitz);
        let text = match (self.lr_limit.largest_lr, self.lr_limit.holds) {
            (Some(largest), Some(holds)) => {
                let verdict = if holds { "holds" } else { "does NOT hold" };
                format!("ηL ≤ {limit}: η up to {}, {verdict}", number(largest))
            }
            _ => format!("ηL ≤ {limit} (--lipschitz tells whether it holds)"),
        };
        line(f, "it must be", &text)
    }

    fn terms(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(k) = &self.coefficients else {
            let mut label = "no bound: not covered";
            for reason in &self.not_covered {
                line(f, label, reason)?;
                label = "";
            }
            return Ok(());
        };
        let bound = self.bound.as_ref();
        let rows = [
            ("4[F̃₀ − F̃_inf]/ητT", k.distance, "gap", bound.map(|b| b.distance)),
            ("4ηLσ²A/m", k.noise, "Lσ²", bound.map(|b| b.noise)),
            ("6η²L²σ²B", k.noise_drift, "L²σ²", bound.map(|b| b.noise_drift)),
            ("12η²L²κ²C", k.dissimilarity_drift, "L²κ²", bound.map(|b| b.dissimilarity_drift)),
        ];
        line(f, "‖∇F̃‖² is at most", "the sum of")?;
        for (label, coefficient, constants, value) in rows {
            let value = value.map_or(String::new(), |value| format!(" = {}", number(value)));
            let text = format!("{} {constants}{value}", number(coefficient));
            line(f, &format!("  {label}"), &text)?;
        }
        match &self.true_bound {
            Some(truth) => {
                let [vanishing, floor] = [truth.vanishing, truth.floor].map(number);
                line(f, "‖∇F‖² is at most", &format!("{vanishing} + floor 2χ²κ² = {floor}"))
            }
            None => {
                let need = format!("needs {}", self.constants.missing().join(" "));
                line(f, "‖∇F‖² is at most", &need)
            }
        }
    }

    fn proximal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prox = &self.prox;
        let corollary = number(prox.corollary_alpha);
        let unless = match &self.constants.missing()[..] {
            [] => "",
            _ => ", if unknown constants are 1",
        };
        let best = match prox.best_alpha.zip(prox.best_prox) {
            Some((alpha, mu)) => format!("{} (prox = {}){unless}", number(alpha), number(mu)),
            None => "unknown: a plug-in weighs the updates".into(),
        };
        line(f, "FedProx's best α", &best)?;
        line(f, "  of the order of", &format!("√m/(√τ̄T^⅙) = {corollary}"))
    }

    /// The clients that count for most and for least against their share.
    fn weight_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut heard: Vec<&ClientWeight> =
            self.weights.iter().filter(|client| client.w > 0.0).collect();
        let ratio = |client: &ClientWeight| client.w / client.p;
        heard.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)).then(a.client.cmp(&b.client)));
        if heard.iter().all(|client| (ratio(client) - 1.0).abs() < 1e-9) {
            return line(f, "weights", "w = p for every client");
        }
        writeln!(f, "  {:>10}{:>14}{:>14}{:>12}", "client", "share p", "weight w", "w/p")?;
        let row = |f: &mut fmt::Formatter<'_>, client: &ClientWeight| {
            let [p, w, ratio] = [client.p, client.w, ratio(client)].map(number);
            writeln!(f, "  {:>10}{p:>14}{w:>14}{ratio:>12}", client.client)
        };
        if heard.len() <= 2 * SHOWN + 1 {
            return heard.iter().try_for_each(|client| row(f, client));
        }
        heard[..SHOWN].iter().try_for_each(|client| row(f, client))?;
        writeln!(f, "  {:>10}", format!("… {} more", heard.len() - 2 * SHOWN))?;
        heard[heard.len() - SHOWN..].iter().try_for_each(|client| row(f, client))
    }
}
