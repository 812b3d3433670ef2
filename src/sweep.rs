//! What a sweep changes from cell to cell: keys of the scenario, their values, and how both are shown.
//!
//! A *combination* is a variant with one value of every swept key. Its label is the variant's name and, for every key,
//! the shortest end of the key that no other swept key has: `fednova deadline=5s lr=0.01`. Tables have a column for
//! every key, with the whole key as its name.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// A key that is swept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweptKey {
    /// The whole key, such as `server.close.deadline`.
    pub key: String,
    /// As labels name it, such as `deadline`.
    pub label: String,
    /// Its values, in the order of the scenario.
    pub values: Vec<Value>,
}

/// The value of every swept key in one cell, in the order of the scenario; without a sweep there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swept(Vec<(String, Value)>);

impl Swept {
    /// These keys with their values.
    pub fn new(values: Vec<(String, Value)>) -> Self {
        Swept(values)
    }

    /// Whether nothing is swept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Keys, and values as tables show them.
    pub fn texts(&self) -> Vec<(&str, String)> {
        self.iter().map(|(key, value)| (key, shown(value))).collect()
    }

    /// How the combination of a variant with these values is called.
    pub fn label(&self, variant: &str) -> String {
        let texts = self.texts();
        label(variant, texts.iter().map(|(key, text)| (*key, text.as_str())))
    }
}

/// How the combination of a variant with these values, as tables show them, is called.
pub fn label<'a>(variant: &str, values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let (keys, texts): (Vec<&str>, Vec<&str>) = values.unzip();
    let mut name = variant.to_string();
    for (short, text) in short_names(&keys).into_iter().zip(texts) {
        name.push_str(&format!(" {short}={text}"));
    }
    name
}

/// For every key the shortest end, in whole parts, that no other key has.
pub fn short_names<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let end = |key: &'a str, parts: usize| {
        let begin = key.rmatch_indices('.').nth(parts - 1).map_or(0, |(at, _)| at + 1);
        &key[begin..]
    };
    let shortest = |key: &'a str| {
        let ends = (1..=key.split('.').count()).map(|parts| (parts, end(key, parts)));
        let is_alone = |&(parts, own): &(usize, &str)| {
            keys.iter().all(|other| *other == key || end(other, parts) != own)
        };
        ends.into_iter().find(is_alone).map_or(key, |(_, short)| short)
    };
    keys.iter().map(|key| shortest(key)).collect()
}

/// A value as labels and tables show it: without what separates the cells of a table.
pub fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            '"' | '\'' => {}
            ',' if plain.ends_with(' ') => {}
            c if c == ',' || c.is_control() || c.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            c => plain.push(c),
        }
    }
    plain.trim().to_string()
}

impl Serialize for Swept {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Swept {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Swept;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("swept keys with their values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Swept, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Swept(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_name_keys_by_their_shortest_distinct_ends() {
        for (keys, short) in [
            (&["server.close.deadline", "client.lr"][..], &["deadline", "lr"][..]),
            (&["server.optimizer.lr", "client.lr"], &["optimizer.lr", "client.lr"]),
            (&["lr", "client.lr"], &["lr", "client.lr"]),
            (&["fleet.class.a.jitter", "fleet.class.b.jitter"], &["a.jitter", "b.jitter"]),
            (&["event"], &["event"]),
        ] {
            assert_eq!(short_names(keys), short);
        }
        let swept = Swept::new(vec![
            ("server.close.deadline".into(), json!("1m 30s")),
            ("client.lr".into(), json!(0.01)),
        ]);
        assert_eq!(swept.label("fednova"), "fednova deadline=1m 30s lr=0.01");
        assert_eq!(Swept::default().label("fednova"), "fednova");
    }

    #[test]
    fn values_are_cells_of_a_table() {
        for (value, text) in [
            (json!("5s"), "5s"),
            (json!(10), "10"),
            (json!(true), "true"),
            (json!("{ uniform = [\"10ms\", \"20ms\"] }"), "{ uniform = [10ms 20ms] }"),
            (json!("a,\n\"b\""), "a b"),
        ] {
            assert_eq!(shown(&value), text);
        }
    }

    #[test]
    fn the_order_of_keys_is_kept() {
        let swept = Swept::new(vec![("b".into(), json!(1)), ("a".into(), json!("x"))]);
        let text = serde_json::to_string(&swept).unwrap();
        assert_eq!(text, r#"{"b":1,"a":"x"}"#);
        assert_eq!(serde_json::from_str::<Swept>(&text).unwrap(), swept);
    }
}
