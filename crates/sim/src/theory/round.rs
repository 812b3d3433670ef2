//! Theorem 1's quantities of one round, and their averages over many (Theorem 3).
//!
//! What the clients did enters the error bound only through τ̄, τ_eff and three numbers: A weighs
//! the gradient noise that reaches the model, B the noise that makes clients drift while they work
//! alone, C the drift that comes from their objectives being different.
//!
//! B and C are the paper's, also where its proof does not reach them. Appendix C.5 takes the model
//! after k local steps to be x₀ − ηΣ_{s<k} a_s g_s, with the a of the *whole* round. That is so for
//! SGD and decayed rates, and errs to the safe side for momentum. A proximal term makes a client
//! forget its early steps only later, so on the way they count for more than a says: with the
//! right weights that step of the proof gives B/(1 − α)² for FedProx, and C is too small likewise.
//!
//! One more number is ours. In a direction so steep that a client comes to its own minimum within the
//! round, Δ_i = x_i* − x whatever τ_i was. If all do, the server goes S = τ_eff Σ w_i/‖a_i‖₁ times the way
//! to Σ (w_i/‖a_i‖₁)x_i* / Σ w_i/‖a_i‖₁. FedAvg has S = 1. FedNova has S = (Σ p_i‖a_i‖₁)(Σ p_i/‖a_i‖₁) ≥ 1,
//! more the more ‖a_i‖₁ differ, and S > 2 in every round leads further off each time. What is exact
//! for any curvature is 1 − τ_eff Σ w_i(1 − A_i)/‖a_i‖₁, A_i being what a client leaves of its way;
//! with momentum and few steps that swings about 1 − S to both sides.

use crate::solver::Accumulation;

/// What one client did in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Participant {
    /// p_i, up to a common factor.
    pub p: f64,
    /// w_i, as the server used it: unbiased weights sum to 1 only on average over the rounds.
    pub weight: f64,
    /// Local steps τ_i.
    pub tau: u64,
    /// Norms of a_i, in units of the common learning rate.
    pub norms: Accumulation,
}

/// Theorem 1's quantities of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// How many took part: the paper's m, or q when clients are sampled (appendix G).
    pub clients: usize,
    /// τ̄ = Σ τ_i/m, the plain mean.
    pub tau_mean: f64,
    /// The effective number of steps.
    pub tau_eff: f64,
    /// τ̄/τ_eff (section 4.1).
    pub slowdown: f64,
    /// A = m τ_eff Σ w_i²‖a_i‖₂²/‖a_i‖₁².
    pub a: f64,
    /// B = Σ w_i(‖a_i‖₂² − a_{i,−1}²).
    pub b: f64,
    /// C = max_i (‖a_i‖₁² − ‖a_i‖₁a_{i,−1}).
    pub c: f64,
    /// max_i ‖a_i‖₁, which limits the learning rate.
    pub max_l1: f64,
    /// S = τ_eff Σ w_i/‖a_i‖₁, how far the server stretches what clients found.
    pub stretch: f64,
    /// χ² between p and w among those who took part, both scaled to sum to 1.
    pub chi2: f64,
}

impl Round {
    /// The quantities of a round; `None` if nobody made a step.
    pub fn new(tau_eff: f64, clients: impl IntoIterator<Item = Participant>) -> Option<Round> {
        let (mut steps, mut noise, mut b, mut c, mut max_l1) = (0.0, 0.0, 0.0, 0.0f64, 0.0f64);
        let (mut count, mut p, mut w, mut ratio, mut each) = (0, 0.0, 0.0, 0.0, 0.0);
        for client in clients.into_iter().filter(|client| client.tau > 0) {
            let Accumulation { l1, l2_squared, last } = client.norms;
            count += 1;
            steps += client.tau as f64;
            noise += client.weight * client.weight * l2_squared / (l1 * l1);
            b += client.weight * (l2_squared - last * last);
            c = c.max(l1 * (l1 - last));
            max_l1 = max_l1.max(l1);
            p += client.p;
            w += client.weight;
            each += client.weight / l1;
            // p²/w is 0 for a client without data, whatever its weight.
            ratio += if client.p == 0.0 { 0.0 } else { client.p * client.p / client.weight };
        }
        let m = count as f64;
        (count > 0).then(|| Round {
            clients: count,
            tau_mean: steps / m,
            tau_eff,
            slowdown: steps / m / tau_eff,
            a: m * tau_eff * noise,
            b,
            c,
            max_l1,
            stretch: tau_eff * each,
            // Σ(p − w)²/w = Σp²/w − 1 when both sum to 1.
            chi2: (ratio * w / (p * p) - 1.0).max(0.0),
        })
    }

    /// The averages over `rounds` rounds that are all like this one.
    pub fn repeated(&self, rounds: u64) -> Averages {
        Averages {
            rounds,
            clients: self.clients as f64,
            tau: self.tau_mean,
            tau_eff: self.tau_eff,
            a: self.a,
            b: self.b,
            c: self.c,
            max_l1: self.max_l1,
            max_tau_eff: self.tau_eff,
            stretch: self.stretch,
            max_stretch: self.stretch,
        }
    }
}

/// What the bound needs to know of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Averages {
    /// T.
    pub rounds: u64,
    /// Mean number of participants: m, or q.
    pub clients: f64,
    /// τ̃, the mean of τ̄(t).
    pub tau: f64,
    /// Mean of τ_eff(t).
    pub tau_eff: f64,
    /// Ã.
    pub a: f64,
    /// B̃.
    pub b: f64,
    /// C̃.
    pub c: f64,
    /// max ‖a_i(t)‖₁ over clients and rounds.
    pub max_l1: f64,
    /// max τ_eff(t): the limit on the learning rate must hold in every round.
    pub max_tau_eff: f64,
    /// Mean of S(t).
    pub stretch: f64,
    /// max S(t).
    pub max_stretch: f64,
}

/// Running sums over the rounds of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    rounds: u64,
    clients: f64,
    tau: f64,
    tau_eff: f64,
    max_l1: f64,
    max_tau_eff: f64,
    stretch: f64,
    max_stretch: f64,
    sums: [f64; 3],
}

impl Rounds {
    /// Adds a round.
    pub fn add(&mut self, round: &Round) {
        self.rounds += 1;
        self.clients += round.clients as f64;
        self.tau += round.tau_mean;
        self.tau_eff += round.tau_eff;
        self.max_l1 = self.max_l1.max(round.max_l1);
        self.max_tau_eff = self.max_tau_eff.max(round.tau_eff);
        self.stretch += round.stretch;
        self.max_stretch = self.max_stretch.max(round.stretch);
        for (sum, value) in self.sums.iter_mut().zip([round.a, round.b, round.c]) {
            *sum += value;
        }
    }

    /// The averages as Theorem 3 prints them: every round counts alike.
    pub fn average(&self) -> Option<Averages> {
        let rounds = self.rounds as f64;
        let [a, b, c] = self.sums.map(|sum| sum / rounds);
        (self.rounds > 0).then_some(Averages {
            rounds: self.rounds,
            clients: self.clients / rounds,
            tau: self.tau / rounds,
            tau_eff: self.tau_eff / rounds,
            a,
            b,
            c,
            max_l1: self.max_l1,
            max_tau_eff: self.max_tau_eff,
            stretch: self.stretch / rounds,
            max_stretch: self.max_stretch,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(p: f64, weight: f64, tau: u64, [l1, l2_squared, last]: [f64; 3]) -> Participant {
        Participant { p, weight, tau, norms: Accumulation { l1, l2_squared, last } }
    }

    fn example(tau_eff: f64) -> Round {
        let clients = [client(1.0, 0.5, 2, [2.0, 3.0, 1.0]), client(3.0, 0.5, 6, [4.0, 5.0, 0.5])];
        Round::new(tau_eff, clients).unwrap()
    }

    #[test]
    fn two_clients_by_hand() {
        let round = example(8.0);
        assert_eq!((round.clients, round.tau_mean, round.slowdown), (2, 4.0, 0.5));
        assert_eq!(round.a, 2.0 * 8.0 * (0.25 * 3.0 / 4.0 + 0.25 * 5.0 / 16.0));
        assert_eq!(round.b, 0.5 * 2.0 + 0.5 * 4.75);
        assert_eq!((round.c, round.max_l1), (4.0 * 3.5, 4.0));
        assert_eq!(round.stretch, 8.0 * (0.5 / 2.0 + 0.5 / 4.0));
        let chi2 = crate::theory::chi_square(&[0.25, 0.75], &[0.5, 0.5]);
        assert!((round.chi2 - chi2).abs() < 1e-15);
    }

    #[test]
    fn who_made_no_step_is_not_there() {
        assert_eq!(Round::new(1.0, []), None);
        let idle = client(0.5, 0.0, 0, [0.0; 3]);
        assert_eq!(Round::new(1.0, [idle]), None);
        let busy = client(0.5, 1.0, 3, [3.0, 3.0, 1.0]);
        let round = Round::new(3.0, [idle, busy]).unwrap();
        assert_eq!((round.clients, round.tau_mean, round.a, round.chi2), (1, 3.0, 1.0, 0.0));
    }

    #[test]
    fn every_round_counts_alike() {
        let (near, far) = (example(2.0), example(6.0));
        let mut rounds = Rounds::default();
        assert_eq!(rounds.average(), None);
        (0..4).for_each(|_| rounds.add(&near));
        assert_eq!(rounds.average(), Some(near.repeated(4)));
        (0..4).for_each(|_| rounds.add(&far));
        let average = rounds.average().unwrap();
        assert_eq!((average.tau_eff, average.max_tau_eff, average.tau), (4.0, 6.0, 4.0));
        assert!((average.a - (near.a + far.a) / 2.0).abs() < 1e-14);
    }
}
