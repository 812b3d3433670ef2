//! Everything else that `trace import` reads. The first byte chooses the format and what becomes of bad records.
#![no_main]

use gruppetto::trace::{Format, ImportOptions, Input, Mapping, import};
use libfuzzer_sys::fuzz_target;

const FORMATS: [Format; 6] = [
    Format::Flash,
    Format::FlashReady,
    Format::LatencyJson,
    Format::AiBenchmark,
    Format::Bandwidth,
    Format::Csv,
];

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let format = FORMATS[usize::from(first >> 1) % FORMATS.len()];
    let map = "device=id,time=t[ms],step_time=2*ms[us],up=k[kbps],available=on";
    let map = (format == Format::Csv).then(|| Mapping::parse(map).expect("a mapping"));
    let options = ImportOptions { skip_bad: first % 2 != 0, map, ..ImportOptions::new(format) };
    let _ = import(&Input::bytes("f", rest.to_vec()), &options, &mut |_| Ok(()));
});
