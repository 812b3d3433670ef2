//! The randomness that policies are handed.

use crate::random::{Purpose, Stream, stream};

/// Random streams of one call of a policy. They depend on the seed of the run, on the policy and on
/// the number of the call (and of the client, where a call is about one), and on nothing else: not on
/// threads, and not on what other policies draw.
#[derive(Clone, Copy, Debug)]
pub struct KeyedRng {
    seed: u64,
    purpose: Purpose,
    client: u64,
    /// Streams of one client differ in the upper half of their key.
    shift: u32,
    key: u64,
}

impl KeyedRng {
    /// For a call that is about no single client.
    pub fn new(seed: u64, purpose: Purpose, key: u64) -> Self {
        KeyedRng { seed, purpose, client: 0, shift: 0, key }
    }

    /// For a call that is about a client.
    pub fn of_client(seed: u64, purpose: Purpose, client: u32, key: u64) -> Self {
        KeyedRng { seed, purpose, client: u64::from(client), shift: 32, key }
    }

    /// An independent stream for every `number`, the same for the same call of the same run.
    pub fn stream(&self, number: u64) -> Stream {
        stream(self.seed, self.purpose, self.client + (number << self.shift), self.key)
    }

    /// The same, but for every call: what is drawn from it is drawn once in a run.
    pub fn once(&self, number: u64) -> Stream {
        // Rounds and draws count from 1, so 0 is free.
        KeyedRng { key: 0, ..*self }.stream(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_client_number_and_call_and_by_nothing_else() {
        let rng = |client, key| KeyedRng::of_client(7, Purpose::Work, client, key);
        let first = |mut stream: Stream| stream.next_u64();
        let drawn = [
            first(rng(1, 5).stream(0)),
            first(rng(2, 5).stream(0)),
            first(rng(1, 6).stream(0)),
            first(rng(1, 5).stream(1)),
            first(rng(1, 5).once(0)),
        ];
        for (i, one) in drawn.iter().enumerate() {
            assert!(drawn[..i].iter().all(|other| other != one));
        }
        assert_eq!(first(rng(1, 5).stream(0)), drawn[0]);
        assert_eq!(first(rng(1, 9).once(0)), drawn[4]);
    }
}
