//! The next request of a user, rendered from its state and the page that it sees.

use crate::encode::{Sink, as_is, carry, encode, json, line, percent};
use crate::extract::unescape;
use crate::links;
use crate::page::{Link, Page};
use crate::request::Request;
use crate::script::Script;
use crate::session::User;
use crate::source::{Draw, DrawFrom, Source};
use crate::state::{Encoding, Method, Pick, Target, Values};
use crate::upload;
use crate::value::{self, Given};

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
    if !form.statements.is_empty() {
        let drawn = user.random.below(form.statements.len() as u32) as usize;
        return Some(Request::statement(state, &form.statements[drawn]));
    }
    if let Some(follow) = &form.follow {
        let target = links::followed(follow, page?, from, &script.hosts, &mut user.random)?;
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
    let row = form.row.as_ref().map(|rows| (rows, script.row(state, user.random.unit())));
    let of = row.and_then(|(rows, at)| script.workload.state(rows.states.get(at)?));
    let row = row.map(|(rows, at)| rows.rows[at].as_slice());
    let given = Given { script, form, link: link.as_deref(), row, page };
    let mut told = Rendering { given, user };
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
    if let Some(body) = &form.body {
        let written: Encode = match body.values {
            Values::Json => json,
            Values::Form => encode,
            Values::Plain => as_is,
        };
        for part in &body.parts {
            told.part(part, written, as_is, &mut text)?;
        }
    }
    let request = Request::new(of.unwrap_or(state), form.method, text, headers_at, body_at);
    Some(request.at(script.server_of(state)))
}

/// How a value is written where it stands.
type Encode = fn(&[u8], &mut Vec<u8>);

/// What the values of a request are rendered from.
struct Rendering<'a> {
    given: Given<'a>,
    user: &'a mut User,
}

impl Rendering<'_> {
    /// The parameters, as a query or a form has them; what is uploaded comes after all of it.
    fn parameters(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let form = self.given.form;
        let parts = form.encoding == Encoding::Multipart;
        for (at, wanted) in form.parameters.iter().enumerate() {
            if matches!(wanted.from, Source::File(_)) {
                continue;
            }
            if parts {
                upload::field(&wanted.name, text);
            } else {
                if at > 0 {
                    text.push(b'&');
                }
                encode(wanted.name.as_bytes(), text);
                text.push(b'=');
            }
            let mut sink = Sink { text, plain: parts };
            value::append(self.given, self.user, &wanted.from, &mut sink)?;
            if parts {
                text.extend_from_slice(b"\r\n");
            }
        }
        Some(())
    }

    /// The headers of its own.
    fn headers(&mut self, in_body: bool, text: &mut Vec<u8>) -> Option<()> {
        let form = self.given.form;
        let content_type = match &form.body {
            Some(body) => Some(body.content_type.as_str()),
            None if !in_body => None,
            None => match form.encoding {
                // What is not there is of no type.
                Encoding::Urlencoded if form.parameters.is_empty() => None,
                Encoding::Urlencoded => Some("application/x-www-form-urlencoded"),
                Encoding::Multipart => Some(upload::CONTENT_TYPE),
            },
        };
        if let Some(content_type) = content_type {
            text.extend_from_slice(b"Content-Type: ");
            line(content_type.as_bytes(), text);
            text.extend_from_slice(b"\r\n");
        }
        for header in &form.headers {
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
            Source::Remembered(name) => {
                encode(self.user.remembered(self.given.script, name)?, text)
            }
            Source::Cookie(name) => encode(self.user.jar.value(name.as_bytes())?, text),
            Source::CookieDecoded(name) => encode(&self.user.jar.decoded(name.as_bytes())?, text),
            Source::Choice(values) => {
                let drawn = self.user.random.below(values.len() as u32) as usize;
                encode(values[drawn].as_bytes(), text);
            }
            Source::Row(column) => constant(self.given.column(column)?.as_bytes(), text),
            Source::Field(name) => encode(&unescape(self.given.page?.field(name)?), text),
            Source::Joined(parts) => {
                for part in parts {
                    self.part(part, encode, constant, text)?;
                }
            }
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
        DrawFrom::Held => user.drawn,
        DrawFrom::Unused { above, every } => user.take_unused(above, every),
    };
}
