//! A parameter's value, from where the workload says it comes.

use crate::encode::Sink;
use crate::extract::unescape;
use crate::page::{Page, parameter};
use crate::script::Script;
use crate::session::User;
use crate::source::{DrawFrom, Several, Source};
use crate::state::State;

/// How often a number beyond the last is drawn again before it is drawn evenly.
const REDRAWS: u32 = 10;

/// What values are taken from.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The workload.
    pub script: &'a Script,
    /// The state whose request is made.
    pub form: &'a State,
    /// The query of the link that is followed.
    pub link: Option<&'a [u8]>,
    /// The row that was drawn.
    pub row: Option<&'a [String]>,
    /// The page that the user sees.
    pub page: Option<Page<'a>>,
}

impl Given<'_> {
    /// The value of this column of the row.
    pub fn column(&self, column: &str) -> Option<&str> {
        let columns = &self.form.row.as_ref()?.columns;
        let place = columns.iter().position(|name| name == column)?;
        self.row?.get(place).map(String::as_str)
    }
}

/// Appends the value of `source`; `None` when the page lacks it.
pub fn append(given: Given<'_>, user: &mut User, source: &Source, to: &mut Sink<'_>) -> Option<()> {
    let Given { script, form, page, .. } = given;
    match source {
        Source::Constant(value) | Source::Secret(value) => to.put(value.as_bytes()),
        Source::Remembered(name) => to.put(user.remembered(script, name)?),
        Source::Cookie(name) => to.put(user.jar.value(name.as_bytes())?),
        Source::CookieDecoded(name) => to.put(&user.jar.decoded(name.as_bytes())?),
        Source::Link(name) => to.carry(parameter(given.link?, name)?),
        Source::LinkOr(name, absent) => match parameter(given.link?, name) {
            Some(value) => to.carry(value),
            None => to.put(absent.as_bytes()),
        },
        Source::Paging { parameter: name, link, absent } => {
            match page.and_then(|page| turned(user, page, name, link.as_deref())) {
                Some(value) => to.carry(value),
                None => to.put(absent.as_bytes()),
            }
        }
        Source::Field(name) => to.put(&unescape(page?.field(name)?)),
        Source::AnyOption => {
            let count = page?.options().count() as u32;
            let drawn = user.random.below(count) as usize;
            to.put(page?.options().nth(drawn)?);
        }
        Source::Identity(name) => {
            let identity = &script.workload.sessions[usize::from(user.kind)].identity;
            let value = identity.values.get(name)?.replace("{n}", &user.number.to_string());
            to.put(value.as_bytes());
        }
        Source::Drawn(within) => {
            let drawn = match form.draw.as_ref()?.from {
                DrawFrom::Dictionary => script.workload.dictionary[user.drawn as usize].clone(),
                _ => user.drawn.to_string(),
            };
            to.put(within.replace("{drawn}", &drawn).as_bytes());
        }
        Source::Row(column) => to.put(given.column(column)?.as_bytes()),
        Source::Choice(values) => {
            let drawn = user.random.below(values.len() as u32) as usize;
            to.put(values[drawn].as_bytes());
        }
        Source::Words(below) => words(&script.workload.dictionary, user, *below, to),
        Source::Number(low, high) => {
            to.put(user.random.between(*low, *high).to_string().as_bytes());
        }
        Source::Letters(low, high) => {
            let count = user.random.between(*low, *high);
            (0..count).for_each(|_| to.put(&[b'a' + user.random.below(26) as u8]));
        }
        Source::Digits(count) => {
            (0..*count).for_each(|_| to.put(&[b'0' + user.random.below(10) as u8]));
        }
        Source::Joined(parts) => {
            for part in parts {
                append(given, user, part, to)?;
            }
        }
        Source::Several(several) => to.put(several_of(several, user).as_bytes()),
        // What is uploaded ends the body, and is made once for all requests.
        Source::File(_) => {}
    }
    Some(())
}

/// The page number of the first or the second paging link, as likely as not.
fn turned<'a>(
    user: &mut User,
    page: Page<'a>,
    parameter: &str,
    link: Option<&str>,
) -> Option<&'a [u8]> {
    let mut numbers = page
        .links()
        .filter(|it| link.is_none_or(|to| it.leads_to(to)))
        .filter_map(|it| it.parameter(parameter));
    let first = numbers.next()?;
    match numbers.next() {
        Some(second) if user.random.below(2) == 1 => Some(second),
        _ => Some(first),
    }
}

/// Words until a length that is uniform below `below` characters, at least one; what goes beyond
/// `below` is cut, as a database column would. Six words in ten are followed by a mark of
/// punctuation, the others by a blank.
fn words(dictionary: &[String], user: &mut User, below: u32, to: &mut Sink<'_>) {
    const MARKS: [&str; 10] = [", ", ". ", " ? ", " ! ", ": ", " ; ", " ", " ", " ", " "];
    let wanted = user.random.below(below) as usize;
    let mut left = below as usize;
    while left > 0 {
        let word = &dictionary[user.random.below(dictionary.len() as u32) as usize];
        let mark = MARKS[user.random.below(10) as usize];
        for letter in word.chars().chain(mark.chars()).take(left) {
            to.put(letter.encode_utf8(&mut [0; 4]).as_bytes());
            left -= 1;
        }
        if below as usize - left >= wanted {
            return;
        }
    }
}

/// Different numbers within texts.
fn several_of(several: &Several, user: &mut User) -> String {
    let count = user.random.between(several.count.0, several.count.1);
    let mut numbers: Vec<u32> = Vec::new();
    while (numbers.len() as u32) < count.min(several.of) {
        let mut number = skewed(several, user);
        // The next one that is not there yet: few numbers to draw from must not take forever.
        while numbers.contains(&number) {
            number = number % several.of + 1;
        }
        numbers.push(number);
    }
    let text = |number: &u32| several.within.replace("{n}", &number.to_string());
    numbers.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn skewed(several: &Several, user: &mut User) -> u32 {
    for _ in 0..REDRAWS {
        let drawn = user.random.exponential(several.mean * f64::from(several.of)) as u32;
        if drawn < several.of {
            return drawn + 1;
        }
    }
    user.random.between(1, several.of)
}
