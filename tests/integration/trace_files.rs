//! The trace format: what is read, what is refused and where, and that writing loses nothing.

use crate::support::{Workshop, stderr, stdout};
use gruppetto::clock::Span;
use gruppetto::trace::{
    Change, Columns, Compute, ComputeColumn, Input, Recording, Recordings, TraceError, TraceWriter,
    inspect,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;
use std::fs;

fn read(text: &str) -> Result<Vec<Recording>, TraceError> {
    Recordings::read(&Input::bytes("t.csv", text.as_bytes()))?.collect()
}

fn seconds(seconds: f64) -> Span {
    Span::from_nanos_f64(seconds * 1e9).unwrap()
}

#[test]
fn a_trace_reads_as_the_documentation_says() {
    let readme = fs::read_to_string("traces/README.md").unwrap();
    let example = readme.split("```csv\n").nth(1).unwrap().split("```").next().unwrap();
    let devices = read(example).unwrap();
    let at = |time: f64| Change { at: seconds(time), ..Change::default() };
    let phone = Recording {
        device: "phone-1".into(),
        changes: vec![
            Change {
                compute: Some(Compute::Sample(459e6)),
                up: Some(2.2e6),
                down: Some(9.5e6),
                available: Some(true),
                ..at(0.0)
            },
            Change { up: Some(0.4e6), ..at(60.0) },
            Change { available: Some(false), ..at(3600.0) },
        ],
        end: Some(seconds(86_400.0)),
    };
    assert_eq!(devices[0], phone);
    assert_eq!((devices.len(), devices[1].changes.len(), devices[1].end), (2, 1, None));
}

#[test]
fn every_unit_is_read() {
    for (title, cell, value) in [
        ("step_time [ns]", "7", 7.0),
        ("step_time [us]", "0.1", 100.0),
        ("step_time [ms]", "12.5", 12.5e6),
        ("step_time [s]", "1e-3", 1e6),
        ("sample_time [m]", "2", 120e9),
        ("sample_time [h]", "0.5", 1800e9),
        ("sample_time [d]", "1", 86_400e9),
        ("speed [FLOPS]", "5", 5.0),
        ("speed [MFLOPS]", "5", 5e6),
        ("speed [GFLOPS]", "0.3", 3e8),
        ("speed [TFLOPS]", "1.5", 1.5e12),
    ] {
        let devices = read(&format!("time [h],{title} ,device\n1.5, {cell} , a\n")).unwrap();
        let change = devices[0].changes[0];
        assert_eq!(change.compute.map(Compute::value), Some(value), "{title}");
        assert_eq!(change.at, seconds(5400.0));
    }
    for (unit, value) in [("bps", 0.7), ("kbps", 700.0), ("Mbps", 7e5), ("Gbps", 7e8)] {
        let devices = read(&format!("device,time [s],up [{unit}]\na,0,0.7\n")).unwrap();
        assert_eq!(devices[0].changes[0].up, Some(value));
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let header = "device,time [s],step_time [ms],up [Mbps],available\n";
    for (text, said) in [
        ("", "line 1: there is no column `device`"),
        ("device,time [s]\n", "no column tells anything"),
        ("device,up [Mbps]\n", "there is no column `time [s]`"),
        ("device,time,up [Mbps]\n", "column `time`: the unit is missing: expected one of ns, us"),
        ("device,time [s],up [ms]\n", "unknown unit `ms`, expected one of bps, kbps"),
        ("device,time [s],steptime [ms]\n", "did you mean `step_time`?"),
        ("device,time [s],up [bps],up [bps]\n", "two columns `up`"),
        ("device,time [s],speed [FLOPS],step_time [s]\n", "both tell compute speed"),
        ("# made by hand\n\ndevice,when,x\n", "line 3: unknown column `when`"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line ") && error.contains(said), "{text:?}: {error}");
        assert!(error.contains("a header looks like"), "what to do: {error}");
    }
    for (rows, said) in [
        ("a,0,1,2\n", "line 2: found 4 cells, expected 5"),
        (",0,1,2,1\n", "line 2, column `device`: found nothing"),
        ("a,x,1,2,1\n", "line 2, column `time [s]`: found `x`, expected a time in s"),
        ("a,-1,1,2,1\n", "column `time [s]`: found `-1`"),
        ("a,1m,1,2,1\n", "column `time [s]`: found `1m`"),
        ("a,0.0000000001,1,2,1\n", "finer than a nanosecond"),
        ("a,99999999999,1,2,1\n", "the clock ends"),
        ("a,0,0,2,1\n", "column `step_time [ms]`: found `0`, expected a number above 0"),
        ("a,0,inf,2,1\n", "column `step_time [ms]`: found `inf`"),
        ("a,0,1,-2,1\n", "column `up [Mbps]`: found `-2`, expected a number, 0"),
        ("a,0,1,2,yes\n", "column `available`: found `yes`, expected 1, 0, true, false or lost"),
        ("a,0,1,2,1\na,0,1,2,1\n", "line 3: found 0 s, expected a time after 0 s"),
        ("a,5,1,2,1\na,3,1,2,1\n", "line 3: found 3 s, expected a time after 5 s"),
        ("a,0,1,,\nb,0,1,,\na,1,1,,\n", "line 4: device `a` came before"),
        ("a,0,1,,\na,1,,,\na,2,1,,\n", "line 4: a row of `a` after its recording ended"),
        ("a,0,,,\n", "line 2: the recording ends when it begins"),
        ("a,0,\"x\ny\",,\n", "found `x\\ny`"),
    ] {
        let error = read(&format!("{header}{rows}")).unwrap_err().to_string();
        assert!(error.contains(said), "{rows:?}: {error}");
    }
    let error = read("device,time [s],up [bps]\n\u{fffd},0,1\n").map(|devices| devices.len());
    assert_eq!(error.unwrap(), 1, "any UTF-8 is a name");
    let input = Input::bytes("t.csv", &b"device,time [s],up [bps]\n\xff,0,1\n"[..]);
    let error = Recordings::read(&input).unwrap().next().unwrap().unwrap_err().to_string();
    assert!(error.contains("not UTF-8"), "{error}");
    assert!(Recordings::open("nowhere.csv").is_err_and(|e| e.to_string().contains("nowhere.csv")));
}

#[test]
fn a_row_without_end_takes_no_memory() {
    let mut text = b"device,time [s],up [bps]\n".to_vec();
    text.resize(50 << 20, b'x');
    let error = Recordings::read(&Input::bytes("t.csv", text)).unwrap().next().unwrap();
    assert!(error.unwrap_err().to_string().contains("line 2: a row of more than 1048576 bytes"));
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let columns = Columns { up: true, ..Columns::default() };
    let mut writer = TraceWriter::create(&path, columns, "").unwrap();
    let change = |at, up| Change { at: Span::from_nanos(at), up, ..Change::default() };
    let device = |name: &str, changes: Vec<Change>, end: Option<u64>| Recording {
        device: name.into(),
        changes,
        end: end.map(Span::from_nanos),
    };
    let good = change(0, Some(1.0));
    let compute = Some(Compute::Step(1.0));
    for bad in [
        device("", vec![good], None),
        device(" a", vec![good], None),
        device("a", vec![], None),
        device("a", vec![], Some(0)),
        device("a", vec![good], Some(0)),
        device("a", vec![good, good], None),
        device("a", vec![change(0, None)], None),
        device("a", vec![change(0, Some(-1.0))], None),
        device("a", vec![change(0, Some(f64::NAN))], None),
        device("a", vec![Change { compute, ..good }], None),
        device("a", vec![Change { available: Some(true), ..good }], None),
    ] {
        assert!(writer.write(&bad).is_err(), "{bad:?}");
    }
    writer.write(&device("b", vec![good], Some(1))).unwrap();
    assert!(!path.exists(), "not before it is whole");
    writer.finish().unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "device,time [s],up [Mbps]\nb,0,0.000001\nb,0.000000001,\n"
    );
    drop(TraceWriter::create(folder.path().join("u.csv"), columns, "").unwrap());
    assert_eq!(crate::support::names(folder.path()), ["t.csv"], "given up, nothing left");
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![
        1e-3..1e12f64,
        (1u32..1_000_000).prop_map(|value| f64::from(value) / 1000.0),
        (1u64..0x7ff0_0000_0000_0000).prop_map(f64::from_bits),
    ]
}

fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![positive(), Just(0.0)]
}

type Cells = (u64, (Option<f64>, Option<f64>, Option<f64>, Option<bool>));

fn recording(column: ComputeColumn, index: usize, name: &str, cells: Vec<Cells>) -> Recording {
    let mut at = 0u64;
    let mut changes = Vec::new();
    let mut end = None;
    for (step, (compute, up, down, available)) in cells {
        let compute = compute.map(|value| match column {
            ComputeColumn::Step => Compute::Step(value),
            ComputeColumn::Sample => Compute::Sample(value),
            ComputeColumn::Speed => Compute::Flops(value),
        });
        let lost = available.is_none() && step.is_multiple_of(3);
        let change = Change { at: Span::from_nanos(at), compute, up, down, available, lost };
        at += step;
        // What tells nothing is where the recording ends.
        if change == (Change { at: change.at, ..Change::default() }) {
            end = Some(change.at).filter(|end| end.nanos() > 0);
            break;
        }
        changes.push(change);
    }
    if changes.is_empty() && end.is_none() {
        end = Some(Span::from_nanos(at.max(1)));
    }
    Recording { device: format!("{index}{name}{index}"), changes, end }
}

proptest! {
    #[test]
    fn what_is_written_reads_back_exactly(
        column in prop_oneof![
            Just(ComputeColumn::Step), Just(ComputeColumn::Sample), Just(ComputeColumn::Speed)
        ],
        devices in vec(
            (
                "[ -~\n\"äß#,]{0,8}",
                vec((
                    prop_oneof![1..5u64, 1..1u64 << 50],
                    (
                        option::of(positive()), option::of(rate()), option::of(rate()),
                        option::of(any::<bool>()),
                    ),
                ), 0..8),
            ),
            0..6,
        ),
        zipped in any::<bool>(),
    ) {
        let all: Vec<Recording> = devices
            .into_iter()
            .enumerate()
            .map(|(index, (name, cells))| recording(column, index, &name, cells))
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if zipped { "t.csv.gz" } else { "t.csv" });
        let columns = Columns { compute: Some(column), up: true, down: true, available: true };
        let mut writer = TraceWriter::create(&path, columns, "made\nby a test").unwrap();
        all.iter().for_each(|recording| writer.write(recording).unwrap());
        writer.finish().unwrap();
        prop_assert_eq!(fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]), zipped);
        let reader = Recordings::open(&path).unwrap();
        prop_assert_eq!(reader.columns(), columns);
        let back: Vec<Recording> = reader.collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(back, all);
    }

    #[test]
    fn any_text_is_read_or_refused(rows in "[device,tim\\[\\]su0-9.\n\"#-]{0,200}") {
        let headed = format!("device,time [s],up [Mbps]\n{rows}");
        let _ = read(&rows);
        let _ = read(&headed);
        let _ = inspect(&Input::bytes("t.csv", headed.as_bytes()));
    }
}

const TROUBLED: &str = "device,time [s],up [Mbps],available
a,0,10,1
a,43200,20,0
a,86400,,
b,0,0,0
b,5,x,1
b,4,0,
b,3,1e9,
c,0,30,1
a,0,1,1
";

#[test]
fn an_inspection_tells_what_is_there_and_what_is_wrong() {
    let workshop = Workshop::new("");
    fs::write(workshop.path("t.csv"), TROUBLED).unwrap();
    let output = workshop.call(&["trace", "inspect", "t.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for said in [
        "4 devices, 6 changes",
        "recorded for 0s to 24h 00m; 1 say when it ended",
        "up [Mbps], of 4 devices",
        "1 rows that cannot be read",
        "first: line 6, column `up [Mbps]`: found `x`",
        "1 rows out of order",
        "first: line 8, device `b`",
        "1 devices that come again after others",
        "first: line 10, device `a`",
        "1 devices that are never available",
        "first: device `b`",
        "1 devices whose link stays at 0",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let output = workshop.call(&["trace", "inspect", "t.csv", "--json"]);
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["devices"], 4);
    assert_eq!(json["aspects"][0]["name"], "up");
    assert_eq!(json["aspects"][0]["max"], 30.0);
    assert_eq!(json["availability"]["on"]["p50"], 43_200.0);
    assert_eq!(json["problems"][1]["count"], 1);

    let output = workshop.call(&["trace", "inspect", "nowhere.csv"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("error: nowhere.csv: cannot read"), "{}", stderr(&output));
}

#[test]
fn quantiles_weigh_values_by_the_time_they_held() {
    let text = "device,time [s],up [Mbps]\na,0,1\na,10,2\na,90,4\na,100,\nb,0,8\nb,10,\n";
    let told = inspect(&Input::bytes("t.csv", text.as_bytes())).unwrap();
    let up = &told.aspects[0].spread;
    // Half of the weight is b's 8; of the other half a tenth is 1, eight tenths 2 and a tenth 4.
    assert_eq!([up.p1, up.p10, up.p50, up.p90], [1.0, 2.0, 4.0, 8.0]);
    assert!(told.problems.is_empty(), "{:?}", told.problems);
}
