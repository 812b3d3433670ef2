//! A made-up table, written and read again.

use super::*;
use crate::run_files::{CellId, CellValue, RunKey, WrittenColumn};

struct Pets;

struct Pet {
    name: String,
    age: u64,
    weight: f64,
    speed: Option<f64>,
    born: SimTime,
}

/// A column of every kind, and more of them than the writer knows one by one.
impl RunTable for Pets {
    const FILE: &'static str = "pets.csv";
    type Row<'a> = Pet;
    const WRITTEN: &'static [WrittenColumn<Self>] = {
        const AGE: WrittenColumn<Pets> =
            WrittenColumn::new("age", CellValue::Integer(|pet| pet.age), "age in years");
        &[
            WrittenColumn::new("name", CellValue::Text(|pet| &pet.name), "what it listens to"),
            AGE,
            WrittenColumn::new("weight", CellValue::Float(|pet| pet.weight), "in kilograms"),
            WrittenColumn::new("speed", CellValue::OptionalFloat(|pet| pet.speed), "if it runs"),
            WrittenColumn::new("born", CellValue::Seconds(|pet| pet.born), "when"),
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            AGE,
            WrittenColumn::new("last", CellValue::Text(|_| "end"), "the last column"),
        ]
    };
}

fn written(pet: &Pet) -> String {
    let mut out = Vec::new();
    Pets::write_row(
        &mut out,
        &RunKey::new(&CellId { variant: "home".into(), seed: 7, ..CellId::default() }),
        pet,
    );
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_written_is_read_by_name() {
    assert!(Pets::header(&[]).starts_with("variant,seed,name,age,weight,speed,born,age,age,"));
    assert!(Pets::header(&[]).ends_with(",age,last"));
    let mut pet = Pet {
        name: "rex".into(),
        age: u64::MAX,
        weight: 0.1 + 0.2,
        speed: None,
        born: SimTime::from_nanos(1_000_000_020),
    };
    let line = written(&pet);
    let age = u64::MAX;
    assert!(line.starts_with(&format!("home,7,rex,{age},0.30000000000000004,,1.000000020,{age},")));
    assert!(line.ends_with(&format!(",{age},end\n")), "{line}");
    let mut header = TableHeader::<Pets>::new(Path::new("pets.csv"), &Pets::header(&[]));
    let (variant, seed) = (header.find::<str>("variant").unwrap(), header.find("seed").unwrap());
    let (name, speed) = (header.find::<str>("name").unwrap(), header.find("speed").unwrap());
    let (born, weight) = (header.find("born").unwrap(), header.find("weight").unwrap());
    let (last, years) = (header.find::<str>("last").unwrap(), header.find("age").unwrap());
    for fast in [None, Some(f64::INFINITY), Some(-0.0)] {
        pet.speed = fast;
        let text = written(&pet);
        let line = header.line(text.trim_end(), None).unwrap();
        assert_eq!((line.get(variant).unwrap(), line.get::<u64>(seed).unwrap()), ("home", 7));
        assert_eq!((line.get(name).unwrap(), line.get(last).unwrap()), ("rex", "end"));
        assert_eq!(line.get::<Option<f64>>(speed).unwrap(), pet.speed);
        assert_eq!(line.get::<SimTime>(born).unwrap(), pet.born);
        assert_eq!(line.get::<f64>(weight).unwrap(), pet.weight);
        assert_eq!(line.get::<u64>(years).unwrap(), pet.age);
    }
}

#[test]
fn seconds_are_read_to_the_nanosecond() {
    for (cell, nanos) in [
        ("0.000000001", Some(1)),
        ("2.5", Some(2_500_000_000)),
        ("3", Some(3_000_000_000)),
        ("18446744073.709551615", Some(u64::MAX)),
        ("18446744073.709551616", None),
        ("99999999999.0", None),
        ("1.0000000001", None),
        ("1.", None),
        (".5", None),
        ("-1.0", None),
        ("1.+5", None),
        ("", None),
    ] {
        assert_eq!(SimTime::read(cell).map(SimTime::nanos), nanos, "{cell}");
    }
    for cell in ["", "+1", "-1", "1.0", "1e3", "18446744073709551616", "x"] {
        assert_eq!(u64::read(cell), None, "{cell}");
    }
}

#[test]
fn what_is_found_is_shown_in_one_short_line() {
    let mut header = TableHeader::<Pets>::new(Path::new("pets.csv"), "seed,name");
    let seed = header.find::<u64>("seed").unwrap();
    let text = format!("\u{1b}[2J{},rex", "x".repeat(100));
    let line = header.line(&text, Some(3)).unwrap();
    let error = line.get(seed).unwrap_err().to_string();
    let found = format!("\u{fffd}[2J{}", "x".repeat(28));
    let wrong = format!("column `seed`: found `{found}`, expected a whole number below 2^64");
    assert_eq!(error, format!("pets.csv, line 3: {wrong}\n  = help: run the scenario again"));
}
