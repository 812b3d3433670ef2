//! Who is asked: how often, in which order, and who is passed over.

use super::*;
use crate::aggregate::{OptimizerConfig, RuleConfig, TauEff, WeightingConfig};
use crate::clock::Span;
use crate::policy::Close;
use crate::policy::{Late, OortConfig, Partial, Sample, Scheme, Staleness, View};
use crate::record::Outcome;
use std::ops::{Deref, DerefMut};

/// A selection, and the shares of its clients.
struct Tested {
    selection: Selection,
    p: Arc<[f64]>,
}

impl Deref for Tested {
    type Target = Selection;

    fn deref(&self) -> &Selection {
        &self.selection
    }
}

impl DerefMut for Tested {
    fn deref_mut(&mut self) -> &mut Selection {
        &mut self.selection
    }
}

fn selector(close: Close, sample: Sample, scheme: Scheme, p: &[f64]) -> Tested {
    let rule = RuleConfig {
        weighting: WeightingConfig::FedNova,
        tau_eff: TauEff::Accumulation,
        participation: Participation::Renormalize,
    };
    let config = ServerConfig {
        close,
        late: Late::Drop,
        staleness: Staleness::Constant,
        max_staleness: None,
        concurrency: 1,
        partial: Partial::Keep,
        rule,
        optimizer: OptimizerConfig::PLAIN,
        sample,
        scheme,
        evaluate_every: 1,
    };
    let p: Arc<[f64]> = p.into();
    let selector = scheme.init(&p, u64::from).unwrap();
    Tested { selection: Selection::new(&config, 7, selector, p.clone()), p }
}

impl Tested {
    /// Those asked in `round` while some clients are busy.
    fn asked(&mut self, round: u64, busy: impl Fn(u32) -> bool) -> Vec<Asked> {
        let mut columns = Columns::new(self.p.clone(), self.needs());
        (0..self.clients as u32).for_each(|client| columns.set_busy(client, busy(client)));
        self.select(round, SimTime::ZERO, &columns).unwrap()
    }
}

#[test]
fn in_turn_passes_over_who_is_busy() {
    let mut selector = selector(Close::All, Sample::Clients(2), Scheme::RoundRobin, &[0.2; 5]);
    let mut ask = |busy: &[u32]| {
        let asked = selector.asked(1, |client| busy.contains(&client));
        asked.into_iter().map(|asked| asked.client).collect::<Vec<_>>()
    };
    assert_eq!([ask(&[]), ask(&[]), ask(&[])], [[0, 1], [2, 3], [0, 4]]);
    assert_eq!(ask(&[1, 2]), [3, 4]);
    assert_eq!(ask(&[0, 1, 2, 3]), [4], "everyone who is free");
}

#[test]
fn uniform_asks_each_client_equally_often_and_never_twice() {
    let mut selector = selector(Close::All, Sample::Fraction(0.3), Scheme::Uniform, &[0.1; 10]);
    let mut counts = [0; 10];
    for round in 0..10_000 {
        let asked = selector.asked(round, |_| false);
        assert_eq!(asked.len(), 3);
        assert!(asked.windows(2).all(|pair| pair[0].client < pair[1].client));
        asked.iter().for_each(|asked| counts[asked.client as usize] += 1);
    }
    assert!(counts.iter().all(|n| (2800..3200).contains(n)), "{counts:?}");
}

#[test]
fn a_few_of_many_are_as_evenly_chosen() {
    let p = [0.01; 100];
    let mut selector = selector(Close::All, Sample::Clients(5), Scheme::Uniform, &p);
    let mut counts = [0; 100];
    for round in 0..20_000 {
        let asked = selector.asked(round, |_| false);
        assert!(asked.len() == 5 && asked.windows(2).all(|w| w[0].client < w[1].client));
        asked.iter().for_each(|asked| counts[asked.client as usize] += 1);
    }
    assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
}

#[test]
fn by_size_draws_in_proportion_to_p_with_replacement() {
    let p = [0.6, 0.3, 0.1];
    let mut selector = selector(Close::All, Sample::Clients(2), Scheme::BySize, &p);
    let (mut counts, mut twice) = ([0u32; 3], 0);
    for round in 0..20_000 {
        let asked = selector.asked(round, |_| false);
        assert_eq!(selector.draw(), Draw::BySize { clients: 3, asked: 2 });
        for asked in asked {
            counts[asked.client as usize] += asked.times;
            twice += u32::from(asked.times == 2);
        }
    }
    for (count, p) in counts.iter().zip(p) {
        assert!((f64::from(*count) / 40_000.0 - p).abs() < 0.01, "{counts:?}");
    }
    // 0.36 + 0.09 + 0.01
    assert!((f64::from(twice) / 20_000.0 - 0.46).abs() < 0.02);
}

#[test]
fn busy_clients_are_passed_over() {
    let oort = Scheme::Oort(OortConfig::PUBLISHED);
    for scheme in [Scheme::Uniform, Scheme::BySize, oort, Scheme::Tiers(2)] {
        let mut selector = selector(Close::All, Sample::Clients(3), scheme, &[0.1; 10]);
        for round in 0..100 {
            let asked = selector.asked(round, |client| client % 2 == 0);
            assert!(asked.iter().all(|asked| asked.client % 2 == 1));
            assert!(selector.asked(round, |_| true).is_empty());
        }
    }
    let mut all = selector(Close::All, Sample::All, Scheme::Uniform, &[0.25; 4]);
    let asked: Vec<u32> = all.asked(0, |client| client == 2).iter().map(|a| a.client).collect();
    assert_eq!(asked, [0, 1, 3]);
}

#[test]
fn busy_clients_do_not_change_the_odds_of_others() {
    // Client 0 holds nearly all the mass; while it is busy the others share the draws by size.
    let p = [1.0 - 3e-17, 2e-17, 1e-17];
    let mut selector = selector(Close::All, Sample::Clients(3), Scheme::BySize, &p);
    let mut counts = [0u32; 3];
    for round in 0..5000 {
        for asked in selector.asked(round, |client| client == 0) {
            counts[asked.client as usize] += asked.times;
        }
    }
    assert_eq!(counts[0], 0);
    assert!((f64::from(counts[1]) / f64::from(counts[2]) - 2.0).abs() < 0.1, "{counts:?}");
}

#[test]
fn unbiased_draws_are_over_everyone_and_busy_ones_are_lost() {
    for scheme in [Scheme::Uniform, Scheme::BySize] {
        let mut selector = selector(Close::All, Sample::Clients(4), scheme, &[0.1; 10]);
        selector.selection.all = Some(Columns::new(selector.p.clone(), Needs::Availability));
        let draws: u32 = (0..5000)
            .flat_map(|round| selector.asked(round, |client| client % 2 == 0))
            .map(|asked| asked.times)
            .sum();
        // Half of 4 · 5000 fall on somebody free.
        assert!((9500..10_500).contains(&draws), "{draws}");
        let asked = match selector.draw() {
            Draw::Uniform { asked, .. } | Draw::BySize { asked, .. } => asked,
        };
        assert_eq!(asked, 4, "all four count");
    }
}

#[test]
fn the_first_few_are_not_always_the_same_few() {
    let mut selector =
        selector(Close::First { first: 1, of: 3 }, Sample::All, Scheme::Uniform, &[0.25; 4]);
    let mut first = [0; 4];
    for round in 0..4000 {
        let mut asked = selector.asked(round, |_| false);
        selector.order(round, &mut asked);
        first[asked[0].client as usize] += 1;
    }
    assert!(first.iter().all(|n| (850..1150).contains(n)), "{first:?}");
}

#[test]
fn over_selection_asks_as_many_as_it_says() {
    let close = Close::First { first: 3, of: 5 };
    let mut selector = selector(close, Sample::All, Scheme::Uniform, &[0.1; 10]);
    assert_eq!(selector.asked(0, |_| false).len(), 5);
}

#[test]
fn oort_listens_and_others_do_not() {
    let of = |scheme| selector(Close::All, Sample::Clients(2), scheme, &[0.1; 10]);
    let feedback = |client| {
        let (duration, outcome) = (Span::from_nanos(5), Outcome::Used);
        Feedback { client, round: 1, outcome, tau: 1, duration, norm: 1.0 }
    };
    for scheme in [Scheme::Tiers(5), Scheme::Uniform, Scheme::BySize, Scheme::RoundRobin] {
        assert_eq!(of(scheme).needs(), Needs::Availability);
    }
    // Nothing is left to explore but client 3, so it is asked; then it is known.
    let mut oort = of(Scheme::Oort(OortConfig::PUBLISHED));
    assert_eq!(oort.needs(), Needs::Everything);
    (0..10).filter(|client| *client != 3).for_each(|client| oort.heard(&feedback(client)));
    let asks_three = |oort: &mut Tested| {
        let rounds = (1..50).map(|round| oort.asked(round, |_| false));
        rounds.filter(|asked| asked.iter().any(|asked| asked.client == 3)).count()
    };
    assert_eq!(asks_three(&mut oort), 49);
    oort.heard(&feedback(3));
    assert!(asks_three(&mut oort) < 30);
    let three = oort.asked(9, |client| client > 2);
    assert_eq!(three.len(), 2);
}

#[test]
fn tiers_are_as_fast_as_their_profile() {
    // The lower its number the faster a client.
    let mut selector = selector(Close::All, Sample::Clients(2), Scheme::Tiers(5), &[0.1; 10]);
    assert_eq!((selector.needed(), selector.wanted()), (2, 2));
    for round in 0..100 {
        let asked = selector.asked(round, |_| false);
        assert!(asked.len() == 2 && asked[0].client.is_multiple_of(2), "{asked:?}");
        assert_eq!(asked[1].client, asked[0].client + 1);
        // Two are free, but not of one tier: the faster tier's.
        let asked = selector.asked(round, |client| client != 3 && client != 8);
        assert_eq!(asked, [Asked { client: 3, times: 1 }]);
    }
}

/// A selector that gives what it is told to.
struct Stubborn(Vec<u32>);

impl Selector for Stubborn {
    fn select(&mut self, _: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        self.0.clone()
    }
}

#[test]
fn a_selector_is_told_what_is_wrong_with_its_choice() {
    let mut selection = selector(Close::All, Sample::Clients(2), Scheme::Uniform, &[0.25; 4]);
    let mut columns = Columns::new(selection.p.clone(), Needs::Everything);
    columns.set_busy(3, true);
    let mut choice = |clients: &[u32]| {
        selection.selection.selector = Box::new(Stubborn(clients.to_vec()));
        selection.select(1, SimTime::ZERO, &columns)
    };
    assert_eq!(choice(&[4]), Err(SelectionError::NoSuchClient { client: 4, clients: 4 }));
    assert_eq!(choice(&[0, 3]), Err(SelectionError::NotAvailable { client: 3 }));
    assert_eq!(choice(&[0, 1, 2]), Err(SelectionError::TooMany { found: 3, wanted: 2 }));
    assert_eq!(choice(&[2, 2]), Ok(vec![Asked { client: 2, times: 2 }]));
    assert_eq!(choice(&[]), Ok(vec![]));
}

/// Those whose updates were used least often.
struct LeastUsed;

impl Selector for LeastUsed {
    fn select(&mut self, view: &View<'_>, _: &KeyedRng) -> Vec<u32> {
        let mut clients: Vec<u32> = (0..view.clients() as u32).collect();
        clients.sort_by_key(|client| view.times_used[*client as usize]);
        clients[..view.wanted].to_vec()
    }

    fn drawing(&self) -> Drawing {
        Drawing::Uniform
    }
}

#[test]
fn a_draw_over_all_clients_sees_what_they_did_before() {
    let Tested { selection: drawn, p } =
        selector(Close::All, Sample::Clients(1), Scheme::Uniform, &[0.25; 4]);
    let unbiased = Columns::new(p.clone(), Needs::Everything);
    let mut selection = Selection { selector: Box::new(LeastUsed), all: Some(unbiased), ..drawn };
    let columns = Columns::new(p, Needs::Everything);
    for client in [0, 1, 3] {
        let (round, tau, duration, norm) = (1, 5, Span::ZERO, 1.0);
        let outcome = Outcome::Used;
        selection.heard(&Feedback { client, round, outcome, tau, duration, norm });
    }
    let asked = selection.select(2, SimTime::ZERO, &columns);
    assert_eq!(asked, Ok(vec![Asked { client: 2, times: 1 }]));
}
