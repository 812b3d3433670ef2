//! FLASH's phones: what they said about charger, screen and network, and when they were ready.
//!
//! FLASH calls a phone ready while it is locked, charging and on WiFi. The clock times are those
//! of the phone, so that the daily rhythm is in them: a recording begins at the midnight before
//! the first message and ends at the midnight after the last, and a phone is not available while
//! it says nothing, before the first and after the last. Repeating it keeps nights at night.

use super::Outcome;
use super::windows::{Windows, seconds};
use crate::error::shown;
use gruppetto_sim::clock::Span;
use serde_json::Value;

const DAY: i64 = 86_400;

/// `{"guid", "model", "messages": "YYYY-MM-DD HH:MM:SS\t<event>\n…"}`.
pub(super) fn states(device: String, value: Value) -> Outcome {
    let messages = value.get("messages").ok_or("there is no \"messages\"")?;
    let messages = messages.as_str().ok_or("\"messages\" is no text")?;
    let mut events = Vec::new();
    for (number, line) in messages.split('\n').enumerate() {
        let line = line.trim();
        if !line.is_empty() {
            let event = event(line).map_err(|what| format!("message {}: {what}", number + 1))?;
            events.push(event);
        }
    }
    // Phones now and then report out of order.
    events.sort_by_key(|(at, _)| *at);
    let (Some((first, _)), Some((last, _))) = (events.first(), events.last()) else {
        return Err("there are no messages".into());
    };
    let midnight = first.div_euclid(DAY) * DAY;
    let last = last - midnight;
    if last > 36_500 * DAY {
        return Err("the messages span more than a century".into());
    }
    let end = whole_days(last);
    let (mut phone, mut since) = (Phone::default(), None);
    let mut windows = Windows::new();
    for (index, (at, said)) in events.iter().enumerate() {
        phone.hear(*said);
        // What was said within one second counts together.
        if events.get(index + 1).is_some_and(|(next, _)| next == at) {
            continue;
        }
        match (phone.is_ready(), since) {
            (true, None) => since = Some(at - midnight),
            (false, Some(from)) => {
                windows.add(instant(from), instant(at - midnight))?;
                since = None;
            }
            _ => {}
        }
    }
    if let Some(from) = since {
        windows.add(instant(from), instant(last))?;
    }
    Ok(Some(windows.recording(device, instant(end))))
}

/// `{"isSuccess", "trace_start", "trace_end", "ready_time": [[from, to], …]}`, in seconds since a
/// midnight. What FLASH could not parse is missing.
pub(super) fn ready(device: String, value: Value) -> Outcome {
    match value.get("isSuccess").and_then(Value::as_bool) {
        Some(true) => {}
        Some(false) => return Ok(None),
        None => return Err("there is no \"isSuccess\" that is true or false".into()),
    }
    let number = |key: &str| {
        let number = value.get(key).and_then(Value::as_f64);
        number.ok_or_else(|| format!("\"{key}\" is no number"))
    };
    let (start, end) = (number("trace_start")?, number("trace_end")?);
    let day = DAY as f64;
    let midnight = (start / day).floor() * day;
    if !(start < end && start.abs() < 1e12) {
        return Err(format!("a recording from {start} s to {end} s"));
    }
    let mut windows = Windows::new();
    let ready = value.get("ready_time").and_then(Value::as_array);
    for window in ready.ok_or("there is no list \"ready_time\"")? {
        let pair = window.as_array().map(|pair| pair.iter().map(Value::as_f64).collect::<Vec<_>>());
        let Some([Some(from), Some(to)]) = pair.as_deref() else {
            return Err(format!("found {} in \"ready_time\"", shown(&window.to_string())));
        };
        if !(start <= *from && *to <= end) {
            return Err(format!("ready from {from} s to {to} s, recorded {start} s to {end} s"));
        }
        windows.add(seconds(from - midnight)?, seconds(to - midnight)?)?;
    }
    let end = ((end - midnight) / day).ceil() * day;
    Ok(Some(windows.recording(device, seconds(end)?)))
}

fn whole_days(seconds: i64) -> i64 {
    // A phone that spoke at midnight only is recorded for a day.
    (seconds + DAY - 1).div_euclid(DAY).max(1) * DAY
}

fn instant(seconds: i64) -> Span {
    // Never negative, and within a century.
    Span::from_nanos(seconds.unsigned_abs() * 1_000_000_000)
}

#[derive(Clone, Copy)]
enum Said {
    Charging(bool),
    Wifi(bool),
    Locked(bool),
    Other,
}

#[derive(Default)]
struct Phone {
    charging: bool,
    wifi: bool,
    locked: bool,
}

impl Phone {
    fn hear(&mut self, said: Said) {
        match said {
            Said::Charging(on) => self.charging = on,
            Said::Wifi(on) => self.wifi = on,
            Said::Locked(on) => self.locked = on,
            Said::Other => {}
        }
    }

    fn is_ready(&self) -> bool {
        self.charging && self.wifi && self.locked
    }
}

fn event(line: &str) -> Result<(i64, Said), String> {
    let wrong = || format!("found `{}`, expected a time, a tab and an event", shown(line));
    let (time, event) = line.split_once('\t').ok_or_else(wrong)?;
    let at = timestamp(time.trim()).ok_or_else(wrong)?;
    let said = match event.trim().to_lowercase().as_str() {
        "battery_charged_on" => Said::Charging(true),
        "battery_charged_off" => Said::Charging(false),
        "wifi" => Said::Wifi(true),
        "unknown" | "2g" | "3g" | "4g" | "5g" => Said::Wifi(false),
        "screen_lock" => Said::Locked(true),
        "screen_unlock" => Said::Locked(false),
        // A dark screen is not a locked one: it is for FLASH's readers to count, not for it.
        "screen_on" | "screen_off" => Said::Other,
        level if level.strip_suffix('%').is_some_and(|level| level.parse::<f64>().is_ok()) => {
            Said::Other
        }
        other => return Err(format!("unknown event `{}`", shown(other))),
    };
    Ok((at, said))
}

/// Seconds since 1970 of `YYYY-MM-DD HH:MM:SS`, with days of 24 hours.
fn timestamp(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
    if bytes.len() != 19 || separators.iter().any(|(at, byte)| bytes[*at] != *byte) {
        return None;
    }
    let part = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?
    };
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years that begin in March put the leap day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = 365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * DAY + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01 00:00:00", 0),
            ("2020-01-02 00:00:00", 1_577_923_200),
            ("2020-02-29 23:59:59", 1_583_020_799),
            ("1969-12-31 23:59:59", -1),
        ] {
            assert_eq!(timestamp(text), Some(seconds), "{text}");
        }
        for text in
            ["2019-02-29 00:00:00", "2020-13-01 00:00:00", "2020-01-01", "2020-01-01 24:00:00"]
        {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn recordings_last_whole_days() {
        assert_eq!([0, 1, DAY, DAY + 1].map(whole_days), [DAY, DAY, DAY, 2 * DAY]);
    }
}
