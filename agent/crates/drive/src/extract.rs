//! What a user remembers of a reply: values that stand between two texts of it.

use crate::page::Page;
use crate::random::Stream;
use crate::state::{Extract, Shape, Which};
use memchr::{memchr, memmem};

/// A longer value is none.
const LONGEST: usize = 4096;
/// More occurrences than that are not counted.
const MOST: usize = 1024;
/// A longer entity is none.
const LONGEST_ENTITY: usize = 16;
/// A longer one is no number of a machine's.
const LONGEST_NUMBER: usize = 19;

/// The value on a page, entities of HTML's decoded; `None` where there is none.
pub fn extract(wanted: &Extract, page: Page<'_>, random: &mut Stream) -> Option<Box<[u8]>> {
    if let Some(name) = &wanted.field {
        return page.field(name).map(unescape);
    }
    let body = page.body;
    let mut found = memmem::find_iter(body, wanted.after.as_bytes())
        .filter_map(|at| value(&body[at + wanted.after.len()..], wanted.until.as_bytes()))
        .filter(|value| wanted.shape != Shape::Digits || is_number(value));
    let value = match wanted.which {
        Which::First => found.next()?,
        Which::Any => {
            let mut all: Vec<&[u8]> = found.take(MOST).collect();
            if wanted.shape == Shape::Token && all.iter().any(|value| is_token(value)) {
                all.retain(|value| is_token(value));
            }
            if all.is_empty() {
                return None;
            }
            all[random.below(all.len() as u32) as usize]
        }
    };
    Some(unescape(value))
}

/// Whether it is a whole number, as ids are.
fn is_number(value: &[u8]) -> bool {
    (1..=LONGEST_NUMBER).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Whether it looks as if it was made by chance: long, and no word. As Tierlab has it where it makes
/// users of a recording (`origins.py`).
fn is_token(value: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(byte);
    let mixed = value.len() >= 8
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && value.iter().all(|byte| plain(byte) || *byte == b':');
    mixed || (value.len() >= 24 && value.iter().all(plain))
}

fn value<'a>(rest: &'a [u8], until: &[u8]) -> Option<&'a [u8]> {
    let near = &rest[..rest.len().min(LONGEST)];
    let end = near.iter().position(|byte| until.contains(byte));
    match end {
        Some(0) => None,
        Some(end) => Some(&near[..end]),
        // What ends with the reply ends.
        None => (!near.is_empty() && near.len() == rest.len()).then_some(near),
    }
}

/// Decodes the entities that stand in attributes: any character's number, and the names of those
/// that markup is made of.
pub fn unescape(text: &[u8]) -> Box<[u8]> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match entity(rest) {
            Some((character, length)) => {
                plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[length..];
            }
            None => {
                plain.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    plain.extend_from_slice(rest);
    plain.into()
}

/// What the entity at the front of a text that begins with `&` stands for, and how long it is.
fn entity(text: &[u8]) -> Option<(char, usize)> {
    let end = memchr(b';', &text[..text.len().min(LONGEST_ENTITY)])?;
    let character = match &text[1..end] {
        b"amp" => '&',
        b"quot" => '"',
        b"apos" => '\'',
        b"lt" => '<',
        b"gt" => '>',
        [b'#', b'x' | b'X', digits @ ..] => numbered(digits, 16)?,
        [b'#', digits @ ..] => numbered(digits, 10)?,
        _ => return None,
    };
    Some((character, end + 1))
}

/// The character of a number; that which stands for none, as in browsers, where there is none.
fn numbered(digits: &[u8], radix: u32) -> Option<char> {
    let mut number = digits.first().map(|_| 0u32)?;
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix)?;
        number = number.saturating_mul(radix).saturating_add(digit);
    }
    let known = char::from_u32(number).filter(|character| *character != '\0');
    Some(known.unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(after: &str, until: &str, which: Which) -> Extract {
        let (after, until) = (after.into(), until.into());
        Extract { name: "x".into(), field: None, after, until, which, shape: Shape::Any }
    }

    fn found(body: &str, wanted: &Extract) -> Option<String> {
        let found = extract(wanted, Page::html(body.as_bytes()), &mut Stream::new(1, 1))?;
        Some(String::from_utf8_lossy(&found).into_owned())
    }

    #[test]
    fn a_value_stands_between_its_texts() {
        let body = r#"<input name="t" value="a&amp;b&quot;"> {"id":42,"next":7}"#;
        let first = |after, until| found(body, &wanted(after, until, Which::First));
        assert_eq!(first("value=\"", "\"").as_deref(), Some("a&b\""));
        assert_eq!(first("\"id\":", ",}").as_deref(), Some("42"));
        assert_eq!(first("absent", "\""), None);
        assert_eq!(first("next\":", "\"").as_deref(), Some("7}"), "up to the end");
    }

    /// What is drawn of a hundred times, each once.
    fn drawn(body: &str, wanted: &Extract) -> Vec<String> {
        let mut random = Stream::new(7, 7);
        let mut seen: Vec<String> = (0..100)
            .filter_map(|_| extract(wanted, Page::html(body.as_bytes()), &mut random))
            .map(|value| String::from_utf8_lossy(&value).into_owned())
            .collect();
        seen.sort();
        seen.dedup();
        seen
    }

    #[test]
    fn any_is_each_of_them_at_times() {
        let wanted = wanted("/item/", "\"", Which::Any);
        let body = r#"<a href="/item/1"><a href="/item/2"><a href="/item/3"><a href="/item/">"#;
        assert_eq!(drawn(body, &wanted), ["1", "2", "3"]);
    }

    #[test]
    fn a_number_is_taken_for_a_number_alone() {
        let links = |which| Extract { shape: Shape::Digits, ..wanted("/item/", "\"", which) };
        let body = r#"<a href="/item/new"><a href="/item/7"><a href="/item/8a"><a href="/item/9">"#;
        assert_eq!(drawn(body, &links(Which::Any)), ["7", "9"]);
        assert_eq!(drawn(body, &links(Which::First)), ["7"]);
        let none = format!(r#"<a href="/item/new"><a href="/item/{}">"#, "1".repeat(20));
        assert!(drawn(&none, &links(Which::Any)).is_empty());
    }

    #[test]
    fn a_token_is_taken_for_a_token_where_there_is_one() {
        let links = Extract { shape: Shape::Token, ..wanted("/to/", "\"", Which::Any) };
        let body = r#""/to/new" "/to/3f9a8b7c" "/to/a-title-without-any-digits" "/to/settings""#;
        assert_eq!(drawn(body, &links), ["3f9a8b7c", "a-title-without-any-digits"]);
        assert_eq!(drawn(r#""/to/abcdefgh""#, &links), ["abcdefgh"], "by chance without a digit");
    }

    #[test]
    fn entities_are_decoded_by_name_and_by_any_number() {
        for (text, plain) in [
            ("a&#43;b&#x3D;", "a+b="),
            ("&amp;amp;&lt;&gt;&quot;&apos;&#39;&#039;", "&amp;<>\"'''"),
            ("&#228;&#X1f600;", "\u{e4}\u{1f600}"),
            ("&#0;&#xD800;&#9999999999;", "\u{fffd}\u{fffd}\u{fffd}"),
            ("&;&#;&#x;&#1a;&copy;&amp", "&;&#;&#x;&#1a;&copy;&amp"),
            ("&&#43;& &#43", "&+& &#43"),
            ("", ""),
        ] {
            assert_eq!(&*unescape(text.as_bytes()), plain.as_bytes(), "{text}");
        }
    }

    #[test]
    fn what_never_ends_is_no_value() {
        let body = format!("token={}", "x".repeat(LONGEST + 1));
        assert_eq!(found(&body, &wanted("token=", "\"", Which::First)), None);
        assert_eq!(found("token=", &wanted("token=", "\"", Which::First)), None);
    }
}
