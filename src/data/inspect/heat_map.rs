//! Who has what: a row per client, a column per class, darker where a client has more.

use super::{Glyphs, Inspection};

/// Columns before the cells: the client and how many samples it has.
const HEAD: usize = 18;
/// More clients than this are shown together.
const MOST_ROWS: usize = 24;
/// As many rows are made of them.
const GROUPS: usize = 20;
/// Room for a shade, a number of four characters and a space.
const NUMBERED: usize = 6;

/// A row of the map.
struct HeatMapRow {
    label: String,
    counts: Vec<u64>,
}

/// The map and a legend, in lines of up to `width` characters.
pub(super) fn draw(inspection: &Inspection, width: usize, glyphs: Glyphs) -> String {
    let room = width.saturating_sub(HEAD).max(1);
    let classes = inspection.classes.len();
    let (rows, grouped) = rows(inspection);
    let cell = room / classes.max(1);
    let mut text = String::new();
    let numbered = cell >= NUMBERED;
    if numbered {
        text.push_str(&format!("{:>9} {:>6} ", "client", "n"));
        for name in &inspection.classes {
            let name: String = name.chars().take(NUMBERED - 2).collect();
            text.push_str(&format!(" {name:>w$}", w = NUMBERED - 1));
        }
    } else {
        let per = classes.div_ceil(room);
        let from_to = match (inspection.classes.first(), inspection.classes.last()) {
            (Some(first), Some(last)) => format!("classes {first} to {last}"),
            _ => String::new(),
        };
        let per = if per > 1 { format!(", {per} in a column") } else { String::new() };
        text.push_str(&format!("{:>9} {:>6}  {from_to}{per}", "client", "n"));
    }
    text.push('\n');
    for row in &rows {
        let n: u64 = row.counts.iter().sum();
        text.push_str(&format!("{:>9} {:>6} ", row.label, brief(n, 6)));
        match numbered {
            true => row.counts.iter().for_each(|count| {
                let shade = shade(*count, n, glyphs);
                text.push_str(&format!(" {shade}{:>w$}", brief(*count, 4), w = NUMBERED - 2));
            }),
            false => {
                text.push(' ');
                let repeat = cell.clamp(1, 2);
                for group in row.counts.chunks(classes.div_ceil(room)) {
                    let shade = shade(group.iter().sum(), n, glyphs);
                    (0..repeat).for_each(|_| text.push(shade));
                }
            }
        }
        // A pale end of a row is nothing to print.
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text.push_str(&legend(glyphs));
    if let Some(each) = grouped {
        let all = inspection.sizes.len();
        text.push_str(&format!(
            "{all} clients in rows of {each}, ordered by the class each has most of\n"
        ));
    }
    text
}

/// Clients one by one, or in groups of as many as is said. Groups are made of clients whose main
/// class is the same or near: otherwise the sum of the most different clients would look even.
fn rows(inspection: &Inspection) -> (Vec<HeatMapRow>, Option<usize>) {
    let counts = &inspection.counts;
    let wide = |own: &Vec<u32>| own.iter().map(|count| u64::from(*count)).collect::<Vec<u64>>();
    if counts.len() <= MOST_ROWS {
        let label = |client: usize| match inspection.names.get(client) {
            Some(name) => name.chars().filter(|c| !c.is_control()).take(9).collect(),
            None => client.to_string(),
        };
        let row = |(client, own)| HeatMapRow { label: label(client), counts: wide(own) };
        return (counts.iter().enumerate().map(row).collect(), None);
    }
    let main = |client: &usize| {
        let own = &counts[*client];
        let most = own.iter().max().copied().unwrap_or(0);
        own.iter().position(|count| *count == most)
    };
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(main);
    let each = counts.len().div_ceil(GROUPS);
    let group = |clients: &[usize]| {
        let mut sum = vec![0; inspection.classes.len()];
        for client in clients {
            sum.iter_mut().zip(wide(&counts[*client])).for_each(|(sum, count)| *sum += count);
        }
        HeatMapRow { label: format!("{} x", clients.len()), counts: sum }
    };
    (order.chunks(each).map(group).collect(), Some(each))
}

/// From which part of a client's samples on a cell is darker.
const STEPS: [f64; 3] = [0.05, 0.2, 0.5];

fn shade(count: u64, of: u64, glyphs: Glyphs) -> char {
    let shades = match glyphs {
        Glyphs::Unicode => ['·', '░', '▒', '▓', '█'],
        Glyphs::Ascii => ['.', ':', '+', 'x', '#'],
    };
    let part = count as f64 / of.max(1) as f64;
    match count {
        0 => shades[0],
        _ => shades[1 + STEPS.iter().filter(|step| part >= **step).count()],
    }
}

fn legend(glyphs: Glyphs) -> String {
    let at = |part: u64| shade(part, 1000, glyphs);
    format!(
        "part of a client's samples: {} none  {} some  {} 5 %  {} 20 %  {} 50 % or more\n",
        at(0),
        at(1),
        at(100),
        at(300),
        at(900)
    )
}

/// A count in so many characters.
fn brief(count: u64, room: usize) -> String {
    let plain = count.to_string();
    match plain.len() {
        length if length <= room => plain,
        length if length <= room + 2 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}
