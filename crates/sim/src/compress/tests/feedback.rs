//! Nothing is lost for good.

use super::super::*;
use proptest::prelude::*;

fn packer(compression: Compression, error_feedback: bool, parameters: usize) -> Packer {
    Packer { packing: Packing { compression, error_feedback }, parameters, buffers: 0, seed: 3 }
}

#[test]
fn what_is_lost_comes_with_the_next() {
    let half = packer(Compression::TopK(0.5), true, 2);
    let first = half.pack(vec![3.0, -2.0], None, 0, 1);
    assert_eq!(first.update, [3.0, 0.0]);
    assert_eq!(first.residual.as_deref(), Some(&vec![0.0, -2.0]));
    // −2 is the larger now that it is added to −1.5.
    let second = half.pack(vec![3.0, -1.5], first.residual, 0, 2);
    assert_eq!(second.update, [0.0, -3.5]);
    assert_eq!(second.residual.as_deref(), Some(&vec![3.0, 0.0]));
    // What half precision cannot hold follows as well.
    let narrow = packer(Compression::Fp16, true, 1);
    let first = narrow.pack(vec![100_000.0], None, 0, 1);
    assert_eq!((first.update[0], first.residual.as_ref().unwrap()[0]), (65504.0, 34496.0));
    let second = narrow.pack(vec![0.0], first.residual, 0, 2);
    assert_eq!((second.update[0], second.residual.unwrap()[0]), (34496.0, 0.0));
}

#[test]
fn without_feedback_nothing_is_remembered() {
    let parcel = packer(Compression::TopK(0.5), false, 2).pack(vec![3.0, -2.0], None, 0, 1);
    assert_eq!(parcel, Parcel { update: vec![3.0, 0.0], residual: None });
    let untouched = packer(Compression::None, false, 2).pack(vec![0.1, -0.0], None, 0, 1);
    assert_eq!(untouched.update[1].to_bits(), (-0.0f64).to_bits());
    let mut nobody = Residuals::new(0);
    nobody.keep(7, Some(vec![1.0].into()));
    assert!(!nobody.are_kept() && nobody.of(7).is_none());
}

#[test]
fn draws_belong_to_a_client_and_its_errand() {
    let packer = packer(Compression::Quantize(2), false, 40);
    let change: Vec<f64> = (1..=40).map(f64::from).collect();
    let pack = |client, key| packer.pack(change.clone(), None, client, key).update;
    assert_eq!(pack(1, 2), pack(1, 2));
    assert!(pack(1, 2) != pack(2, 2) && pack(1, 2) != pack(1, 3) && pack(1, 2) != pack(2, 1));
}

proptest! {
    /// All that was sent and what is kept at the end are all that was trained. With `top_k` a
    /// number is sent or kept as it is, so that whole numbers come out exactly.
    #[test]
    fn nothing_is_lost(
        changes in proptest::collection::vec(
            proptest::collection::vec(-1000i32..1000, 7), 1..30),
        bits in 2u32..=16, part in 0.0f64..1.0,
    ) {
        let choices = [Compression::Fp16, Compression::TopK(part), Compression::Quantize(bits)];
        for compression in choices {
            let packer = packer(compression, true, 7);
            let (mut sent, mut trained) = (vec![0.0; 7], vec![0.0; 7]);
            let mut residual = None;
            for (key, change) in changes.iter().enumerate() {
                let change: Vec<f64> = change.iter().map(|v| f64::from(*v)).collect();
                trained.iter_mut().zip(&change).for_each(|(sum, v)| *sum += v);
                let parcel = packer.pack(change, residual, 0, key as u64);
                sent.iter_mut().zip(&parcel.update).for_each(|(sum, v)| *sum += v);
                residual = parcel.residual;
            }
            let kept = residual.unwrap();
            let exact = matches!(compression, Compression::TopK(_) | Compression::Fp16);
            for ((sent, kept), trained) in sent.iter().zip(&*kept).zip(trained) {
                let off = (sent + kept - trained).abs();
                prop_assert!(off <= if exact { 0.0 } else { 1e-9 }, "{:?}: {}", compression, off);
            }
        }
    }
}

#[test]
fn buffers_are_sent_as_they_are_and_not_remembered() {
    let packer = Packer { buffers: 2, ..packer(Compression::TopK(0.5), true, 2) };
    let Parcel { update, residual } = packer.pack(vec![0.25, 3.0, 0.1, 7.0], None, 0, 1);
    assert_eq!(update, [0.0, 3.0, 0.1, 7.0]);
    assert_eq!(*residual.unwrap(), [0.25, 0.0]);
}
