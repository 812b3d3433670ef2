//! `--part 2/8`: some of the cells of a scenario, so that several machines can share them.

use super::cells::Cell;
use std::fmt;
use std::str::FromStr;

/// Which part, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPart {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl FromStr for RunPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some((number.trim().parse::<u32>().ok()?, of.trim().parse::<u32>().ok()?))
        });
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(RunPart { number, of }),
            Some((number, of)) => {
                Err(format!("part {number} of {of}: expected a number from 1 to {of}"))
            }
            None => Err("expected a part and how many there are, such as 2/8".into()),
        }
    }
}

impl fmt::Display for RunPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl RunPart {
    /// Its cells, of all with what each will cost. The costliest are given away first, each to the part that has the
    /// least to do: the same on every machine, for costs follow from the scenario alone.
    pub(super) fn of_cells<'a>(
        self,
        cells: Vec<Cell<'a>>,
        cost: impl Fn(&Cell<'_>) -> f64,
    ) -> Vec<Cell<'a>> {
        let mut costly: Vec<(usize, f64)> =
            cells.iter().enumerate().map(|(place, cell)| (place, cost(cell))).collect();
        costly.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
        let mut loads = vec![(0.0f64, 0u32); self.of as usize];
        let mut own = Vec::new();
        for (place, cost) in costly {
            let least = (0..loads.len()).min_by(|a, b| {
                let ((one, first), (other, second)) = (loads[*a], loads[*b]);
                one.total_cmp(&other).then(first.cmp(&second))
            });
            let least = least.unwrap_or(0);
            loads[least] = (loads[least].0 + cost, loads[least].1 + 1);
            if least + 1 == self.number as usize {
                own.push(place);
            }
        }
        own.sort_unstable();
        own.into_iter().map(|place| cells[place]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn scenario() -> Scenario {
        let text = r#"
name = "s"
stop.rounds = 1
repeats = 5
task = { kind = "quadratic", clients = 2 }
client = { lr = 0.1, work = { steps = 1 } }
server.close = "all"
sweep.client.work.steps = [1, 10, 100]
"#;
        Scenario::parse("s.toml", text, &[], None).unwrap()
    }

    #[test]
    fn parts_are_read_and_refused() {
        assert_eq!("2/8".parse(), Ok(RunPart { number: 2, of: 8 }));
        for (text, wrong) in [
            ("9/8", "from 1 to 8"),
            ("0/8", "from 1 to 8"),
            ("2", "such as 2/8"),
            ("-1/2", "such as"),
        ] {
            assert!(text.parse::<RunPart>().unwrap_err().contains(wrong), "{text}");
        }
    }

    /// Every cell is in one part, and no part has much more to do than another.
    #[test]
    fn parts_share_the_cells_evenly() {
        let scenario = scenario();
        let steps = |cell: &Cell<'_>| [1.0, 10.0, 100.0][cell.number / 5];
        for of in [1, 3, 7, 40] {
            let parts: Vec<Vec<Cell<'_>>> = (1..=of)
                .map(|number| {
                    let all = super::super::cells(&scenario).collect();
                    RunPart { number, of }.of_cells(all, steps)
                })
                .collect();
            let mut all: Vec<usize> = parts.iter().flatten().map(|cell| cell.number).collect();
            all.sort_unstable();
            assert_eq!(all, (0..15).collect::<Vec<_>>());
            let loads = parts.iter().map(|part| part.iter().map(&steps).sum::<f64>());
            let most = loads.fold(0.0, f64::max);
            assert!(most <= (555.0 / f64::from(of)).ceil() + 100.0, "{most} of {of}");
        }
    }
}
