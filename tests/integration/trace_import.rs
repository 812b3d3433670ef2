//! Traces of others: every format but pickles, by hand-computed examples.

use crate::support::{Workshop, names, stderr, stdout};
use std::fs;
use std::process::Output;

pub fn import(workshop: &Workshop, format: &str, input: &str, more: &[&str]) -> Output {
    let arguments = ["trace", "import", "--format", format, input, "--out", "out.csv"];
    workshop.call(&[&arguments, more].concat())
}

/// The trace that comes of it, and what is said on stderr.
pub fn imported(workshop: &Workshop, format: &str, input: &str, more: &[&str]) -> (String, String) {
    let output = import(workshop, format, input, more);
    assert_eq!(output.status.code(), Some(0), "{format}: {}", stderr(&output));
    (fs::read_to_string(workshop.path("out.csv")).unwrap(), stderr(&output))
}

/// What is said when it fails; nothing may be left.
pub fn refused(workshop: &Workshop, format: &str, input: &str, more: &[&str]) -> String {
    let output = import(workshop, format, input, more);
    assert_eq!(output.status.code(), Some(1), "{format}: {}", stderr(&output));
    let left = names(&workshop.path(""));
    assert!(left.iter().all(|name| !name.contains("out.csv")), "{left:?}");
    stderr(&output)
}

fn example(workshop: &Workshop, name: &str, content: &str) {
    fs::write(workshop.path(name), content).unwrap();
}

#[test]
fn flash_phones_are_there_when_locked_charging_and_on_wifi() {
    let workshop = Workshop::new("");
    // Ready from 22:00:05 to 06:30:00 of the next day, and again for the last ten seconds.
    example(
        &workshop,
        "f.json",
        r#"{"7": {"guid": "g", "model": "m", "messages":
"2020-01-28 21:00:00\tbattery_charged_on\n2020-01-28 21:30:00\twifi\n2020-01-28 22:00:05\tscreen_lock\n2020-01-28 22:00:05\tscreen_off\n2020-01-29 06:30:00\t4G\n2020-01-29 07:00:00\t98.0%\n2020-01-29 07:00:10\tWIFI\n2020-01-29 07:00:20\tscreen_on\n"},
"8": {"guid": "h", "model": "m", "messages": "2020-03-01 00:00:00\tscreen_off\n"}}"#,
    );
    let night = "7,0,0\n7,79205,1\n7,109800,0\n7,111610,1\n7,111620,0\n7,172800,\n";
    let (trace, said) = imported(&workshop, "flash", "f.json", &[]);
    assert_eq!(trace, format!("device,time [s],available\n{night}8,0,0\n8,86400,\n"));
    assert_eq!(said, "2 devices, 6 changes, 0 skipped\n");

    // The same night as FLASH itself parses it: seconds since 2020-01-02.
    let day = 26 * 86_400;
    let (start, end) = (day + 75_600, day + 111_620);
    let (from, to) = (day + 79_205, day + 109_800);
    let last = day + 111_610;
    example(
        &workshop,
        "r.json",
        &format!(
            r#"{{"7": {{"isSuccess": true, "trace_start": {start}.0,
        "trace_end": {end}.0, "ready_time": [[{from}.0, {to}.0], [{last}.0, {end}.0]]}},
        "9": {{"isSuccess": false, "trace_start": null, "trace_end": null, "ready_time": []}}}}"#
        ),
    );
    let (trace, said) = imported(&workshop, "flash-ready", "r.json", &[]);
    assert_eq!(trace, format!("device,time [s],available\n{night}"));
    assert_eq!(said, "1 devices, 5 changes, 0 skipped, 1 missing in the source\n");

    fs::remove_file(workshop.path("out.csv")).unwrap();
    for (format, content, told) in [
        (
            "flash",
            r#"{"1": {"messages": "2020-01-28 21:00:00\tflying\n"}}"#,
            "unknown event `flying`",
        ),
        (
            "flash",
            r#"{"1": {"messages": "\n2020-01-28\twifi"}}"#,
            "message 2: found `2020-01-28\\twifi`",
        ),
        ("flash", r#"{"1": {"messages": ""}}"#, "there are no messages"),
        ("flash", "{\n\"1\": {}}", "line 2, byte 5, device `1`: there is no \"messages\""),
        ("flash", "{\"1\": {", "line 1 column 7"),
        ("flash", "[1]", "expected an object of devices"),
        ("flash", r#"{"": {"messages": "2020-01-28 21:00:00\twifi"}}"#, "no name"),
        ("flash-ready", r#"{"1": {}}"#, "isSuccess"),
        ("flash-ready", r#"{"1": {"isSuccess": true}}"#, "\"trace_start\" is no number"),
        (
            "flash-ready",
            r#"{"1": {"isSuccess": true, "trace_start": 5, "trace_end": 9,
            "ready_time": [[1, 2]]}}"#,
            "ready from 1 s to 2 s",
        ),
        (
            "flash-ready",
            r#"{"1": {"isSuccess": true, "trace_start": 5, "trace_end": 9,
            "ready_time": [[6]]}}"#,
            "found [6] in",
        ),
    ] {
        example(&workshop, "w.json", content);
        let error = refused(&workshop, format, "w.json", &[]);
        assert!(error.contains(told), "{content}: {error}");
    }
}

#[test]
fn latency_tables_name_phones() {
    let workshop = Workshop::new("");
    let expected =
        "device,time [s],sample_time [ms]\nPixel 4,0,36\n\"A, B\",0,7.5\nPixel 4 #2,0,60\n";
    example(
        &workshop,
        "a.csv",
        "Model,Latency (ms)\nPixel 4,12\nNone,0\n\"A, B\",2.5\nPixel 4,20\n",
    );
    example(
        &workshop,
        "a.tsv",
        "rank\tphone\tinference\n1\tPixel 4\t12\n2\tNone\t\n3\tA, B\t2.5\n4\tPixel 4\t20\n",
    );
    example(&workshop, "bare.csv", "Pixel 4;12\nNone;0.0\nA, B;2.5\nPixel 4;20\n");
    example(&workshop, "odd.csv", "who;x;t\nPixel 4;1;12\nNone;1;0\nA, B;1;2.5\nPixel 4;1;20\n");
    let map = ["--map", "device=who,sample_time=t[ms]"];
    for (input, more) in [("a.csv", &[][..]), ("a.tsv", &[]), ("bare.csv", &[]), ("odd.csv", &map)]
    {
        let (trace, said) = imported(&workshop, "ai-benchmark", input, more);
        assert_eq!(trace, expected, "{input}");
        let counts = "3 devices, 3 changes, 0 skipped, 1 missing in the source\n";
        assert!(said.starts_with(counts) && said.contains("3 times as long"), "{input}: {said}");
        // Said outright, it needs no note.
        let said_so = [more, &["--inference"]].concat();
        assert_eq!(imported(&workshop, "ai-benchmark", input, &said_so), (trace, counts.into()));
        let of_training = [more, &["--training"]].concat();
        let (trace, said) = imported(&workshop, "ai-benchmark", input, &of_training);
        assert_eq!(said, counts);
        assert!(trace.contains("\nPixel 4,0,12\n"), "{trace}");
    }
    fs::remove_file(workshop.path("out.csv")).unwrap();
    // The same latencies by device and task.
    let nested = "{\"Pixel 4\": {\"resnet\": 12, \"vgg\": 40}, \"None\": {\"vgg\": 3}, \"Zero\": {\"resnet\": 0}}";
    example(&workshop, "nested.json", nested);
    let (trace, said) = imported(&workshop, "latency-json", "nested.json", &["--task", "resnet"]);
    assert_eq!(trace, "device,time [s],sample_time [ms]\nPixel 4,0,36\n");
    assert!(said.starts_with("1 devices, 1 changes, 0 skipped, 2 missing"), "{said}");
    let of_training = ["--task", "vgg", "--training"];
    let (trace, _) = imported(&workshop, "latency-json", "nested.json", &of_training);
    assert_eq!(trace, "device,time [s],sample_time [ms]\nPixel 4,0,40\nNone,0,3\n");
    fs::remove_file(workshop.path("out.csv")).unwrap();
    example(&workshop, "mixed.json", "{\"a\": {\"t\": 1}, \"b\": {\"u\": 1}, \"c\": {\"t\": 2}}");
    let (trace, said) = imported(&workshop, "latency-json", "mixed.json", &["--training"]);
    assert_eq!(trace, "device,time [s],sample_time [ms]\na,0,1\nc,0,2\n", "the task of the first");
    assert!(said.contains("1 missing in the source"), "{said}");
    fs::remove_file(workshop.path("out.csv")).unwrap();
    example(&workshop, "long.json", "{\"a\": {\"t\": 1e308}}");
    let error = refused(&workshop, "latency-json", "long.json", &[]);
    assert!(error.contains("found 1e308 ms, expected a latency above 0 and below"), "{error}");
    let error = refused(&workshop, "latency-json", "nested.json", &[]);
    assert!(
        error.contains("device `Pixel 4`: several tasks, choose one with --task: resnet, vgg"),
        "{error}"
    );
    let output = import(&workshop, "bandwidth", "a.csv", &["--training"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("go with --format ai-benchmark"), "{}", stderr(&output));
    for (format, more) in
        [("ai-benchmark", &[][..]), ("csv", &["--map", "device=who,sample_time=t[ms]"])]
    {
        let error = refused(&workshop, format, "nested.json", more);
        assert!(error.contains("it is JSON, not a table"), "{error}");
    }
    let error = refused(&workshop, "ai-benchmark", "odd.csv", &[]);
    assert!(error.contains("--map device=COLUMN,sample_time=COLUMN[ms]"), "{error}");
    example(&workshop, "w.csv", "model,latency\na,1\nb,fast\nc,-1\nd\n");
    let error = refused(&workshop, "ai-benchmark", "w.csv", &[]);
    assert!(error.contains("line 3: column `latency`: found `fast`"), "{error}");
    let (_, said) = imported(&workshop, "ai-benchmark", "w.csv", &["--skip-bad"]);
    assert!(said.starts_with("1 devices, 1 changes, 3 skipped"), "{said}");
}

#[test]
fn bandwidth_logs_are_a_device_each() {
    let workshop = Workshop::new("");
    fs::create_dir(workshop.path("logs")).unwrap();
    example(&workshop, "logs/tram.log", "100 4.5\n101.5 0\n\n# tunnel\n102 8\n");
    example(&workshop, "logs/bus.log", "0 1\n");
    example(&workshop, "logs/.hidden", "x");
    let header = "device,time [s],up [Mbps],down [Mbps]\n";
    let tram = "tram,0,4.5,4.5\ntram,1.5,0,0\ntram,2,8,8\ntram,2.5,,\n";
    let (trace, said) = imported(&workshop, "bandwidth", "logs/tram.log", &[]);
    assert_eq!(trace, format!("{header}{tram}"));
    assert_eq!(said, "1 devices, 3 changes, 0 skipped\n");
    let (trace, _) = imported(&workshop, "bandwidth", "logs", &["--as", "both"]);
    assert_eq!(trace, format!("{header}bus,0,1,1\n{tram}"), "in the order of names");
    let (trace, _) = imported(&workshop, "bandwidth", "logs/bus.log", &["--as", "up"]);
    assert_eq!(trace, "device,time [s],up [Mbps]\nbus,0,1\n");
    fs::remove_file(workshop.path("out.csv")).unwrap();
    example(&workshop, "w.log", "0 1\n1 2 3\n0.5 x\n2 2\n1 1\n");
    let error = refused(&workshop, "bandwidth", "w.log", &[]);
    assert!(error.contains("w.log, line 2: found `1 2 3`, expected seconds and Mbit/s"), "{error}");
    let (trace, said) = imported(&workshop, "bandwidth", "w.log", &["--skip-bad"]);
    assert_eq!(trace, format!("{header}w,0,1,1\nw,2,2,2\nw,4,,\n"));
    assert!(said.contains("3 skipped\nfirst skipped: line 2"), "{said}");
}

#[test]
fn any_table_with_a_mapping() {
    let workshop = Workshop::new("");
    example(
        &workshop,
        "t.csv",
        "id,t,ms,k,on\nx,0,5,800,1\nx,1500,,1600,\nx,3000,,,0\nx,4000,,,\ny,0,7,,1\n",
    );
    let map = "device=id,time=t[ms],step_time=2*ms[us],up=k[kbps],available=on";
    let (trace, _) = imported(&workshop, "csv", "t.csv", &["--map", map]);
    assert_eq!(
        trace,
        "device,time [s],step_time [ms],up [Mbps],available\nx,0,0.01,0.8,1\nx,1.5,,1.6,\n\
         x,3,,,0\nx,4,,,\ny,0,0.014,,1\n"
    );
    let (trace, _) =
        imported(&workshop, "csv", "t.csv", &["--map", "device=t,speed=t[GFLOPS]", "--skip-bad"]);
    assert_eq!(trace, "device,time [s],speed [GFLOPS]\n1500,0,1500\n3000,0,3000\n4000,0,4000\n");
    fs::remove_file(workshop.path("out.csv")).unwrap();
    let error = refused(&workshop, "csv", "t.csv", &["--map", "device=id,up=rate[bps]"]);
    assert!(error.contains("there is no column `rate`"), "{error}");
    assert!(error.contains("the columns are: id, t, ms, k, on"), "{error}");
    example(&workshop, "w.csv", "id,t,k\nx,5,1\nx,5,2\ny,0,1\nx,6,1\n");
    let map = ["--map", "device=id,time=t[s],up=k[kbps]"];
    let error = refused(&workshop, "csv", "w.csv", &map);
    assert!(error.contains("line 3: found 5 s, expected a time after the row above"), "{error}");
    let (_, said) = imported(&workshop, "csv", "w.csv", &[&map[..], &["--skip-bad"]].concat());
    assert!(said.starts_with("2 devices, 2 changes, 2 skipped"), "{said}");
}

#[test]
fn usage_that_is_wrong_is_told_before_anything_is_read() {
    let workshop = Workshop::new("");
    for (format, more, said) in [
        ("csv", &[][..], "--format csv needs --map"),
        ("csv", &["--map", "device=a"], "map at least one of"),
        ("flash", &["--map", "device=a,up=b[bps]"], "--map goes with"),
        ("flash", &["--as", "up"], "--as goes with"),
        ("leaf", &[], "possible values: fedscale-capacity"),
    ] {
        let output = import(&workshop, format, "nowhere", more);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    let error = refused(&workshop, "flash", "nowhere", &[]);
    assert!(error.contains("error: nowhere: cannot read"), "{error}");
}

#[test]
fn traces_go_to_stdout_and_are_gzipped_by_name() {
    let workshop = Workshop::new("");
    example(&workshop, "l.log", "0 1\n");
    let arguments = ["trace", "import", "--format", "bandwidth", "l.log", "--out"];
    let output = workshop.call(&[&arguments[..], &["-"]].concat());
    assert_eq!(stdout(&output), "device,time [s],up [Mbps],down [Mbps]\nl,0,1,1\n");
    let output = workshop.call(&[&arguments[..], &["l.csv.gz"]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(fs::read(workshop.path("l.csv.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let output = workshop.call(&["trace", "inspect", "l.csv.gz"]);
    assert!(stdout(&output).contains("1 device, 1 change\n"), "{}", stdout(&output));
    let output = workshop.call(&[
        "-q",
        "trace",
        "import",
        "--format",
        "bandwidth",
        "l.log",
        "--out",
        "q.csv",
    ]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}
