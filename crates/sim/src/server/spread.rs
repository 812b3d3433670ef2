//! When to measure how far the clients' gradients are apart.
//!
//! That takes every client's own gradient, which is much where a few of very many take part. So it
//! is done only when as many client-rounds have passed as there are clients: with everyone, every
//! time the model is measured; and in any case at the end.

/// Client-rounds since it was last done.
pub struct Spread {
    clients: usize,
    since: usize,
}

impl Spread {
    /// For that many clients.
    pub fn new(clients: usize) -> Self {
        Spread { clients, since: 0 }
    }

    /// Whether it is time, after another round with so many updates.
    pub fn is_due(&mut self, arrived: usize) -> bool {
        self.since += arrived;
        self.since >= self.clients
    }

    /// It was done.
    pub fn done(&mut self) {
        self.since = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_when_as_many_took_part_as_there_are() {
        let mut spread = Spread::new(10);
        assert_eq!([4, 5, 1, 0].map(|arrived| spread.is_due(arrived)), [false, false, true, true]);
        spread.done();
        assert_eq!([9, 1].map(|arrived| spread.is_due(arrived)), [false, true]);
        assert!(Spread::new(3).is_due(3));
    }
}
