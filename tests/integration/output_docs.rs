//! One description of a run's files: the documentation, the exports and the readers follow it.
//!
//! `GRUPPETTO_WRITE_DOCS=1 cargo test --test integration output_docs` writes the tables of
//! docs/outputs.md again; then read what changed before it is committed.

use crate::outputs::EVERYTHING;
use crate::support::{Row, Workshop, rows, summary};
use gruppetto::clock::SimTime;
use gruppetto::record::{Leg, Outcome};
use gruppetto::run_files::{
    ClientsCsv, ColumnKind, ReadError, Readable, RoundsCsv, RunTable, RunsCsv, TableHeader,
    TableRows,
};
use parquet::basic::Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const SUMMARY: &str = include_str!("../../src/run_files/summary_json.rs");
const ONE_RUN: &str = include_str!("../../src/run_files/summary_json/one_run.rs");

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/outputs.md")
}

/// The columns of a table, as the page shows them.
fn columns<T: RunTable>() -> String {
    let mut table = "| column | type | meaning |\n|---|---|---|\n".to_string();
    for column in T::columns() {
        let kind = column.kind.in_words();
        table += &format!("| `{}` | {kind} | {} |\n", column.name, column.meaning);
    }
    table
}

/// The fields of a struct that are written to the file, each with its comment.
fn fields(source: &str, name: &str) -> Vec<(String, String)> {
    let body = source.split_once(&format!("pub struct {name} {{\n")).unwrap().1;
    let body = body.split_once("\n}\n").unwrap().0;
    let (mut all, mut comment, mut skipped) = (Vec::new(), Vec::new(), false);
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            comment.push(text);
        } else if line.starts_with("#[serde(skip)]") {
            skipped = true;
        } else if let Some(field) = line.strip_prefix("pub ") {
            let (field, comment) = (field.split(':').next().unwrap(), std::mem::take(&mut comment));
            assert!(!comment.is_empty(), "{name}.{field} has no comment");
            if !std::mem::take(&mut skipped) {
                all.push((field.to_string(), comment.join(" ")));
            }
        }
    }
    assert!(!all.is_empty(), "{name}");
    all
}

/// The keys of a struct, as the page shows them.
fn keys(source: &str, name: &str) -> String {
    let mut table = "| key | meaning |\n|---|---|\n".to_string();
    for (field, comment) in fields(source, name) {
        table += &format!("| `{field}` | {comment} |\n");
    }
    table
}

/// The page as it is, and as it should be; written anew first if that is wanted, for tests run side by side
/// and all read the new one.
fn before_and_after() -> &'static (String, String) {
    static TEXTS: OnceLock<(String, String)> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let before = fs::read_to_string(page()).unwrap();
        let mut after = before.clone();
        for (name, table) in [
            ("columns of rounds.csv", columns::<RoundsCsv>()),
            ("columns of clients.csv", columns::<ClientsCsv>()),
            ("columns of runs.csv", columns::<RunsCsv>()),
            ("keys of summary.json", keys(SUMMARY, "Summary")),
            ("keys of a variant", keys(ONE_RUN, "VariantSummary")),
        ] {
            let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
            let (head, rest) = after.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
            let (_, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
            after = format!("{head}{begin}{table}{end}{tail}");
        }
        if std::env::var_os("GRUPPETTO_WRITE_DOCS").is_some() {
            fs::write(page(), &after).unwrap();
            return (after.clone(), after);
        }
        (before, after)
    })
}

#[test]
fn the_tables_of_the_page_are_those_of_the_description() {
    let (before, after) = before_and_after();
    let differ = before.lines().zip(after.lines()).find(|(before, after)| before != after);
    assert!(
        before == after,
        "docs/outputs.md is out of date: {differ:?}\n\
         GRUPPETTO_WRITE_DOCS=1 cargo test --test integration output_docs writes it again"
    );
}

/// Every key of a value and of everything in it; classes of devices are names, not keys.
fn all_keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                found.push(key.clone());
                match key.as_str() {
                    "time" => {
                        value.as_object().unwrap().values().for_each(|of| all_keys(of, found))
                    }
                    _ => all_keys(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| all_keys(value, found)),
        _ => {}
    }
}

/// A quadratic whose schedule is expected, and a variant of it that diverges.
const WILD: &str = r#"
name = "wild"
stop.rounds = 30
stop.target = { metric = "train_loss", at_most = 1e-9 }
task = { kind = "quadratic", clients = 4, dim = 3 }
client = { lr = 0.1, work = { steps = 3 } }
server.close = "all"

[[variant]]
name = "tame"
[[variant]]
name = "wild"
set = { client.lr = 1e9 }
[[expect]]
that = "slowdown"
of = "tame"
at_least = 0
[[expect]]
that = "diverged"
of = "wild"
at_least = 1
"#;

#[test]
fn every_key_of_a_summary_is_documented() {
    let docs = &before_and_after().0;
    let known: Vec<String> =
        fields(SUMMARY, "Summary").into_iter().map(|(field, _)| field).collect();
    let of_run: Vec<String> =
        fields(ONE_RUN, "VariantSummary").into_iter().map(|(field, _)| field).collect();
    let mut seen = Vec::new();
    for scenario in [EVERYTHING, WILD] {
        let summary = summary(&Workshop::new(scenario).run("out", &[]));
        for (table, known) in [(&summary, &known), (&summary["variants"][0], &of_run)] {
            let keys = table.as_object().unwrap().keys();
            keys.for_each(|key| assert!(known.contains(key), "{key} is not a field"));
        }
        all_keys(&summary, &mut seen);
    }
    for key in ["fixed_point", "cause", "tightest_beta2", "compute_seconds", "skipped", "std"] {
        assert!(seen.iter().any(|seen| seen == key), "{key} is not there to be documented");
    }
    for key in seen {
        assert!(docs.contains(&format!("`{key}`")), "{key}");
    }
    for name in Outcome::ALL.map(Outcome::name).iter().chain(&Leg::ALL.map(Leg::name)) {
        assert!(docs.contains(&format!("`{name}`")), "{name}");
    }
}

/// Reads every cell of a file by the name of its column and as its kind; how many there are.
fn read_all<T: RunTable>(folder: &Path) -> Result<usize, ReadError> {
    fn all<T: RunTable, V: Readable + ?Sized>(
        folder: &Path,
        name: &str,
    ) -> Result<usize, ReadError> {
        let mut rows = TableRows::<T>::open(folder)?;
        let place = rows.header().find::<V>(name)?;
        let mut count = 0;
        while let Some(row) = rows.next_row()? {
            row.get(place)?;
            count += 1;
        }
        Ok(count)
    }
    let mut cells = 0;
    for column in T::columns() {
        cells += match column.kind {
            ColumnKind::Text => all::<T, str>(folder, column.name)?,
            ColumnKind::Integer => all::<T, u64>(folder, column.name)?,
            ColumnKind::Float => all::<T, f64>(folder, column.name)?,
            ColumnKind::OptionalFloat => all::<T, Option<f64>>(folder, column.name)?,
            ColumnKind::Seconds => all::<T, SimTime>(folder, column.name)?,
        };
    }
    Ok(cells)
}

/// Compares a Parquet file with the description of the table and with the CSV file, cell by cell.
fn assert_exported<T: RunTable>(folder: &Path) {
    let expected: Vec<Row> = rows(&folder.join(T::FILE));
    let file = fs::File::open(folder.join(T::FILE).with_extension("parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    assert_eq!(schema.num_columns(), T::columns().count());
    for (of, column) in schema.columns().iter().zip(T::columns()) {
        let expected = match column.kind {
            ColumnKind::Text => Type::BYTE_ARRAY,
            ColumnKind::Integer => Type::INT64,
            ColumnKind::Float | ColumnKind::OptionalFloat | ColumnKind::Seconds => Type::DOUBLE,
        };
        assert_eq!((of.name(), of.physical_type()), (column.name, expected));
    }
    let mut count = 0;
    for (row, expected) in reader.get_row_iter(None).unwrap().zip(&expected) {
        for (name, cell) in row.unwrap().get_column_iter() {
            let text = expected.text(name);
            match cell {
                Field::Null => assert_eq!(text, "", "{name}"),
                Field::Str(value) => assert_eq!(value, text, "{name}"),
                Field::Long(value) => assert_eq!((*value as u64).to_string(), text, "{name}"),
                Field::Double(value) => {
                    assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        count += 1;
    }
    assert_eq!(count, expected.len());
}

#[test]
fn every_column_is_read_by_name_and_exported() {
    let workshop = Workshop::new(EVERYTHING);
    let folder = workshop.run("out", &["--parquet", "--tensorboard", "board"]);
    assert_exported::<RoundsCsv>(&folder);
    assert_exported::<ClientsCsv>(&folder);
    let rounds = rows(&folder.join("rounds.csv"));
    assert_eq!(
        read_all::<RoundsCsv>(&folder).unwrap(),
        rounds.len() * RoundsCsv::columns().count()
    );
    assert!(read_all::<ClientsCsv>(&folder).unwrap() > 1000);
    let board = workshop.path("board/nova-3/events.out.tfevents.0.gruppetto");
    let events = String::from_utf8_lossy(&fs::read(board).unwrap()).into_owned();
    let keys = ["variant", "seed", "round", "virtual_seconds"];
    for column in RoundsCsv::columns().filter(|column| !keys.contains(&column.name)) {
        // A column that is empty throughout has no scalars.
        let mut own =
            rounds.iter().filter(|row| row.text("variant") == "nova" && row.int("seed") == 3);
        let known = own.any(|row| !row.text(column.name).is_empty());
        let tags = ["metric", "round"].map(|group| format!("{group}/{}", column.name));
        assert_eq!(tags.iter().any(|tag| events.contains(tag)), known, "{}", column.name);
    }
}

#[test]
fn cells_that_are_not_what_they_should_be_are_named() {
    let workshop = Workshop::new(EVERYTHING);
    let folder = workshop.run("out", &[]);
    let path = folder.join("rounds.csv");
    let whole = fs::read_to_string(&path).unwrap();
    for (from, to, said) in [
        (",train_loss,", ",loss,", "rounds.csv, line 1: there is no column `train_loss`"),
        ("\nnova,3,1,", "\nnova,3,one,", "line 2: column `round`: found `one`, expected a whole"),
        ("\nnova,3,2,", "\nnova,3,2,x", "line 3: column `virtual_seconds`: found `x"),
        ("\nnova,3,3,", "\nnova,3,3,1,", "line 4: found 23 cells, expected 22 as in the header"),
    ] {
        let edited = whole.replacen(from, to, 1);
        assert_ne!(edited, whole, "{from}");
        fs::write(&path, edited).unwrap();
        let error = read_all::<RoundsCsv>(&folder).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // A file of another version has a column more, somewhere else: known ones are found all the same.
    let newer: String = whole.lines().enumerate().fold(String::new(), |text, (number, line)| {
        text + if number == 0 { "weather," } else { "sunny," } + line + "\n"
    });
    fs::write(&path, newer).unwrap();
    assert!(read_all::<RoundsCsv>(&folder).unwrap() > 0);
    let header = TableRows::<RoundsCsv>::open(&folder).unwrap();
    let (name, column) = header.header().columns().next().unwrap();
    assert_eq!((name, column), ("weather", ColumnKind::Text));
    let output = workshop.call(&["export", "out", "--parquet"]);
    assert_eq!(output.status.code(), Some(0), "{}", crate::support::stderr(&output));
    let output = workshop.call(&["watch", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", crate::support::stderr(&output));
}

#[test]
#[should_panic(expected = "`tau_eff` of rounds.csv")]
fn a_column_is_read_as_its_kind() {
    let _ =
        TableHeader::<RoundsCsv>::new(Path::new("rounds.csv"), "tau_eff").find::<u64>("tau_eff");
}
