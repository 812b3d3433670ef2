//! How often each client is heard, and what it then brings.
//!
//! Clients that often miss the deadline are heard less than their share, whatever the weights of
//! those who arrive: the model leans towards the punctual. Weighing an update by p_i/π_i, with π_i
//! the client's chance to be used in a round, gives everybody its share in the long run
//! (Horvitz and Thompson). π_i is unknown, so it is estimated as the run goes on. A
//! client that is *always* late is never heard, and no weight can help it: that is what the
//! missing mass tells.
//!
//! The unbiased schemes know the chances, but they too need a τ_eff that does not depend on who was
//! drawn (appendix G takes it out of the expectation): the mean over everyone heard so far.

use super::{Contribution, Draw};

/// What has been heard of each client so far.
pub struct ParticipationRates {
    draw: Draw,
    rounds: f64,
    /// By client.
    seen: Vec<Seen>,
    /// Sums over those heard, of the share, and of ‖a‖₁ and τ by share.
    heard: [f64; 3],
}

#[derive(Clone, Copy, Default)]
struct Seen {
    uses: f64,
    accumulation: f64,
    tau: f64,
}

impl ParticipationRates {
    /// Nobody has been heard yet.
    pub fn new(draw: Draw) -> Self {
        let seen = vec![Seen::default(); draw.clients()];
        ParticipationRates { draw, rounds: 0.0, seen, heard: [0.0; 3] }
    }

    /// Another round begins.
    pub fn next_round(&mut self) {
        self.rounds += 1.0;
    }

    /// An update is used. Returns π̂_i, the estimated uses per round: the mean so far, this round
    /// and this use included, with one round before the first in which everybody was heard as
    /// often as drawn. That keeps a first appearance late in a run from weighing as much as all
    /// the rounds it missed, and fades as the run goes on.
    ///
    /// `target` is what the client ought to count.
    pub fn hear(&mut self, c: &Contribution, target: f64) -> f64 {
        let seen = &mut self.seen[c.client as usize];
        let [share, accumulation, tau] = &mut self.heard;
        if seen.uses == 0.0 {
            *share += target;
        }
        *accumulation += target * (c.accumulation - seen.accumulation);
        *tau += target * (c.tau as f64 - seen.tau);
        *seen = Seen {
            uses: seen.uses + f64::from(c.times_drawn),
            accumulation: c.accumulation,
            tau: c.tau as f64,
        };
        (seen.uses + self.draw.rate(c.p)) / (self.rounds + 1.0)
    }

    /// The mean ‖a‖₁ and the mean τ over everyone heard so far, each as it last was: unlike a mean
    /// over those who arrive, it does not depend on who happens to.
    pub fn means(&self) -> [f64; 2] {
        let [share, accumulation, tau] = self.heard;
        [accumulation / share, tau / share]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contribution(client: u32, tau: u64) -> Contribution {
        Contribution {
            client,
            p: 0.5,
            times_drawn: 1,
            tau,
            accumulation: tau as f64,
            discount: 1.0,
        }
    }

    #[test]
    fn the_chance_of_the_punctual_is_one_and_that_of_others_is_found() {
        let mut rates = ParticipationRates::new(Draw::Uniform { clients: 2, asked: 2 });
        let mut chances = [0.0; 2];
        for round in 1..=1000u64 {
            rates.next_round();
            chances[0] = rates.hear(&contribution(0, 10), 0.5);
            assert_eq!(chances[0], 1.0);
            if round % 4 == 0 {
                chances[1] = rates.hear(&contribution(1, 2), 0.5);
            }
        }
        assert!((chances[1] - 0.25).abs() < 0.001, "{}", chances[1]);
        assert_eq!(rates.means(), [6.0, 6.0]);
    }
}
