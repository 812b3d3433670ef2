//! Traces as classes of a scenario: what they were made from is found again.

use crate::support::{Workshop, stderr, stdout};
use gruppetto::clock::Span;
use gruppetto::random::{Dist, Shape};
use gruppetto::scenario::Scenario;
use gruppetto::trace::{ComputeColumn, Fit, FitOptions, Input, Mixture, Tier, TraceWriter, fit};
use std::fs;

/// A trace of devices that nothing happens to, fitted.
fn recovered(tiers: &[(&str, f64, f64, f64)], count: usize, options: FitOptions) -> Fit {
    let lognormal =
        |median, sigma| Dist { shape: Shape::Lognormal { median, sigma }, ..Dist::fixed(0.0) };
    let tier = |(name, share, median, sigma): &(&str, f64, f64, f64)| Tier {
        name: name.to_string(),
        share: *share,
        compute: lognormal(*median, *sigma),
        place: Dist::fixed(1.0),
        up: lognormal(3e6, 0.8),
        down: lognormal(12e6, 0.3),
        load: None,
        air: None,
        outage: None,
        rhythm: None,
    };
    let mixture = Mixture {
        name: "known",
        about: "of a test",
        length: Span::from_nanos(3_600_000_000_000),
        compute: ComputeColumn::Step,
        tiers: tiers.iter().map(tier).collect(),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let mut writer = TraceWriter::create(&path, mixture.columns(), "").unwrap();
    for device in mixture.devices(3, mixture.length).take(count) {
        writer.write(&device).unwrap();
    }
    writer.finish().unwrap();
    fit(&Input::file(path), &options).unwrap()
}

#[test]
fn a_fit_recovers_what_a_trace_was_made_from() {
    let n = 4000.0f64;
    let fitted = recovered(&[("phone", 1.0, 180e6, 0.5)], n as usize, FitOptions::default());
    let [class] = &fitted.classes[..] else { panic!("{fitted}") };
    for (told, median, sigma) in
        [(class.step_time, 180.0, 0.5), (class.uplink, 3.0, 0.8), (class.downlink, 12.0, 0.3)]
    {
        // Four standard errors: of the mean of the logarithm, and of its standard deviation.
        let told = told.unwrap();
        assert!((told.median / median).ln().abs() < 4.0 * sigma / n.sqrt(), "{told:?}");
        assert!((told.sigma - sigma).abs() < 4.0 * sigma / (2.0 * n).sqrt(), "{told:?}");
    }
    for quality in &fitted.quality {
        for (trace, fit) in quality.trace.iter().zip(quality.fit) {
            assert!((trace / fit).ln().abs() < 0.15, "{quality:?}");
        }
    }

    let tiers = [("fast", 0.3, 25e6, 0.2), ("slow", 0.7, 400e6, 0.4)];
    for classes in [None, Some(2)] {
        let fitted = recovered(&tiers, 4000, FitOptions { classes, batch: None });
        let [fast, slow] = &fitted.classes[..] else { panic!("{fitted}") };
        assert!((fast.share - 0.3).abs() < 0.005 && (slow.share - 0.7).abs() < 0.005, "{fitted}");
        let (fast, slow) = (fast.step_time.unwrap(), slow.step_time.unwrap());
        assert!((fast.median / 25.0).ln().abs() < 0.03 && (fast.sigma - 0.2).abs() < 0.02);
        assert!((slow.median / 400.0).ln().abs() < 0.03 && (slow.sigma - 0.4).abs() < 0.03);
    }
}

#[test]
fn a_fit_can_be_pasted_into_a_scenario() {
    let workshop = Workshop::new("");
    for (trace, arguments) in [
        ("campus-wifi", &["--classes", "3"][..]),
        ("rack", &[]),
        ("outage", &["--classes", "1"]),
        ("phones", &["--batch", "20"]),
    ] {
        let file = format!("{}/traces/{trace}.csv.gz", env!("CARGO_MANIFEST_DIR"));
        let output = workshop.call(&[&["trace", "fit", &file], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        let narrow = |line: &str| line.chars().count() <= 80 && line.trim_end() == line;
        // The first line names the file, however long its path is.
        assert!(text.lines().skip(1).all(narrow), "{text}");
        let known: Vec<_> =
            text.lines().filter(|line| !line.starts_with("availability.")).collect();
        let pasted = format!("name = \"pasted\"\nstop.rounds = 5\n{}\n", known.join("\n"));
        let scenario = Scenario::parse("pasted.toml", &pasted, &[], None);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{pasted}"));
        let classes = &scenario.variants[0].plan.fleet.classes;
        let json = workshop.call(&[&["trace", "fit", &file, "--json"], arguments].concat());
        let json: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
        assert_eq!(json["classes"].as_array().unwrap().len(), classes.len());
        for (class, told) in classes.iter().zip(json["classes"].as_array().unwrap()) {
            assert_eq!(class.name, told["name"]);
            let Shape::Lognormal { median, sigma } = class.step_time().unwrap().shape else {
                panic!("{pasted}")
            };
            let step = &told["step_time"];
            assert!((median / 1e6 / step["median"].as_f64().unwrap() - 1.0).abs() < 1e-3);
            assert!((sigma - step["sigma"].as_f64().unwrap()).abs() < 1e-3);
        }
        assert_eq!(text.contains("availability.on = { exponential"), trace == "phones");
    }
}

#[test]
fn hostile_traces_are_fitted_or_refused() {
    let workshop = Workshop::new("");
    let call = |text: &str, arguments: &[&str]| {
        fs::write(workshop.path("t.csv"), text).unwrap();
        workshop.call(&[&["trace", "fit", "t.csv"], arguments].concat())
    };
    let step = "device,time [s],step_time [ms],up [Mbps]\n";
    for (text, arguments, said) in [
        (step, &[][..], "t.csv: there is no device in it"),
        ("", &[], "there is no column `device`"),
        (
            &*format!("{step}a,0,,5\nb,0,1e300,\n"),
            &[],
            "none of its 2 devices tells a compute speed",
        ),
        (&*format!("{step}a,0,5,\nb,0,5,\n"), &["--classes", "2"], "have 1 value"),
        (&*format!("{step}a,0,5,\n"), &["--batch", "3"], "goes with a trace of `sample_time`"),
        ("device,time [s],sample_time [ms]\na,0,5\n", &[], "--batch 20"),
        (
            "device,time [s],up [Mbps]\na,0,5\n",
            &["--classes", "2"],
            "nothing tells 2 classes apart",
        ),
        (&*format!("{step}a,0,x,\n"), &[], "line 2, column `step_time [ms]`"),
    ] {
        let output = call(text, arguments);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(stderr(&output).contains(said), "{text}: {}", stderr(&output));
    }
    for (rows, arguments, said) in [
        // One device; the same value for all; a rate of 0 for a while, for ever, and hardly any.
        ("a,0,25,8\n", &[][..], &["step_time = \"25ms\"", "uplink = \"8Mbps\""][..]),
        ("a,0,25,8\nb,0,25,8\nc,0,,5\n", &[], &["\"25ms\"", "1 device left out"]),
        ("a,0,25,8\na,10,,0\na,20,,\n", &[], &["Links were 0 for 50.00 %", "\"8Mbps\""]),
        ("a,0,25,0\na,20,,\n", &[], &["Links were 0 for 100.00 %", "\"25ms\""]),
        ("a,0,0.000001,1e-9\n", &[], &["step_time = \"1ns\""]),
        ("a,0,5,\nb,0,50,\n", &["--classes", "2"], &["\"5ms\"", "share = 0.5", "\"50ms\""]),
    ] {
        let output = call(&format!("{step}{rows}"), arguments);
        assert_eq!(output.status.code(), Some(0), "{rows}: {}", stderr(&output));
        let text = stdout(&output);
        said.iter().for_each(|said| assert!(text.contains(said), "{rows}: {said}\n{text}"));
    }
    let speed = "device,time [s],speed [GFLOPS],available\na,0,4,1\na,60,,0\na,90,,\nb,0,4,\n";
    let text = stdout(&call(speed, &[]));
    assert!(text.contains("speed = \"4 GFLOPS\""), "{text}");
    assert!(text.contains("availability.on = { exponential = { mean = \"1m\" } }"), "{text}");
    assert!(text.contains("availability.off = { exponential = { mean = \"30s\" } }"), "{text}");
    let text = stdout(&call(&format!("{speed}c,0,400,0\nc,90,,\n"), &[]));
    assert!(text.contains("speed = \"4 GFLOPS\"") && text.contains("1 device left out: never"));
    let away = call("device,time [s],speed [GFLOPS],available\na,0,4,0\na,9,,\n", &[]);
    assert!(stderr(&away).contains("none of its 1 devices is ever available"), "{away:?}");
    let text = stdout(&call("device,time [s],up [Mbps]\na,0,5\n", &[]));
    assert!(text.contains("# step_time = \"…\"") && text.contains("uplink = \"5Mbps\""), "{text}");
}
