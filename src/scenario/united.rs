//! The scenario of several runs that differ in seeds and swept values alone.

use crate::sweep::SweptKey;
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

/// How many seeds a scenario, as it was written out, has.
pub fn repeats(scenario: &str) -> u64 {
    let document = scenario.parse::<DocumentMut>().ok();
    let repeats = document.and_then(|toml| toml.get("repeats")?.as_integer());
    repeats.map_or(1, |repeats| repeats.max(1) as u64)
}

/// A scenario, as it was written out, with these swept values and the seeds from the first to the last.
pub fn united(scenario: &str, swept: &[SweptKey], (least, most): (u64, u64)) -> String {
    let Ok(mut document) = scenario.parse::<DocumentMut>() else { return scenario.into() };
    document["seed"] = value(i64::try_from(least).unwrap_or(i64::MAX));
    if most > least || document.contains_key("repeats") {
        document["repeats"] = value(i64::try_from(most - least + 1).unwrap_or(i64::MAX));
    }
    if !swept.is_empty() {
        // Values that are tables are written as they were.
        let texts = sweep_texts(&document);
        let mut table = Table::new();
        for key in swept {
            let mut array = Array::new();
            for wanted in &key.values {
                let toml = match wanted {
                    serde_json::Value::String(text) => texts
                        .iter()
                        .find(|known| known.to_string().trim() == text)
                        .cloned()
                        .unwrap_or_else(|| Value::from(text.as_str())),
                    serde_json::Value::Bool(truth) => Value::from(*truth),
                    other => match other.as_i64() {
                        Some(whole) => Value::from(whole),
                        None => Value::from(other.as_f64().unwrap_or(0.0)),
                    },
                };
                array.push(toml);
            }
            put(&mut table, &key.key, array);
        }
        document["sweep"] = Item::Table(table);
    }
    document.to_string()
}

/// Every value of the sweep that is written down.
fn sweep_texts(document: &DocumentMut) -> Vec<Value> {
    fn walk(item: &Item, found: &mut Vec<Value>) {
        match item {
            Item::Table(table) => table.iter().for_each(|(_, item)| walk(item, found)),
            Item::Value(Value::InlineTable(table)) => {
                table.iter().for_each(|(_, own)| walk(&Item::Value(own.clone()), found));
            }
            Item::Value(Value::Array(values)) => found.extend(values.iter().cloned()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(item) = document.get("sweep") {
        walk(item, &mut found);
    }
    found
}

fn put(table: &mut Table, path: &str, values: Array) {
    match path.split_once('.') {
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| {
                let mut inner = Table::new();
                inner.set_dotted(true);
                Item::Table(inner)
            });
            if let Some(inner) = inner.as_table_mut() {
                put(inner, rest, values);
            }
        }
        None => drop(table.insert(path, value(values))),
    }
}
