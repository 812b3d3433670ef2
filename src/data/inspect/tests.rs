//! The indices by hand, and the report as it is printed.

use super::*;

fn of(counts: Vec<Vec<u32>>) -> Inspection {
    let classes = counts[0].len();
    Inspection {
        name: "tiny".into(),
        shape: vec![1, 2, 2],
        classes: (0..classes).map(|class| class.to_string()).collect(),
        train: counts.iter().flatten().map(|count| *count as usize).sum(),
        test: 5,
        mean: vec![0.25],
        std: vec![0.5],
        scheme: "iid".into(),
        seed: 1,
        names: Vec::new(),
        sizes: counts.iter().map(|own| own.iter().sum()).collect(),
        heterogeneity: heterogeneity(&counts),
        counts,
    }
}

#[test]
fn the_index_goes_from_alike_to_apart() {
    let index = |counts: &[Vec<u32>]| heterogeneity(counts).unwrap();
    let alike = index(&[vec![2, 6], vec![1, 3]]);
    assert_eq!((alike.total_variation, alike.chi2), (0.0, 0.0));
    // Two clients of one class each: half of everybody's samples would have to go over.
    let apart = index(&[vec![10, 0], vec![0, 10]]);
    assert_eq!((apart.total_variation, apart.chi2), (0.5, 1.0));
    // m clients of one class each: 1 − 1/m, and χ² = K − 1.
    let many: Vec<Vec<u32>> =
        (0..10).map(|i| (0..10).map(|k| if i == k { 7 } else { 0 }).collect()).collect();
    let many = index(&many);
    assert!((many.total_variation - 0.9).abs() < 1e-12 && (many.chi2 - 9.0).abs() < 1e-12);
    // 0.75 · |2/3 − 0.5| + 0.25 · |0 − 0.5|, by hand.
    let weighted = index(&[vec![20, 10], vec![0, 10]]);
    assert!((weighted.total_variation - (0.75 / 6.0 + 0.25 / 2.0)).abs() < 1e-12);
    assert_eq!(weighted.chi2_if_iid, 1.0 / 39.0);
    assert_eq!(index(&[vec![5, 5]]).chi2_if_iid, 0.0, "one client has everything");
}

#[test]
fn the_report_at_eighty_columns() {
    let report = of(vec![vec![60, 0, 3], vec![1, 2, 12_345]]).report(80, Glyphs::Unicode);
    let expected = "\
tiny
  samples        images of 1 × 2 × 2, 3 classes
  train, test    12411, 5
  pixels / 255   mean 0.2500, std 0.5000
  clients        2, iid, seed 1
  n per client   63 to 12348 (10 %: 63, 50 %: 12348, 90 %: 12348)
  heterogeneity  0.010 (total variation; 0: all alike, 1: apart)
                 χ² 0.9365, 0.0002 if dealt at random

   client      n      0     1     2
        0     63  █  60 ·   0 ░   3
        1  12348  ░   1 ░   2 █ 12k
part of a client's samples: · none  ░ some  ▒ 5 %  ▓ 20 %  █ 50 % or more
";
    assert_eq!(report, expected);
    assert!(of(vec![vec![1, 2]]).report(80, Glyphs::Ascii).is_ascii());
}

#[test]
fn many_classes_and_many_clients_fit() {
    for classes in [3, 10, 11, 30, 47, 62, 100, 1000] {
        for clients in [1, 24, 25, 1000] {
            let counts = (0..clients)
                .map(|i| (0..classes).map(|k| u32::from((i + k) % 7 == 0) * 50).collect())
                .collect();
            let report = of(counts).report(80, Glyphs::Unicode);
            for line in report.lines() {
                assert!(line.chars().count() <= 80, "{classes} {clients}: {line}");
            }
            assert!(report.lines().count() <= 40);
        }
    }
}

/// Clients of one class each look so even when they are shown together.
#[test]
fn groups_do_not_hide_the_skew() {
    let one = |i: usize| (0..10).map(|k| if i % 10 == k { 9 } else { 0 }).collect();
    let report = of((0..200).map(one).collect()).report(80, Glyphs::Unicode);
    assert_eq!(report.matches("█  90").count(), 20, "{report}");
    assert!(report.contains("200 clients in rows of 10"));
}
