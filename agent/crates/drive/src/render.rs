//! The next request of a user, rendered from its state and the page that it sees.

use crate::page::{Link, Page, parameter};
use crate::script::Script;
use crate::session::User;
use crate::workload::{Draw, DrawFrom, Method, Pick, Source, State, Target};

/// A request, kept while its user thinks.
#[derive(Default)]
pub struct Request {
    /// Its state.
    pub state: u8,
    /// How the parameters travel.
    pub method: Method,
    /// Path and query, then the body.
    text: Box<[u8]>,
    /// Where the body begins.
    body_at: u32,
}

impl Request {
    /// Path and query.
    pub fn target(&self) -> &[u8] {
        &self.text[..self.body_at as usize]
    }

    /// Whether sending it twice does what sending it once does (RFC 9110 section 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        self.method == Method::Get
    }

    /// The body of a POST request.
    pub fn body(&self) -> &[u8] {
        &self.text[self.body_at as usize..]
    }
}

/// Renders the request of `state`; `None` when the page lacks something that it needs.
pub fn request(
    script: &Script,
    user: &mut User,
    state: u8,
    page: Option<Page<'_>>,
) -> Option<Request> {
    let form = &script.workload.states[usize::from(state)];
    let link = match &form.pick {
        Some(pick) => Some(followed(script, user, pick, page)?),
        None => None,
    };
    if let Some(draw) = &form.draw {
        draw_once(script, user, state, draw);
    }
    let row = form.row.as_ref().map(|rows| {
        let at = script.row(state, user.random.unit());
        (rows, at)
    });
    let mut text = Vec::with_capacity(96);
    text.extend_from_slice(form.path.as_bytes());
    let mut body_at = text.len();
    for (at, wanted) in form.parameters.iter().enumerate() {
        match (at, form.method) {
            (0, Method::Get) => text.push(b'?'),
            (0, Method::Post) => {}
            _ => text.push(b'&'),
        }
        encode(wanted.name.as_bytes(), &mut text);
        text.push(b'=');
        match &wanted.from {
            Source::Row(column) => {
                let (rows, at) = row?;
                let column = rows.columns.iter().position(|name| name == column)?;
                encode(rows.rows[at][column].as_bytes(), &mut text);
            }
            source => value(script, user, form, source, link.as_deref(), page, &mut text)?,
        }
    }
    if form.method == Method::Get {
        body_at = text.len();
    }
    Some(Request { state, method: form.method, text: text.into(), body_at: body_at as u32 })
}

/// The query of the link that the user follows.
fn followed(
    script: &Script,
    user: &mut User,
    pick: &Pick,
    page: Option<Page<'_>>,
) -> Option<Box<[u8]>> {
    let picked = page.and_then(|page| pick_link(user, pick, page));
    match &pick.remember {
        None => picked.map(|link| link.query.into()),
        Some(name) => {
            let memory = script.memories.iter().position(|it| it == name)?;
            user.recall(memory, picked).map(Into::into)
        }
    }
}

fn pick_link<'a>(user: &mut User, pick: &Pick, page: Page<'a>) -> Option<Link<'a>> {
    let qualifies = |link: &Link<'_>| match &pick.target {
        Target::Link(page) => link.leads_to(page),
        Target::Parameter(name) => link.parameter(name).is_some(),
    };
    let links: Vec<Link<'_>> = page.links().filter(qualifies).collect();
    if links.is_empty() {
        return None;
    }
    let extra = pick.first_weight - 1;
    let drawn = user.random.below((links.len() + extra) as u32) as usize;
    Some(links[drawn.saturating_sub(extra)])
}

fn draw_once(script: &Script, user: &mut User, state: u8, draw: &Draw) {
    if draw.hold && user.repeats(state) {
        return;
    }
    user.drawn = match draw.from {
        DrawFrom::Numbers(low, high) => user.random.between(low, high),
        DrawFrom::Dictionary => user.random.below(script.workload.dictionary.len() as u32),
    };
}

/// Appends a parameter's value, percent-encoded.
fn value(
    script: &Script,
    user: &mut User,
    form: &State,
    source: &Source,
    link: Option<&[u8]>,
    page: Option<Page<'_>>,
    text: &mut Vec<u8>,
) -> Option<()> {
    match source {
        Source::Constant(value) => encode(value.as_bytes(), text),
        Source::Link(name) => carry(parameter(link?, name)?, text),
        Source::LinkOr(name, absent) => match parameter(link?, name) {
            Some(value) => carry(value, text),
            None => encode(absent.as_bytes(), text),
        },
        Source::Paging { parameter: name, link, absent } => {
            match page.and_then(|page| turned(user, page, name, link.as_deref())) {
                Some(value) => carry(value, text),
                None => encode(absent.as_bytes(), text),
            }
        }
        Source::Field(name) => encode(page?.field(name)?, text),
        Source::AnyOption => {
            let count = page?.options().count() as u32;
            let drawn = user.random.below(count) as usize;
            encode(page?.options().nth(drawn)?, text);
        }
        Source::Identity(name) => {
            let identity = &script.workload.sessions[usize::from(user.kind)].identity;
            let value = identity.values.get(name)?.replace("{n}", &user.number.to_string());
            encode(value.as_bytes(), text);
        }
        Source::Drawn(within) => {
            let drawn = match form.draw.as_ref()?.from {
                DrawFrom::Numbers(..) => user.drawn.to_string(),
                DrawFrom::Dictionary => script.workload.dictionary[user.drawn as usize].clone(),
            };
            encode(within.replace("{drawn}", &drawn).as_bytes(), text);
        }
        Source::Choice(values) => {
            let drawn = user.random.below(values.len() as u32) as usize;
            encode(values[drawn].as_bytes(), text);
        }
        Source::Words(below) => words(&script.workload.dictionary, user, *below, text),
        Source::Row(_) => return None,
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
fn words(dictionary: &[String], user: &mut User, below: u32, text: &mut Vec<u8>) {
    const MARKS: [&str; 10] = [", ", ". ", " ? ", " ! ", ": ", " ; ", " ", " ", " ", " "];
    let wanted = user.random.below(below) as usize;
    let mut left = below as usize;
    while left > 0 {
        let word = &dictionary[user.random.below(dictionary.len() as u32) as usize];
        let mark = MARKS[user.random.below(10) as usize];
        for letter in word.chars().chain(mark.chars()).take(left) {
            encode(letter.encode_utf8(&mut [0; 4]).as_bytes(), text);
            left -= 1;
        }
        if below as usize - left >= wanted {
            return;
        }
    }
}

/// Appends what a page has encoded already, except for bytes that must not stand in a request.
pub fn carry(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        if byte.is_ascii_graphic() {
            text.push(*byte);
        } else {
            escape(*byte, text);
        }
    }
}

fn escape(byte: u8, text: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    text.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

/// Percent-encodes as `application/x-www-form-urlencoded` (WHATWG URL standard, section 5.2).
fn encode(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => text.push(*byte),
            b' ' => text.push(b'+'),
            _ => escape(*byte, text),
        }
    }
}
