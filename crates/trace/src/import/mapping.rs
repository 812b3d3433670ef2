//! Which column of somebody's table is what: `device=id,time=t[s],up=rate[kbps]`.

use crate::columns::{Columns, Kind, split_unit};
use crate::error::shown;
use crate::number::Scale;

/// The columns of a table that are of interest. A `3*` before a column multiplies its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    pub(super) parts: Vec<Part>,
}

/// One `aspect=FACTOR*COLUMN[unit]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) factor: f64,
    pub(super) column: String,
    pub(super) unit: &'static str,
    pub(super) scale: Scale,
}

impl Mapping {
    /// Reads `device=COL,time=COL[unit],step_time=COL[unit],…`.
    pub fn parse(text: &str) -> Result<Mapping, String> {
        let mut parts: Vec<Part> = Vec::new();
        for text in text.split(',') {
            let part = part(text)?;
            if parts.iter().any(|other| other.kind == part.kind) {
                return Err(format!("`{}` is mapped twice", part.kind.name()));
            }
            parts.push(part);
        }
        let mapping = Mapping { parts };
        if mapping.part(Kind::Device).is_none() {
            return Err("`device=COLUMN` is missing".into());
        }
        if mapping.parts.iter().filter(|part| part.kind.is_compute()).count() > 1 {
            return Err("map one of step_time, sample_time and speed".into());
        }
        match mapping.columns() == Columns::default() {
            true => {
                Err("map at least one of step_time, sample_time, speed, up, down, available".into())
            }
            false => Ok(mapping),
        }
    }

    /// `device=COLUMN,sample_time=COLUMN[ms]`.
    pub(super) fn latencies(device: &str, latency: &str) -> Mapping {
        let part = |kind, column: &str, unit, scale| Part {
            kind,
            factor: 1.0,
            column: column.to_string(),
            unit,
            scale,
        };
        Mapping {
            parts: vec![
                part(Kind::Device, device, "", Scale::Power(0)),
                part(Kind::Sample, latency, "ms", Scale::Power(6)),
            ],
        }
    }

    /// The aspects it maps.
    pub(super) fn columns(&self) -> Columns {
        self.parts.iter().fold(Columns::default(), |columns, part| columns.with(part.kind))
    }

    /// Where an aspect comes from.
    pub(super) fn part(&self, kind: Kind) -> Option<&Part> {
        self.parts.iter().find(|part| part.kind == kind)
    }
}

fn part(text: &str) -> Result<Part, String> {
    const LIKE: &str = "expected ASPECT=COLUMN[unit], such as up=bandwidth[kbps]";
    let wrong = || format!("found `{}`, {LIKE}", shown(text));
    let (name, column) = text.split_once('=').ok_or_else(wrong)?;
    let kind = Kind::named(name.trim()).ok_or_else(|| {
        let names = "device, time, step_time, sample_time, speed, up, down, available";
        format!("unknown aspect `{}`, expected one of {names}", shown(name))
    })?;
    let (column, unit) = split_unit(column);
    let (unit, scale) = kind.unit(unit).map_err(|wrong| format!("`{}`: {wrong}", shown(text)))?;
    let multiplied = column.split_once('*').and_then(|(factor, column)| {
        let factor = factor.trim().parse::<f64>().ok()?;
        Some((factor, column.trim()))
    });
    let (factor, column) = multiplied.unwrap_or((1.0, column));
    let is_number = !matches!(kind, Kind::Device | Kind::Time | Kind::Available);
    if column.is_empty() || !(factor.is_finite() && factor > 0.0) || (factor != 1.0 && !is_number) {
        return Err(wrong());
    }
    Ok(Part { kind, factor, column: column.to_string(), unit, scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_name_columns_and_units() {
        let map = Mapping::parse("device=id, time = t [ms],sample_time=3*c[us],available=on");
        let map = map.unwrap();
        let time = map.part(Kind::Time).unwrap();
        assert_eq!((time.column.as_str(), time.unit), ("t", "ms"));
        let sample = map.part(Kind::Sample).unwrap();
        assert_eq!((sample.column.as_str(), sample.factor), ("c", 3.0));
        assert_eq!(map.columns(), Columns::default().with(Kind::Sample).with(Kind::Available));
    }

    #[test]
    fn mappings_that_are_none() {
        for (text, said) in [
            ("", "expected ASPECT=COLUMN[unit]"),
            ("up=x[Mbps]", "`device=COLUMN` is missing"),
            ("device=a", "map at least one"),
            ("device=a,up=x", "the unit is missing"),
            ("device=a,up=x[ms]", "unknown unit `ms`"),
            ("device=a,speedy=x", "unknown aspect `speedy`"),
            ("device=a,up=x[bps],up=y[bps]", "mapped twice"),
            ("device=a,speed=x[FLOPS],step_time=y[s]", "map one of"),
            ("device=2*a,up=x[bps]", "found `device=2*a`"),
            ("device=a,up=0*x[bps]", "found `up=0*x[bps]`"),
        ] {
            let error = Mapping::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
