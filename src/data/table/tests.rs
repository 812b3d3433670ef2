//! Tables as data sets: classes, the test set, columns brought to one scale.

use super::*;

fn config(file: &Path) -> TableConfig {
    TableConfig {
        file: file.into(),
        label: None,
        client: None,
        real_targets: false,
        test_fraction: Some(0.25),
        standardize: false,
    }
}

fn load(name: &str, text: &str, change: impl Fn(&mut TableConfig)) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    let mut config = config(&file);
    change(&mut config);
    config.load().map_err(|error| error.to_string())
}

const ROWS: &str = "y,a,user\n-1,1,p\n1,2,p\n5,3,p\n1,4,q\n-1,5,r\n1,6,r\n5,7,r\n1,8,r\n";

#[test]
fn classes_are_the_labels_in_numeric_order() {
    let data = load("t.csv", ROWS, |config| config.client = Some("user".into())).unwrap();
    assert_eq!(data.class_names, ["-1", "1", "5"]);
    assert_eq!((data.train.len(), data.test.len(), data.classes), (6, 2, 3));
    let clients = data.clients.unwrap();
    assert_eq!(clients.names, ["p", "q", "r"]);
    assert_eq!(clients.of.iter().filter(|client| **client == 1).count(), 1, "q keeps its only one");
    let svm = load("t.svm", "1 1:2\n-1 2:3\n1 1:1\n-1 1:9\n", |_| {}).unwrap();
    assert_eq!((svm.class_names, svm.shape), (vec!["-1".into(), "1".into()], vec![2]));
    let zeros = load("t.csv", "y,a\n-0,1\n0,2\n1,3\n-0,4\n", |_| {}).unwrap();
    assert_eq!(zeros.class_names, ["0", "1"], "both zeros are one class");
}

#[test]
fn the_test_set_depends_on_the_data_alone() {
    let first = load("t.csv", ROWS, |config| config.client = Some("user".into())).unwrap();
    let again = load("t.csv", ROWS, |config| config.client = Some("user".into())).unwrap();
    assert_eq!(first, again);
    let none = load("t.csv", ROWS, |config| {
        config.client = Some("user".into());
        config.test_fraction = Some(0.0);
    });
    assert!(none.unwrap().test.is_empty());
}

#[test]
fn columns_are_brought_to_one_scale() {
    let rows = "y,a,b\n0,1,7\n1,3,7\n0,5,7\n1,7,7\n";
    let data = load("t.csv", rows, |config| {
        config.standardize = true;
        config.test_fraction = Some(0.0);
    });
    let data = data.unwrap();
    let Features::Floats(x) = &data.train.x else { panic!() };
    // Mean 4, variance (9 + 1 + 1 + 9)/4 = 5; the second column never changes.
    let scaled = |x: f64| (x / 5f64.sqrt()) as f32;
    assert_eq!(x[..4], [scaled(-3.0), 0.0, scaled(-1.0), 0.0]);
}

#[test]
fn what_cannot_be_used_is_said() {
    let one = |_: &mut TableConfig| {};
    for (name, text, words) in [
        ("t.csv", "y,a\n1,1\n1,2\n", "all labels are the same"),
        ("t.csv", "y,a\n1,1\n0.5,2\n", "the label of sample 1 is 0.5"),
        ("t.csv", "y,a\n", "it has no samples"),
        ("t.dat", "", "does not tell the format"),
        ("t.npz", "", "not an npz archive"),
    ] {
        let error = load(name, text, one).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let named = |config: &mut TableConfig| config.client = Some("user".into());
    assert!(load("t.svm", "1 1:1\n", named).unwrap_err().contains("has no columns for `client`"));
    let real = |config: &mut TableConfig| config.real_targets = true;
    let data = load("t.csv", "y,a\n1.5,1\n0.5,2\n", real).unwrap();
    assert_eq!((data.classes, data.train.labels()), (0, None));
}
