//! The next request of a user, rendered from its state and the page that it sees.

use crate::extract::unescape;
use crate::links;
use crate::page::{Link, Page, parameter};
use crate::script::Script;
use crate::session::User;
use crate::workload::{Draw, DrawFrom, Method, Pick, Rows, Source, State, Target};

/// A request, kept while its user thinks.
#[derive(Default)]
pub struct Request {
    /// Its state.
    pub state: u8,
    /// How the parameters travel.
    pub method: Method,
    /// Path and query, then the headers of its own, then the body.
    text: Box<[u8]>,
    /// Where the headers begin.
    headers_at: u32,
    /// Where the body begins.
    body_at: u32,
}

impl Request {
    /// What a reply of `state` sends its user to.
    pub fn to(state: u8, target: &[u8]) -> Self {
        let end = target.len() as u32;
        let text = target.into();
        Self { state, method: Method::Get, text, headers_at: end, body_at: end }
    }

    /// Path and query.
    pub fn target(&self) -> &[u8] {
        &self.text[..self.headers_at as usize]
    }

    /// Its own headers, each with its line end.
    pub fn headers(&self) -> &[u8] {
        &self.text[self.headers_at as usize..self.body_at as usize]
    }

    /// Whether its headers say what it accepts.
    pub fn accepts(&self) -> bool {
        self.headers()
            .split(|byte| *byte == b'\n')
            .any(|line| line.get(..7).is_some_and(|name| name.eq_ignore_ascii_case(b"accept:")))
    }

    /// Whether sending it twice does what sending it once does (RFC 9110 section 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method, Method::Get | Method::Put | Method::Delete)
    }

    /// Whether it says how long its body is.
    pub fn has_body(&self) -> bool {
        !matches!(self.method, Method::Get | Method::Delete) || !self.body().is_empty()
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.text[self.body_at as usize..]
    }
}

/// Renders the request of `state`; `None` when the page lacks something that it needs. `from` is the
/// target of the page.
pub fn request(
    script: &Script,
    user: &mut User,
    state: u8,
    page: Option<Page<'_>>,
    from: &[u8],
) -> Option<Request> {
    let form = &script.workload.states[usize::from(state)];
    if let Some(follow) = &form.follow {
        let target = links::followed(follow, page?, from, &mut user.random)?;
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        let of = follow.states.iter().find(|(pattern, _)| links::matches(pattern, path));
        let of = of.and_then(|(_, name)| script.workload.state(name)).unwrap_or(state);
        return Some(Request::to(of, &target));
    }
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
    let mut told = Rendering { script, user, form, link: link.as_deref(), row, page };
    let mut text = Vec::with_capacity(96);
    text.extend_from_slice(form.path.as_bytes());
    for part in &form.rest {
        told.part(part, percent, carry, &mut text)?;
    }
    let in_body = form.method == Method::Post && form.body.is_none();
    if !in_body && !form.parameters.is_empty() {
        text.push(b'?');
        told.parameters(&mut text)?;
    }
    let headers_at = text.len();
    told.headers(in_body, &mut text)?;
    let body_at = text.len();
    if in_body {
        told.parameters(&mut text)?;
    }
    for part in form.body.iter().flat_map(|body| &body.parts) {
        told.part(part, json, as_is, &mut text)?;
    }
    Some(Request {
        state,
        method: form.method,
        text: text.into(),
        headers_at: headers_at as u32,
        body_at: body_at as u32,
    })
}

/// How a value is written where it stands.
type Encode = fn(&[u8], &mut Vec<u8>);

/// What the values of a request are rendered from.
struct Rendering<'a> {
    script: &'a Script,
    user: &'a mut User,
    form: &'a State,
    link: Option<&'a [u8]>,
    row: Option<(&'a Rows, usize)>,
    page: Option<Page<'a>>,
}

impl Rendering<'_> {
    /// The parameters, as a query or a form has them.
    fn parameters(&mut self, text: &mut Vec<u8>) -> Option<()> {
        for (at, wanted) in self.form.parameters.iter().enumerate() {
            if at > 0 {
                text.push(b'&');
            }
            encode(wanted.name.as_bytes(), text);
            text.push(b'=');
            match &wanted.from {
                Source::Row(column) => {
                    let (rows, at) = self.row?;
                    let column = rows.columns.iter().position(|name| name == column)?;
                    encode(rows.rows[at][column].as_bytes(), text);
                }
                source => {
                    value(self.script, self.user, self.form, source, self.link, self.page, text)?
                }
            }
        }
        Some(())
    }

    /// The headers of its own.
    fn headers(&mut self, in_body: bool, text: &mut Vec<u8>) -> Option<()> {
        let content_type = match &self.form.body {
            Some(body) => Some(body.content_type.as_str()),
            None => in_body.then_some("application/x-www-form-urlencoded"),
        };
        if let Some(content_type) = content_type {
            text.extend_from_slice(b"Content-Type: ");
            line(content_type.as_bytes(), text);
            text.extend_from_slice(b"\r\n");
        }
        for header in &self.form.headers {
            text.extend_from_slice(header.name.as_bytes());
            text.extend_from_slice(b": ");
            self.part(&header.from, line, line, text)?;
            text.extend_from_slice(b"\r\n");
        }
        Some(())
    }

    /// A part of a target, a header or a body: a text of the file's own by `constant`, a value by
    /// `encode`.
    fn part(
        &mut self,
        part: &Source,
        encode: Encode,
        constant: Encode,
        text: &mut Vec<u8>,
    ) -> Option<()> {
        match part {
            Source::Constant(value) => constant(value.as_bytes(), text),
            Source::Secret(value) => encode(value.as_bytes(), text),
            Source::Remembered(name) => encode(self.user.remembered(self.script, name)?, text),
            Source::Cookie(name) => encode(self.user.jar.value(name.as_bytes())?, text),
            Source::Choice(values) => {
                let drawn = self.user.random.below(values.len() as u32) as usize;
                encode(values[drawn].as_bytes(), text);
            }
            Source::Row(column) => {
                let (rows, at) = self.row?;
                let column = rows.columns.iter().position(|name| name == column)?;
                constant(rows.rows[at][column].as_bytes(), text);
            }
            Source::Field(name) => encode(&unescape(self.page?.field(name)?), text),
            // Others are values of a query; `check` refuses them here.
            _ => return None,
        }
        Some(())
    }
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
        Source::Constant(value) | Source::Secret(value) => encode(value.as_bytes(), text),
        Source::Remembered(name) => encode(user.remembered(script, name)?, text),
        Source::Cookie(name) => encode(user.jar.value(name.as_bytes())?, text),
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
        Source::Field(name) => encode(&unescape(page?.field(name)?), text),
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

fn as_is(value: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(value);
}

/// What a header may say: what could end its line is left out (RFC 9110 section 5.5).
fn line(value: &[u8], text: &mut Vec<u8>) {
    text.extend(value.iter().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)));
}

/// Within a string of JSON's (RFC 8259 section 7).
fn json(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            0..0x20 => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => text.push(*byte),
        }
    }
}

/// Percent-encodes all but unreserved characters (RFC 3986 section 2.3), wherever in a target.
fn percent(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(*byte),
            _ => escape(*byte, text),
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
