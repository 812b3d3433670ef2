//! Pickles: those that Python itself wrote, in every protocol, and those that nobody should load.

use crate::support::{Workshop, stderr};
use crate::trace_import::{imported, refused};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Runs a Python script in a folder.
fn python(folder: &Path, script: &str) {
    let run = Command::new("python3").args(["-c", script]).current_dir(folder).output();
    let output = run.expect("this test needs python3");
    assert!(output.status.success(), "{}", stderr(&output));
}

const CAPACITY: &str = "{1: {'computation': 153, 'communication': 2209.615982329485}, \
                         2: {'computation': 0.5, 'communication': 18000}, \
                         -7: {'communication': 1, 'computation': 10**12}}";
const CAPACITY_TRACE: &str = "device,time [s],sample_time [ms],up [Mbps],down [Mbps]
1,0,459,2.209615982329485,2.209615982329485
2,0,1.5,18,18
-7,0,3000000000000,0.001,0.001
";

#[test]
fn capacities_of_every_protocol_give_the_same_trace() {
    let workshop = Workshop::new("");
    for protocol in 0..=5 {
        let dump = format!("import pickle; pickle.dump({CAPACITY}, open('c', 'wb'), {protocol})");
        python(&workshop.path(""), &dump);
        let (trace, said) = imported(&workshop, "fedscale-capacity", "c", &[]);
        assert_eq!(trace, CAPACITY_TRACE, "protocol {protocol}");
        assert_eq!(said, "3 devices, 3 changes, 0 skipped\n");
        // The same without the C accelerator, without unused memos, and gzipped.
        let others = format!(
            "import pickle, pickletools, gzip\nd = {CAPACITY}\n\
             pickle._dump(d, open('p', 'wb'), {protocol})\n\
             s = pickletools.optimize(pickle.dumps(d, {protocol}))\nopen('o', 'wb').write(s)\n\
             gzip.open('z', 'wb').write(s)"
        );
        python(&workshop.path(""), &others);
        for input in ["p", "o", "z"] {
            let (trace, _) = imported(&workshop, "fedscale-capacity", input, &[]);
            assert_eq!(trace, CAPACITY_TRACE, "protocol {protocol}, {input}");
        }
    }
}

#[test]
fn shared_parts_and_many_entries_are_followed() {
    let workshop = Workshop::new("");
    let script = "import pickle\nshared = {'computation': 2, 'communication': 1000}\n\
                  for p in range(6):\n    \
                  d = {i: shared if i % 2 else {'computation': 4, 'communication': 3000} \
                  for i in range(2500)}\n    pickle.dump(d, open(f's{p}', 'wb'), p)";
    python(&workshop.path(""), script);
    for protocol in 0..=5 {
        let (trace, said) = imported(&workshop, "fedscale-capacity", &format!("s{protocol}"), &[]);
        assert_eq!(said, "2500 devices, 2500 changes, 0 skipped\n", "protocol {protocol}");
        let lines: Vec<_> = trace.lines().collect();
        assert_eq!((lines[1], lines[2500]), ("0,0,12,3,3", "2499,0,6,1,1"));
    }
}

#[test]
fn behaviour_is_windows_that_repeat() {
    let workshop = Workshop::new("");
    let behavior = "{'a': {'duration': 30, 'active': [10, 50.5], 'inactive': [20, 60], \
                     'finish_time': 100, 'model': 'Pixel \\u00e9\\n2'}, \
                     5: {'active': (0, 7, 90), 'inactive': (7, 9, 120), 'finish_time': 100}, \
                     6: {'active': [], 'inactive': [], 'finish_time': 1.5}}";
    let expected = "device,time [s],available\na,0,0\na,10,1\na,20,0\na,50.5,1\na,60,0\na,100,\n\
                    5,0,1\n5,9,0\n5,90,1\n5,100,\n6,0,0\n6,1.5,\n";
    for protocol in 0..=5 {
        let dump = format!("import pickle; pickle.dump({behavior}, open('b', 'wb'), {protocol})");
        python(&workshop.path(""), &dump);
        let (trace, _) = imported(&workshop, "fedscale-behavior", "b", &[]);
        assert_eq!(trace, expected, "protocol {protocol}");
    }
    for (wrong, said) in [
        ("{1: {'active': [1], 'inactive': [], 'finish_time': 9}}", "1 times in 'active' but 0"),
        ("{1: {'active': [5], 'inactive': [4], 'finish_time': 9}}", "a window from 5 s to 4 s"),
        ("{1: {'active': [1, 2], 'inactive': [3, 4], 'finish_time': 9}}", "before the one until 3"),
        ("{1: {'active': ['x'], 'inactive': [4], 'finish_time': 9}}", "found a str in a list"),
        ("{1: {'active': [-1], 'inactive': [4], 'finish_time': 9}}", "found -1"),
        ("{1: {'active': [1], 'inactive': [4]}}", "there is no 'finish_time'"),
        ("{1: {'active': 5, 'inactive': [4], 'finish_time': 9}}", "'active' is an int"),
        ("{1: {'active': [], 'inactive': [], 'finish_time': 0}}", "'finish_time' is 0"),
        ("{1: [2]}", "found a list, expected a dict"),
        ("{(1,): {}}", "found a tuple as a key"),
        ("[1]", "the pickle holds a list, expected a dict"),
        ("7", "the pickle holds an int"),
        ("{}", "there is no device in it"),
    ] {
        python(
            &workshop.path(""),
            &format!("import pickle; pickle.dump({wrong}, open('w', 'wb'))"),
        );
        fs::remove_file(workshop.path("out.csv")).unwrap_or(());
        let error = refused(&workshop, "fedscale-behavior", "w", &[]);
        assert!(error.contains(said), "{wrong}: {error}");
    }
}

#[test]
fn bad_records_stop_the_import_or_are_counted() {
    let workshop = Workshop::new("");
    let dump = "import pickle; pickle.dump({1: {'computation': 1, 'communication': 1000}, \
                2: {'computation': 0, 'communication': 1}, 3: 4, \
                '1': {'computation': 1, 'communication': 1}}, open('c', 'wb'), 4)";
    python(&workshop.path(""), dump);
    let error = refused(&workshop, "fedscale-capacity", "c", &[]);
    assert!(error.starts_with("error: c, byte ") && error.contains("device `2`"), "{error}");
    assert!(error.contains("'computation' is 0, expected a number above 0"), "{error}");
    assert!(error.contains("--skip-bad"), "{error}");
    let (trace, said) = imported(&workshop, "fedscale-capacity", "c", &["--skip-bad"]);
    assert_eq!(trace.lines().nth(1), Some("1,0,3,1,1"));
    assert!(said.starts_with("1 devices, 1 changes, 3 skipped\nfirst skipped: byte "), "{said}");
}

#[test]
fn hostile_pickles_run_nothing() {
    let workshop = Workshop::new("");
    let script = "import pickle, os\n\
        class Evil:\n    def __reduce__(self): return (os.system, ('touch pwned',))\n\
        for p in range(6):\n    \
        pickle.dump({1: Evil()}, open(f'evil{p}', 'wb'), p)\n\
        class Plain: pass\nPlain.__module__ = 'os'\n\
        pickle.dump({1: b'x'}, open('codec', 'wb'), 2)\n";
    python(&workshop.path(""), script);
    for (input, opcode) in [
        ("evil0", "GLOBAL (0x63)"),
        ("evil2", "GLOBAL (0x63)"),
        ("evil3", "GLOBAL (0x63)"),
        ("evil4", "STACK_GLOBAL (0x93)"),
        ("evil5", "STACK_GLOBAL (0x93)"),
        ("codec", "GLOBAL (0x63)"),
    ] {
        for more in [&[][..], &["--skip-bad"]] {
            let error = refused(&workshop, "fedscale-capacity", input, more);
            let said = format!("the opcode {opcode} asks for a global: refused");
            assert!(error.contains(&said) && error.contains("byte "), "{input}: {error}");
            assert!(error.contains("nothing was run"), "{error}");
        }
    }
    assert!(!workshop.path("pwned").exists());
    for (bytes, said) in [
        (&b"cos\nsystem\n(S'touch pwned'\ntR."[..], "byte 0: the opcode GLOBAL"),
        (b"\x80\x02}(K\x01}u(ios\nsystem\n.", "byte 9: the opcode INST (0x69) asks for"),
        (b"}Pid\n.", "byte 1: the opcode PERSID (0x50) asks for a persistent id"),
        (b"}K\x01Qs.", "byte 3: the opcode BINPERSID"),
        (b"\x80\x02}K\x01\x82\x01s.", "byte 5: the opcode EXT1 (0x82) asks for an extension"),
        (b"\x80\x05}K\x01\x97s.", "the opcode NEXT_BUFFER (0x97) asks for a buffer"),
        (b"}K\x01)Rs.", "the opcode REDUCE (0x52) asks for a call"),
        (b"}K\x01(os.", "the opcode OBJ"),
        (b"}K\x01)\x81s.", "the opcode NEWOBJ (0x81)"),
        (b"}K\x01)}\x92s.", "the opcode NEWOBJ_EX"),
        (b"}K\x01}bs.", "the opcode BUILD"),
        (b"\x80\x06}.", "protocol 6, expected 0 to 5"),
        (b"}\xff.", "byte 1: 0xff is no opcode"),
        (b"}X\xff\xff\xff\xff", "4294967295 bytes, expected at most"),
        (b"}\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "expected at most"),
        (b"}K\x01K\x02", "byte 5: the pickle ends here, before its STOP"),
        (b"", "byte 0: the pickle ends here"),
        (b"}q\x00K\x01h\x00s.", "no Dict that can still change"),
        (b"}h\x05.", "refers to value 5"),
        (b"s.", "not enough on the stack"),
        (b"}0q\x00.", "not enough on the stack"),
        (b"}K\x01(a.", "not enough on the stack"),
        (b"u.", "no mark on the stack"),
        (b"}(K\x01u.", "a key without a value"),
        (b"]K\x01K\x02s.", "no Dict"),
        (b".", "something unfinished"),
        (b"}(.", "there is no device in it"),
        (b"Ix\n.", "this is no integer"),
        (b"}L99999999999999999999L\n.", "no integer of 64 bits"),
        (b"}\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", "more than 64 bits"),
    ] {
        fs::write(workshop.path("h"), bytes).unwrap();
        let error = refused(&workshop, "fedscale-capacity", "h", &["--skip-bad"]);
        assert!(error.contains(said), "{bytes:?}: {error}");
    }
    assert!(!workshop.path("pwned").exists());
}

#[test]
fn truncated_pickles_are_told_where_they_end() {
    let workshop = Workshop::new("");
    for protocol in 0..=5 {
        let dump = format!("import pickle; pickle.dump({CAPACITY}, open('c', 'wb'), {protocol})");
        python(&workshop.path(""), &dump);
        let whole = fs::read(workshop.path("c")).unwrap();
        for length in (0..whole.len()).step_by(7) {
            fs::write(workshop.path("t"), &whole[..length]).unwrap();
            let error = refused(&workshop, "fedscale-capacity", "t", &["--skip-bad"]);
            assert!(error.contains("byte "), "protocol {protocol}, {length} bytes: {error}");
        }
    }
}

/// A pickle of a list that holds the last one `width` times, `depth` times over.
fn bomb(depth: u32, width: usize) -> Vec<u8> {
    let mut bytes = b"}K\x01](K\x01e".to_vec();
    for level in 0..depth {
        bytes.push(b'r');
        bytes.extend_from_slice(&level.to_le_bytes());
        bytes.extend_from_slice(b"0](");
        for _ in 0..width {
            bytes.push(b'j');
            bytes.extend_from_slice(&level.to_le_bytes());
        }
        bytes.push(b'e');
    }
    bytes.extend_from_slice(b"s.");
    bytes
}

#[test]
fn bombs_do_not_go_off() {
    let workshop = Workshop::new("");
    let deep = [&b"}K\x01"[..], &b"]".repeat(1_000_000), &b"a".repeat(999_999), b"s."].concat();
    let tuples = [&b"}K\x01)"[..], &b"\x85".repeat(1_000_000), b"s."].concat();
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    zipped.write_all(b"}").unwrap();
    for _ in 0..1000 {
        zipped.write_all(&b"K\x01".repeat(100_000)).unwrap();
    }
    let zipped = zipped.finish().unwrap();
    for (bytes, said) in [
        (deep, "nested more than 32 deep"),
        (tuples, "nested more than 32 deep"),
        (bomb(20, 10), "one value of more than 268435456 bytes"),
        (bomb(40, 1), "nested more than 32 deep"),
        (bomb(5, 3), "found a list, expected a dict"),
        (zipped, "before its STOP"),
    ] {
        fs::write(workshop.path("b"), bytes).unwrap();
        let error = refused(&workshop, "fedscale-capacity", "b", &[]);
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn pipes_are_refused_rather_than_read_in_halves() {
    let workshop = Workshop::new("");
    let error = refused(&workshop, "fedscale-capacity", "/dev/null", &[]);
    assert!(error.contains("a pickle is read twice: give it as a file"), "{error}");
}
