//! Ten thousand broken inputs for every importer: each is read or refused, quickly, and nothing
//! panics.

use gruppetto::trace::{Format, ImportOptions, Input, Mapping, import};
use std::time::{Duration, Instant};

/// Cases per importer.
const CASES: u32 = 10_000;

/// Plain pickles by hand, of protocols 0, 2 and 4: no Python is needed to break them.
const PICKLES: [&[u8]; 3] = [
    b"(dp0\nI1\n(dp1\nVcomputation\np2\nI153\nsVcommunication\np3\nF2209.5\nsVactive\n(lp4\nI5\naI90\nasVinactive\n(lp5\nI9\naL99L\nasVfinish_time\nI100\nssI2\ng1\ns.",
    b"\x80\x02}q\x00(K\x01}q\x01(X\x0b\x00\x00\x00computationq\x02K\x99X\x0d\x00\x00\x00communicationq\x03G@\xa1C\x00\x00\x00\x00\x00X\x06\x00\x00\x00activeq\x04]q\x05(K\x05KZeX\x08\x00\x00\x00inactiveq\x06]q\x07(K\x09M\x63\x00eX\x0b\x00\x00\x00finish_timeq\x08KduK\x02h\x01u.",
    b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94(K\x01}\x94(\x8c\x0bcomputation\x94K\x99\x8c\x0dcommunication\x94M\x10'\x8c\x06active\x94K\x05KZ\x86\x94\x8c\x08inactive\x94]\x94(K\x09Kceh\x02h\x03\x8c\x0bfinish_time\x94KduK\x02h\x01u.",
];

/// Breaks bytes in the ways files break: flipped, cut, doubled, mixed with what means much.
pub struct Mutator(pub u64);

const TELLING: [&[u8]; 18] = [
    b"\xff",
    b"\0",
    b"\n",
    b",",
    b"\"",
    b"\t",
    b"{",
    b"[",
    b"(",
    b"-1",
    b"1e999",
    b"nan",
    b"99999999999999999999",
    b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"u",
    b"h\x01",
    b"2",
    b"\x94",
];

impl Mutator {
    /// SplitMix64: the same cases every time.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len());
            let to = (at + self.below(20)).min(bytes.len());
            match self.below(6) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 if at < bytes.len() => bytes[at] = self.below(256) as u8,
                2 => bytes.truncate(at),
                3 => drop(bytes.drain(at..to)),
                4 => {
                    let again = bytes[at..to].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => {
                    let telling = TELLING[self.below(TELLING.len())];
                    bytes.splice(at..at, telling.iter().copied());
                }
            }
        }
    }
}

fn break_all(format: Format, map: Option<&str>, seeds: &[&[u8]]) {
    let mut mutator = Mutator(7);
    let map = map.map(|map| Mapping::parse(map).unwrap());
    let (mut good, mut slowest) = (0, Duration::ZERO);
    for case in 0..CASES {
        let mut bytes = seeds[mutator.below(seeds.len())].to_vec();
        if case >= seeds.len() as u32 {
            mutator.mutate(&mut bytes);
        }
        let skip_bad = case % 2 == 0;
        let options = ImportOptions { skip_bad, map: map.clone(), ..ImportOptions::new(format) };
        let begun = Instant::now();
        let mut changes = 0;
        let done = import(&Input::bytes("broken", bytes), &options, &mut |recording| {
            changes += recording.changes.len() as u64;
            Ok(())
        });
        slowest = slowest.max(begun.elapsed());
        match done {
            Ok(summary) => {
                good += 1;
                assert_eq!(summary.changes, changes);
            }
            Err(error) => assert!(error.to_string().starts_with("broken"), "{error}"),
        }
    }
    // Both sides are met: not everything is refused at the door.
    assert!((CASES / 100..CASES).contains(&good), "{format:?}: {good} of {CASES} were read");
    assert!(slowest < Duration::from_secs(5), "{format:?}: one took {slowest:?}");
}

#[test]
fn broken_capacities() {
    break_all(Format::FedscaleCapacity, None, &PICKLES);
}

#[test]
fn broken_behaviour() {
    break_all(Format::FedscaleBehavior, None, &PICKLES);
}

#[test]
fn broken_flash() {
    let seed = r#"{"7": {"guid": "g", "model": "m", "messages": "2020-01-28 21:00:00\tbattery_charged_on\n2020-01-28 21:30:00\twifi\n2020-01-28 22:00:05\tscreen_lock\n2020-01-29 06:30:00\t4G\n"},
        "8": {"messages": "2020-02-28 21:00:00\t98.0%\n"}}"#;
    break_all(Format::Flash, None, &[seed.as_bytes()]);
}

#[test]
fn broken_flash_ready() {
    let seed = r#"{"7": {"isSuccess": true, "trace_start": 100.0, "trace_end": 900.0, "ready_time":
        [[150.0, 160.0], [170, 1e2]]}, "8": {"isSuccess": true, "trace_start": -5, "trace_end":
        1e5, "ready_time": []}, "9": {"isSuccess": false}}"#;
    break_all(Format::FlashReady, None, &[seed.as_bytes()]);
}

#[test]
fn broken_latency_maps() {
    let seed = r#"{"Pixel 4": {"resnet": 12.5}, "A": {"vgg": null}, "B": {"resnet": 0}, "C": {}}"#;
    break_all(Format::LatencyJson, None, &[seed.as_bytes()]);
}

#[test]
fn broken_latency_tables() {
    let seeds: [&[u8]; 3] = [
        b"model,latency\nPixel 4,12.5\nNone,0\n\"A, B\",2.5\n",
        b"rank\tphone\tinference\n1\tPixel 4\t12\n2\tMi 9\t2.5\n",
        b"a;1\nb;2\nc;3e-2\n",
    ];
    break_all(Format::AiBenchmark, None, &seeds);
}

#[test]
fn broken_logs() {
    break_all(Format::Bandwidth, None, &[b"100 4.5\n101.5 0\n\n# tunnel\n102 8\n103.25 1e2\n"]);
}

#[test]
fn broken_tables() {
    let map = "device=id,time=t[ms],step_time=2*ms[us],up=k[kbps],available=on";
    let seed = b"id,t,ms,k,on\nx,0,5,800,1\nx,1500,,1600,\nx,3000,,,0\nx,4000,,,\ny,0,7,,1\n";
    break_all(Format::Csv, Some(map), &[seed]);
}
