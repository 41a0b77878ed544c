//! Whether a workload makes sense, said in one sentence that names the key.

mod operation;
mod visits;

use crate::plan::LONGEST_TIME_NS;
use crate::rules::Start;
use crate::source::{DrawFrom, Source};
use crate::state::{Encoding, State};
use crate::workload::Workload;

/// Resources of a workload at most.
const MOST_RESOURCES: usize = 60_000;
/// A generated text is at most so long, in characters.
const LONGEST_TEXT: u32 = 100_000;

/// `Err` holds what is wrong.
pub fn workload(workload: &Workload) -> Result<(), String> {
    if workload.states.is_empty() || workload.states.len() > 250 {
        return Err("`states` must list 1 to 250 states".into());
    }
    for (at, state) in workload.states.iter().enumerate() {
        if workload.state(&state.name) != Some(at as u8) {
            return Err(format!("`states` lists {:?} twice", state.name));
        }
        check_state(workload, state)?;
    }
    let homes = workload.sessions.iter().filter_map(|kind| kind.home.as_ref());
    for name in homes.chain([&workload.home]) {
        check_home(workload, name)?;
    }
    if workload.rules.opens < 1 || workload.rules.session_limit < 1 {
        return Err("`rules.opens` and `rules.session_limit` must be at least 1".into());
    }
    if !(0..=LONGEST_TIME_NS).contains(&workload.rules.reopen_after_ns) {
        return Err("`rules.reopen_after_ns` must be 0 to ten years".into());
    }
    if let Start::Every { gap_ns } = workload.rules.start
        && !(0..=LONGEST_TIME_NS).contains(&gap_ns)
    {
        return Err("`rules.start.every.gap_ns` must be 0 to ten years".into());
    }
    if let Some(cache) = &workload.rules.cache {
        if !(0.0..=1.0).contains(&cache.cached) {
            return Err("`rules.cache.cached` must be 0 to 1".into());
        }
        if !is_visible(&cache.since) {
            return Err("`rules.cache.since` must be a date as HTTP writes it".into());
        }
    }
    if let Some(what) = workload.delay.as_ref().and_then(|it| it.problem(LONGEST_TIME_NS)) {
        return Err(what.into());
    }
    if workload.states.iter().map(|state| state.resources.len()).sum::<usize>() > MOST_RESOURCES {
        return Err(format!("`resources` list more than {MOST_RESOURCES} paths in all"));
    }
    visits::check(workload)?;
    for file in &workload.files {
        if !is_visible(&file.name) || file.name.contains('"') || !is_visible(&file.media_type) {
            return Err(format!("file {:?}: `name` and `type` must be plain ASCII", file.name));
        }
    }
    check_sessions(workload)
}

/// Whether a text can stand in a head.
fn is_visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

fn check_home(workload: &Workload, name: &str) -> Result<(), String> {
    let Some(home) = workload.states.iter().find(|state| state.name == name) else {
        return Err(format!("`home` names {name:?}, which is not a state"));
    };
    let mut sources = home.parameters.iter().map(|it| &it.from).chain(parts(home));
    if home.pick.is_some() || home.follow.is_some() || sources.any(needs_page) {
        return Err(format!("the home state {name:?} must not need an earlier page"));
    }
    Ok(())
}

/// Whether it needs what a reply has said.
fn needs_page(source: &Source) -> bool {
    use Source::*;
    match source {
        Joined(parts) => parts.iter().any(needs_page),
        Link(_) | LinkOr(..) | Field(_) | AnyOption => true,
        Remembered(_) | Cookie(_) | CookieDecoded(_) => true,
        _ => false,
    }
}

/// Whether it can stand in a target, a header or a body of parts.
fn is_part(source: &Source) -> bool {
    use Source::*;
    match source {
        Joined(parts) => parts.iter().all(is_part),
        Constant(_) | Secret(_) | Choice(_) | Row(_) => true,
        Remembered(_) | Cookie(_) | CookieDecoded(_) | Field(_) => true,
        _ => false,
    }
}

/// What a request consists of besides its parameters.
fn parts(state: &State) -> impl Iterator<Item = &Source> {
    let headers = state.headers.iter().map(|header| &header.from);
    let body = state.body.iter().flat_map(|body| &body.parts);
    state.rest.iter().chain(headers).chain(body)
}

fn check_state(workload: &Workload, state: &State) -> Result<(), String> {
    let wrong = |what: String| Err(format!("state {:?}: {what}", state.name));
    if state.statements.iter().any(|text| text.contains('\0')) {
        return wrong("a statement must have no zero byte".into());
    }
    let is_page = !state.path.is_empty() || !state.parameters.is_empty();
    if is_page && !state.statements.is_empty() {
        return wrong("has `statements`, and a page's `path` or `parameters`; keep one".into());
    }
    if state.statements.is_empty() && !state.path.starts_with('/') {
        return wrong(format!("`path` {:?} must begin with /", state.path));
    }
    if state.server.is_some() && (state.follow.is_some() || !state.statements.is_empty()) {
        return wrong("`server` goes with a `path`, not with `follow` or `statements`".into());
    }
    if let Some(pick) = &state.pick
        && pick.first_weight < 1
    {
        return wrong("`first_weight` must be at least 1".into());
    }
    match state.draw.as_ref().map(|draw| &draw.from) {
        Some(DrawFrom::Numbers(low, high)) if low > high => {
            return wrong(format!("`numbers` runs from {low} down to {high}"));
        }
        Some(DrawFrom::Dictionary) if workload.dictionary.is_empty() => {
            return wrong("draws from `dictionary`, which is empty".into());
        }
        Some(DrawFrom::Unused { every: 0, .. }) => {
            return wrong("`unused` needs an `every` of at least 1".into());
        }
        _ => {}
    }
    if let Some(rows) = &state.row {
        let whole = rows.rows.len() == rows.weights.len()
            && rows.rows.iter().all(|row| row.len() == rows.columns.len());
        let weighed = rows.weights.iter().all(|weight| *weight >= 0.0)
            && rows.weights.iter().sum::<f64>() > 0.0;
        if !whole || !weighed {
            return wrong("`row` needs a value per column and a weight per row".into());
        }
        if !rows.states.is_empty() && rows.states.len() != rows.rows.len() {
            return wrong("`row` needs a state per row, or none".into());
        }
        if let Some(name) = rows.states.iter().find(|name| workload.state(name).is_none()) {
            return wrong(format!("`row` names the unknown state {name:?}"));
        }
    }
    if let Err(what) = operation::operation(workload, state) {
        return wrong(what);
    }
    for extract in &state.extract {
        let between = !extract.after.is_empty() && !extract.until.is_empty();
        if extract.field.is_none() && !between {
            return wrong(format!(
                "`extract` {:?} needs `field`, or `after` and `until`",
                extract.name
            ));
        }
    }
    let unknown = |(_, name): &&(String, String)| workload.state(name).is_none();
    if let Some((_, name)) = state.follow.iter().flat_map(|it| &it.states).find(unknown) {
        return wrong(format!("`follow` names the unknown state {name:?}"));
    }
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    if let Some(header) = state.headers.iter().find(|it| it.name.is_empty() || !plain(&it.name)) {
        return wrong(format!("{:?} is no header's name", header.name));
    }
    for part in parts(state) {
        if !is_part(part) {
            return wrong("`rest`, `headers` and `body` take no such source".into());
        }
        if let Err(what) = check_source(workload, state, part) {
            return wrong(format!("a part of its request {what}"));
        }
    }
    for parameter in &state.parameters {
        if let Err(what) = check_source(workload, state, &parameter.from) {
            return wrong(format!("parameter {:?} {what}", parameter.name));
        }
    }
    Ok(())
}

fn check_source(workload: &Workload, state: &State, source: &Source) -> Result<(), String> {
    match source {
        Source::Link(_) | Source::LinkOr(..) if state.pick.is_none() => {
            Err("needs a `pick` in its state".into())
        }
        Source::Drawn(_) if state.draw.is_none() => Err("needs a `draw` in its state".into()),
        Source::Row(column) => match &state.row {
            Some(rows) if rows.columns.contains(column) => Ok(()),
            _ => Err(format!("needs a `row` with the column {column:?} in its state")),
        },
        Source::Choice(values) if values.is_empty() => Err("has an empty `choice`".into()),
        Source::Remembered(name)
            if !workload.states.iter().flat_map(|it| &it.extract).any(|it| it.name == *name) =>
        {
            Err(format!("needs an `extract` of {name:?} in some state"))
        }
        Source::Words(_) if workload.dictionary.is_empty() => {
            Err("needs words, and `dictionary` is empty".into())
        }
        Source::Identity(name) => {
            match workload.sessions.iter().find(|kind| !kind.identity.values.contains_key(name)) {
                Some(kind) => Err(format!("needs {name:?} in the identity of {:?}", kind.name)),
                None => Ok(()),
            }
        }
        Source::Number(low, high) | Source::Letters(low, high) if low > high => {
            Err(format!("runs from {low} down to {high}"))
        }
        Source::Letters(_, most) | Source::Digits(most) | Source::Words(most)
            if *most > LONGEST_TEXT =>
        {
            Err(format!("is longer than {LONGEST_TEXT} characters"))
        }
        Source::Joined(parts) => {
            parts.iter().try_for_each(|part| check_source(workload, state, part))
        }
        Source::Several(several) => operation::several(several),
        Source::File(name) => match workload.files.iter().any(|file| file.name == *name) {
            _ if state.encoding != Encoding::Multipart => {
                Err("is a file, which needs the `encoding` multipart".into())
            }
            true => Ok(()),
            false => Err(format!("needs the file {name:?}, which `files` lacks")),
        },
        _ => Ok(()),
    }
}

fn check_sessions(workload: &Workload) -> Result<(), String> {
    let total: f64 = workload.sessions.iter().map(|kind| kind.share).sum();
    if (total - 1.0).abs() > 1e-9 || workload.sessions.iter().any(|kind| kind.share < 0.0) {
        return Err(format!("the shares of `sessions` must sum to 1, not {total}"));
    }
    for kind in &workload.sessions {
        if let Err(what) = operation::identity(&kind.identity) {
            return Err(format!("session {:?}: {what}", kind.name));
        }
        for (from, column) in &kind.transitions {
            let known =
                |name: &str| name == "Back" || name == "End" || workload.state(name).is_some();
            let named = column.iter().map(|(to, _)| to.as_str()).find(|to| !known(to));
            let unknown = workload.state(from).is_none().then_some(from.as_str()).or(named);
            if let Some(unknown) = unknown {
                return Err(format!("session {:?} names the unknown state {unknown:?}", kind.name));
            }
            if column.iter().any(|(_, p)| !(0.0..=1.0).contains(p)) {
                return Err(format!(
                    "session {:?}: the probabilities from {from:?} must be 0 to 1",
                    kind.name
                ));
            }
        }
        let reached = kind.transitions.values().flatten().map(|(to, _)| to.as_str());
        let home = kind.home.as_ref().unwrap_or(&workload.home);
        for to in reached.chain([home.as_str()]).filter(|to| *to != "Back" && *to != "End") {
            if !kind.transitions.contains_key(to) {
                return Err(format!("session {:?}: `transitions` lacks {to:?}", kind.name));
            }
        }
    }
    Ok(())
}
