//! What users do, as data: the states of a session, where each request's parameters come from, and
//! how likely each next state is. Nothing in this crate knows a particular application; RUBBoS,
//! RUBiS or a page of one's own are files of this form.

use crate::rules::Rules;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why a workload file was refused.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file could not be read.
    #[error("cannot read the workload {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not of the form of [`Workload`].
    #[error("{path} is not a workload: {source}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What was expected, and where.
        source: serde_json::Error,
    },
    /// The file is well formed but makes no sense.
    #[error("{path}: {what}")]
    Sense {
        /// The file.
        path: PathBuf,
        /// Which key, and what is wrong with it.
        what: String,
    },
}

/// A workload file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The workload's name and variant, for people.
    pub name: String,
    /// The state in which sessions start and to which failed ones return. Its request needs
    /// nothing from an earlier page.
    pub home: String,
    /// The states, in any order.
    pub states: Vec<State>,
    /// The kinds of session and their shares of the users.
    pub sessions: Vec<SessionKind>,
    /// How users react.
    #[serde(default)]
    pub rules: Rules,
    /// Words for texts and searches.
    #[serde(default)]
    pub dictionary: Vec<String>,
}

/// One state: one kind of request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Its name, which is the interaction's name in `requests` unless `interaction` is.
    pub name: String,
    /// What its interaction is called, where several states ask for one kind of page.
    pub interaction: Option<String>,
    /// How parameters travel.
    #[serde(default)]
    pub method: Method,
    /// The absolute path, without parameters; how it begins where `rest` goes on.
    pub path: String,
    /// What follows in the target, texts as they stand and values percent-encoded.
    #[serde(default)]
    pub rest: Vec<Source>,
    /// Headers of its own.
    #[serde(default)]
    pub headers: Vec<Parameter>,
    /// A body that is no form's; parameters then are the query's.
    pub body: Option<Body>,
    /// Any link of the site on the last page, instead of `path`, is followed.
    pub follow: Option<Follow>,
    /// Which link of the last page is followed.
    pub pick: Option<Pick>,
    /// A number or word drawn for this request.
    pub draw: Option<Draw>,
    /// A row drawn for this request: values that belong together, such as a date.
    pub row: Option<Rows>,
    /// The parameters, in the order in which they are sent.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// What the user does when the last page lacks what this request needs.
    #[serde(default)]
    pub missing: Missing,
    /// What is remembered of the reply.
    #[serde(default)]
    pub extract: Vec<Extract>,
    /// What the reply has to be.
    #[serde(default)]
    pub expect: Expect,
    /// Paths of what belongs to the page, besides its images.
    #[serde(default)]
    pub resources: Vec<String>,
    /// The mean think time after it; the plan's where there is none.
    pub think_ns: Option<i64>,
}

/// A body that is no form's, such as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its `Content-Type`.
    pub content_type: String,
    /// What it consists of: texts as they stand, values as they stand within a string of JSON's.
    pub parts: Vec<Source>,
}

/// A link of the site, drawn uniformly among those of the last page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// Names of the site's host, for links that have one.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Links whose target has one of these texts are not followed.
    #[serde(default)]
    pub except: Vec<String>,
    /// Which state a page is of: the first whose pattern its path matches, `*` being any text; this
    /// one where none does.
    #[serde(default)]
    pub states: Vec<(String, String)>,
}

/// What is remembered of a reply: a form field's value, or what stands between two texts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Under which name.
    pub name: String,
    /// The value of the form field of this name.
    pub field: Option<String>,
    /// What stands before it, where it is no field's.
    #[serde(default)]
    pub after: String,
    /// The characters at any of which it ends.
    #[serde(default)]
    pub until: String,
    /// Which one, where there are several.
    #[serde(default)]
    pub which: Which,
}

/// Which of several occurrences.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// The first.
    #[default]
    First,
    /// Any, drawn uniformly.
    Any,
}

/// What a reply has to be; any with a status of success where nothing is said.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The statuses that are right.
    #[serde(default)]
    pub status: Vec<u16>,
    /// What the page has to say.
    pub text: Option<String>,
}

/// How a request's parameters travel.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
pub enum Method {
    /// In the URL's query.
    #[default]
    #[serde(rename = "GET")]
    Get,
    /// In the body, as `application/x-www-form-urlencoded`, unless that is another.
    #[serde(rename = "POST")]
    Post,
    /// In the URL's query.
    #[serde(rename = "PUT")]
    Put,
    /// In the URL's query.
    #[serde(rename = "PATCH")]
    Patch,
    /// In the URL's query.
    #[serde(rename = "DELETE")]
    Delete,
}

impl Method {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What to do when the last page lacks what a request needs.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Return to the home page.
    #[default]
    Home,
    /// Return to the state before, or to the home page when there is none.
    Back,
}

/// Picks one of the last page's links, uniformly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pick {
    /// Which links qualify.
    pub target: Target,
    /// How often the first qualifying link counts in the draw; 2 mimics a client that takes the
    /// first link also whenever it drew the form above it.
    #[serde(default = "one")]
    pub first_weight: usize,
    /// Remember the link under this name, and follow the remembered one when the page has none.
    pub remember: Option<String>,
}

fn one() -> usize {
    1
}

/// Which links qualify.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// Those whose path ends in this segment and that have a query.
    Link(String),
    /// Those whose query has this parameter.
    Parameter(String),
}

/// A number or a word, drawn uniformly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Where from.
    pub from: DrawFrom,
    /// Keep the draw while the state repeats: the next page of one search.
    #[serde(default)]
    pub hold: bool,
}

/// Where a draw comes from.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DrawFrom {
    /// A whole number, both ends included.
    Numbers(u32, u32),
    /// A word of the dictionary.
    Dictionary,
}

/// Rows of values that belong together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The values' names.
    pub columns: Vec<String>,
    /// The values.
    pub rows: Vec<Vec<String>>,
    /// How likely each row is, relative to the others.
    pub weights: Vec<f64>,
}

/// A parameter of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where its value comes from.
    pub from: Source,
}

/// Where a parameter's value comes from. In texts, `{drawn}` stands for the state's draw and `{n}`
/// for the user's number.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// This text.
    Constant(String),
    /// This text, which nobody is to read who reads what the driver did.
    Secret(String),
    /// What was last remembered under this name.
    Remembered(String),
    /// The value of the cookie of this name.
    Cookie(String),
    /// This parameter of the picked link.
    Link(String),
    /// This parameter of the picked link, or the given value when the link lacks it.
    LinkOr(String, String),
    /// This parameter of the first or, half of the time, the second link that has it; `absent` on
    /// a page without: the pages of a listing.
    Paging {
        /// The parameter.
        parameter: String,
        /// Only links to this page count; any when null.
        link: Option<String>,
        /// The value on a page without such links.
        absent: String,
    },
    /// The value of the form field of this name.
    Field(String),
    /// One of the values that a select element offers.
    AnyOption,
    /// This value of the session's identity.
    Identity(String),
    /// The state's draw, within a text.
    Drawn(String),
    /// This column of the state's row.
    Row(String),
    /// One of these.
    Choice(Vec<String>),
    /// Words with punctuation, until a length that is uniform below this many characters.
    Words(u32),
}

/// A kind of session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionKind {
    /// Its name, for people.
    pub name: String,
    /// The share of the users that run it.
    pub share: f64,
    /// The state in which its sessions start, and to which its failed ones return; the workload's
    /// where there is none.
    pub home: Option<String>,
    /// Whom the sessions belong to.
    pub identity: Identity,
    /// For each state the next ones with their probabilities, in the order in which one uniform
    /// draw walks them. `"Back"` and `"End"` are the pseudo-states. Where the probabilities sum to
    /// less than 1 and the draw falls beyond them, the state repeats.
    pub transitions: BTreeMap<String, Vec<(String, f64)>>,
}

/// Whom a session belongs to: a number drawn per session, and texts made of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The smallest and the largest number.
    pub numbers: (u32, u32),
    /// Values by name, `{n}` being the number.
    pub values: BTreeMap<String, String>,
}

impl State {
    /// What its interactions are called.
    pub fn shown(&self) -> &str {
        self.interaction.as_deref().unwrap_or(&self.name)
    }
}

impl Workload {
    /// Reads and checks a workload file.
    pub fn read(path: &Path) -> Result<Self, WorkloadError> {
        let text = std::fs::read(path)
            .map_err(|source| WorkloadError::Read { path: path.into(), source })?;
        let workload: Self = serde_json::from_slice(&text)
            .map_err(|source| WorkloadError::Form { path: path.into(), source })?;
        crate::check::workload(&workload)
            .map_err(|what| WorkloadError::Sense { path: path.into(), what })?;
        Ok(workload)
    }

    /// The number of the state `name`.
    pub fn state(&self, name: &str) -> Option<u8> {
        self.states.iter().position(|state| state.name == name).map(|at| at as u8)
    }
}
