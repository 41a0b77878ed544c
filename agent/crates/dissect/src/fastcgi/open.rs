//! The requests that are not over, and what was said of each.

use super::header::Header;
use super::record::*;
use super::{LONGEST, Record, params};
use crate::context::Context;
use crate::exchange::Exchange;
use crate::keyed::Detail;
use crate::memory::{empty, of_vec};
use crate::sink::Side;
use crate::surmised::Requests;
use crate::trace_context;
use crate::{path, query};

/// What of a request comes next.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Due {
    #[default]
    Params,
    Content,
    Nothing,
}

/// What was said of a request so far.
#[derive(Default)]
pub(super) struct Asked {
    due: Due,
    params: Vec<u8>,
    /// More of them came after some that were not captured: they cannot be told apart.
    params_are_cut: bool,
    /// The form that it carries.
    form: Option<Vec<u8>>,
    header: Header,
}

/// The requests that are not over.
#[derive(Default)]
pub(super) struct Open {
    pub requests: Requests<Asked>,
    /// A buffer for the next request's parameters.
    spare: Vec<u8>,
}

impl Open {
    /// Takes a record of the client's. Gives false if no request goes on so: what is only surmised
    /// to be requests is none then.
    pub(super) fn request(&mut self, record: &Record<'_>, cx: &mut Context<'_>) -> bool {
        let (kind, id) = (record.header[1], request_id(record.header));
        let times = (record.start_ns, record.end_ns);
        let size = record.size();
        cx.message(Side::Client, times, size, if record.whole { name(kind) } else { "cut" });
        match kind {
            BEGIN_REQUEST => {
                let label = cx.shared.labels.number("(incomplete)");
                let params = std::mem::take(&mut self.spare);
                let asked = Asked { params, ..Asked::default() };
                let exchange = Exchange::new(times.0, times.1, size, label, asked);
                self.requests.push(id, exchange, cx)
            }
            GET_VALUES => {
                let label = cx.shared.labels.number("GET_VALUES");
                let exchange = Exchange::new(times.0, times.1, size, label, Asked::default());
                self.requests.push(id, exchange, cx)
            }
            PARAMS | STDIN | DATA => {
                let (spare, is_certain) = (&mut self.spare, !self.requests.are_surmised());
                let grow =
                    |exchange: &mut Exchange<Asked>| grew(exchange, record, is_certain, spare, cx);
                self.requests.current().update(id, grow).unwrap_or(true)
            }
            _ => true,
        }
    }

    pub(super) fn reply(&mut self, record: &Record<'_>, cx: &mut Context<'_>) {
        let (kind, id) = (record.header[1], request_id(record.header));
        cx.message(Side::Server, (record.start_ns, record.end_ns), record.size(), name(kind));
        let exchanges = &mut self.requests.certain;
        exchanges.update(id, |exchange| {
            exchange.reply_grew(record.start_ns, record.size());
            if kind == STDOUT {
                let status = exchange.detail.header.take(content(record), record.whole);
                exchange.status = exchange.status.or(status);
            }
        });
        if matches!(kind, END_REQUEST | GET_VALUES_RESULT | UNKNOWN_TYPE) {
            exchanges.replied(id, Some(record.end_ns), cx);
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.requests.held_bytes() + of_vec(&self.spare)
    }
}

impl Detail for Asked {
    fn held_bytes(&self) -> usize {
        let form = self.form.as_ref().map_or(0, of_vec);
        of_vec(&self.params) + form + self.header.held_bytes()
    }
}

impl Asked {
    fn grew(&mut self, record: &Record<'_>) {
        if !self.params_are_cut {
            take(&mut self.params, content(record));
            self.params_are_cut = !record.whole;
        }
    }

    fn form_grew(&mut self, record: &Record<'_>) {
        if !record.whole {
            self.form = None;
        }
        if let Some(form) = &mut self.form {
            take(form, content(record));
        }
    }
}

fn take(buffer: &mut Vec<u8>, bytes: &[u8]) {
    let room = LONGEST.saturating_sub(buffer.len()).min(bytes.len());
    buffer.extend_from_slice(&bytes[..room]);
}

/// Takes more of a request. Gives false if none goes on so. Of one that is not certain to be one,
/// parameters that were cut are not read.
fn grew(
    exchange: &mut Exchange<Asked>,
    record: &Record<'_>,
    is_certain: bool,
    spare: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> bool {
    exchange.request_grew(record.end_ns, record.size() as usize);
    let asked = &mut exchange.detail;
    match (record.header[1], ends_stream(record)) {
        (PARAMS, false) => {
            asked.grew(record);
            asked.due == Due::Params
        }
        (PARAMS, true) => {
            let was_due = std::mem::replace(&mut asked.due, Due::Content) == Due::Params;
            if asked.params_are_cut && !is_certain {
                asked.params.clear();
            }
            let may_be_request = asked.params_are_cut || params::are_request(&asked.params);
            *spare = read_params(exchange, cx);
            was_due && may_be_request
        }
        (STDIN, false) => {
            asked.form_grew(record);
            asked.due == Due::Content
        }
        (STDIN, true) => {
            let was_due = std::mem::replace(&mut asked.due, Due::Nothing) == Due::Content;
            form_is_over(exchange, cx);
            was_due
        }
        _ => asked.due != Due::Params,
    }
}

/// Reads the parameters, which are all there now. Gives their buffer, empty.
fn read_params(exchange: &mut Exchange<Asked>, cx: &mut Context<'_>) -> Vec<u8> {
    let mut bytes = std::mem::take(&mut exchange.detail.params);
    let params = params::read(&bytes);
    let shared = &mut *cx.shared;
    if !params.method.is_empty() && !params.target.is_empty() {
        shared.text.clear();
        path::template(
            str::from_utf8(params.method).unwrap_or("?"),
            params.target,
            &mut shared.text,
        );
        exchange.label = shared.labels.number(&shared.text);
        path::values(params.target, &shared.salt, &mut exchange.literals);
    }
    query::values(params.query, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    exchange.detail.form = params.is_form.then(Vec::new);
    exchange.id_hash = cx.id_hash(trace_context::request_id(params.traceparent, params.request_id));
    empty(&mut bytes);
    bytes
}

fn form_is_over(exchange: &mut Exchange<Asked>, cx: &mut Context<'_>) {
    if let Some(form) = exchange.detail.form.take() {
        let shared = &mut *cx.shared;
        query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    }
}
