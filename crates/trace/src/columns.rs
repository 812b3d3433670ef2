//! The header of a trace: which aspects it records, and in which units.

use super::Compute;
use super::error::shown;
use super::number::Scale;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Device,
    Time,
    Step,
    Sample,
    Speed,
    Up,
    Down,
    Available,
}

/// Names, and the unit we write.
pub(super) const KINDS: [(&str, Kind, &str); 8] = [
    ("device", Kind::Device, ""),
    ("time", Kind::Time, "s"),
    ("step_time", Kind::Step, "ms"),
    ("sample_time", Kind::Sample, "ms"),
    ("speed", Kind::Speed, "GFLOPS"),
    ("up", Kind::Up, "Mbps"),
    ("down", Kind::Down, "Mbps"),
    ("available", Kind::Available, ""),
];

const TIMES: [(&str, Scale); 7] = [
    ("ns", Scale::Power(0)),
    ("us", Scale::Power(3)),
    ("ms", Scale::Power(6)),
    ("s", Scale::Power(9)),
    ("m", Scale::Times(60e9)),
    ("h", Scale::Times(3600e9)),
    ("d", Scale::Times(86_400e9)),
];
const RATES: [(&str, Scale); 4] = [
    ("bps", Scale::Power(0)),
    ("kbps", Scale::Power(3)),
    ("Mbps", Scale::Power(6)),
    ("Gbps", Scale::Power(9)),
];
const SPEEDS: [(&str, Scale); 4] = [
    ("FLOPS", Scale::Power(0)),
    ("MFLOPS", Scale::Power(6)),
    ("GFLOPS", Scale::Power(9)),
    ("TFLOPS", Scale::Power(12)),
];

impl Kind {
    /// The units a column of this kind can be in.
    fn units(self) -> &'static [(&'static str, Scale)] {
        match self {
            Kind::Device | Kind::Available => &[],
            Kind::Time | Kind::Step | Kind::Sample => &TIMES,
            Kind::Up | Kind::Down => &RATES,
            Kind::Speed => &SPEEDS,
        }
    }

    /// The name of the column, without its unit.
    pub(super) fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind, _)| *kind == self).expect("every kind").0
    }

    /// Whether it tells how fast a device computes.
    pub(super) fn is_compute(self) -> bool {
        matches!(self, Kind::Step | Kind::Sample | Kind::Speed)
    }

    /// By its name.
    pub(super) fn named(name: &str) -> Option<Kind> {
        KINDS.iter().find(|(known, ..)| *known == name).map(|(_, kind, _)| *kind)
    }

    /// A unit of this kind by its name, or what to say about it.
    pub(super) fn unit(self, unit: &str) -> Result<(&'static str, Scale), String> {
        let units = self.units();
        let list = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        match units.iter().find(|(name, _)| *name == unit) {
            Some(found) => Ok(*found),
            None if units.is_empty() && unit.is_empty() => Ok(("", Scale::Power(0))),
            None if units.is_empty() => Err(format!("`{}` has no unit", self.name())),
            None if unit.is_empty() => {
                Err(format!("the unit is missing: expected one of {} in brackets", list()))
            }
            None => Err(format!("unknown unit `{}`, expected one of {}", shown(unit), list())),
        }
    }
}

/// Splits `up [Mbps]` into a name and a unit, which may be empty.
pub(super) fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((name, unit)) => (name.trim(), unit.trim()),
        None => (text, ""),
    }
}

/// Which aspects a trace records, besides device and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// How compute speed is told, if it is.
    pub compute: Option<ComputeColumn>,
    /// The link from client to server.
    pub up: bool,
    /// The link from server to client.
    pub down: bool,
    /// Whether devices can take part.
    pub available: bool,
}

/// The three ways to tell compute speed; a trace uses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeColumn {
    /// `step_time`
    Step,
    /// `sample_time`
    Sample,
    /// `speed`
    Speed,
}

impl ComputeColumn {
    pub(super) fn kind(self) -> Kind {
        match self {
            ComputeColumn::Step => Kind::Step,
            ComputeColumn::Sample => Kind::Sample,
            ComputeColumn::Speed => Kind::Speed,
        }
    }

    /// The column a value belongs in.
    pub(super) fn of(compute: Compute) -> Self {
        match compute {
            Compute::Step(_) => ComputeColumn::Step,
            Compute::Sample(_) => ComputeColumn::Sample,
            Compute::Flops(_) => ComputeColumn::Speed,
        }
    }
}

impl Columns {
    /// Adds the column of an aspect.
    pub(super) fn with(mut self, kind: Kind) -> Self {
        match kind {
            Kind::Device | Kind::Time => {}
            Kind::Step => self.compute = Some(ComputeColumn::Step),
            Kind::Sample => self.compute = Some(ComputeColumn::Sample),
            Kind::Speed => self.compute = Some(ComputeColumn::Speed),
            Kind::Up => self.up = true,
            Kind::Down => self.down = true,
            Kind::Available => self.available = true,
        }
        self
    }

    /// The header we write.
    pub(super) fn header(self) -> String {
        let shown = |kind: Kind| match kind {
            Kind::Device | Kind::Time => true,
            Kind::Up => self.up,
            Kind::Down => self.down,
            Kind::Available => self.available,
            compute => self.compute.is_some_and(|column| column.kind() == compute),
        };
        let titled = |(name, _, unit): &(&str, Kind, &str)| match *unit {
            "" => name.to_string(),
            unit => format!("{name} [{unit}]"),
        };
        let titles: Vec<_> = KINDS.iter().filter(|(_, kind, _)| shown(*kind)).map(titled).collect();
        titles.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_a_name_and_a_unit() {
        assert_eq!(split_unit(" up [Mbps] "), ("up", "Mbps"));
        assert_eq!(split_unit("device"), ("device", ""));
        assert_eq!(split_unit("a[1][ms]"), ("a[1]", "ms"));
        assert_eq!(Kind::Up.unit("Mbps"), Ok(("Mbps", Scale::Power(6))));
        assert!(Kind::Up.unit("ms").unwrap_err().contains("expected one of bps, kbps"));
        assert!(Kind::Up.unit("").unwrap_err().contains("missing"));
        assert!(Kind::Available.unit("s").is_err());
    }

    #[test]
    fn headers_name_what_is_recorded() {
        let columns = Columns::default().with(Kind::Sample).with(Kind::Up).with(Kind::Available);
        assert_eq!(columns.header(), "device,time [s],sample_time [ms],up [Mbps],available");
    }
}
