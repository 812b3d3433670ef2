//! Texts of protocol 0, which are written with escapes.

/// Which escapes count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\u0041` and `\U00000041` only.
    Unicode,
    /// As `repr` of a Python 2 string.
    Quoted,
}

/// The text that was meant; none if a backslash escapes nothing.
pub(super) fn unescape(text: &str, escapes: Escapes) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest.chars().next();
        let digits = match (code, escapes) {
            (Some('u'), Escapes::Unicode) => 4,
            (Some('U'), Escapes::Unicode) => 8,
            (Some('x'), Escapes::Quoted) => 2,
            (_, Escapes::Unicode) => {
                out.push('\\');
                continue;
            }
            (code, Escapes::Quoted) => {
                let code = code?;
                out.push(match code {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '\\' | '\'' | '"' => code,
                    _ => return None,
                });
                rest = &rest[code.len_utf8()..];
                continue;
            }
        };
        let value = u32::from_str_radix(rest.get(1..=digits)?, 16).ok()?;
        out.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[digits + 1..];
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_python() {
        let unicode = |text| unescape(text, Escapes::Unicode);
        assert_eq!(unicode(r"a\u000ab\U0001F600").as_deref(), Some("a\nb😀"));
        assert_eq!(unicode(r"a\n\").as_deref(), Some(r"a\n\"), "others are themselves");
        assert_eq!(unicode(r"\u00"), None);
        assert_eq!(unicode(r"\ud800").as_deref(), Some("\u{fffd}"), "half a character");
        let quoted = |text| unescape(text, Escapes::Quoted);
        assert_eq!(quoted(r"it\'s\t\x41\\").as_deref(), Some("it's\tA\\"));
        assert_eq!(quoted(r"\q"), None);
        assert_eq!(quoted("\\"), None);
        assert_eq!(quoted("\\x4é"), None);
    }
}
