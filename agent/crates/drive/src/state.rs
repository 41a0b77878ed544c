//! The states of a session: each one kind of request, or an operation of several.

use crate::delay::Delay;
use crate::operation::{Effect, Step};
use crate::source::{Draw, Parameter, Rows, Source};
use serde::Deserialize;

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
    #[serde(default)]
    pub path: String,
    /// Instead of a path and what goes with it: statements for a database, of which one is drawn, each
    /// as likely as another, and sent as it is.
    #[serde(default)]
    pub statements: Vec<String>,
    /// Which of the plan's `servers` is asked, by its name; the site when null.
    pub server: Option<String>,
    /// What follows in the target, texts as they stand and values percent-encoded.
    #[serde(default)]
    pub rest: Vec<Source>,
    /// Headers of its own.
    #[serde(default)]
    pub headers: Vec<Parameter>,
    /// Whether it says from which site it comes (`Origin`), which is the one that is asked.
    #[serde(default)]
    pub origin: bool,
    /// A body of parts; parameters then are the query's.
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
    /// How a form's body is encoded.
    #[serde(default)]
    pub encoding: Encoding,
    /// What the user does when the last page lacks what this request needs.
    #[serde(default)]
    pub missing: Missing,
    /// Pages that are asked for first, as parts of the same interaction.
    #[serde(default)]
    pub before: Vec<Step>,
    /// Pages that are asked for afterwards, as parts of the same interaction.
    #[serde(default)]
    pub after: Vec<Step>,
    /// What is remembered of the reply.
    #[serde(default)]
    pub extract: Vec<Extract>,
    /// What the reply has to be.
    #[serde(default)]
    pub expect: Expect,
    /// Paths of what belongs to the page, besides its images; fetched before them.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Which images of the page are fetched.
    #[serde(default)]
    pub images: Images,
    /// What the page does to the session.
    pub effect: Option<Effect>,
    /// How long after the interaction the next one comes; the workload's delay when null.
    pub delay: Option<Delay>,
}

/// Which images of a page are fetched: a lenient scan of its tags.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Images {
    /// The element that names an image.
    pub element: String,
    /// Its attribute that has the address.
    pub attribute: String,
    /// Only addresses with this text.
    pub contains: Option<String>,
    /// Not those at these targets.
    pub except: Vec<String>,
}

impl Default for Images {
    fn default() -> Self {
        Self { element: "img".into(), attribute: "src".into(), contains: None, except: Vec::new() }
    }
}

/// How a form's body is encoded.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// As `application/x-www-form-urlencoded`.
    #[default]
    Urlencoded,
    /// As `multipart/form-data` (RFC 7578), which may have files.
    Multipart,
}

/// A body that is no form's of `parameters`, such as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its `Content-Type`.
    pub content_type: String,
    /// How values are written within it.
    #[serde(default)]
    pub values: Values,
    /// What it consists of: texts as they stand, and values.
    pub parts: Vec<Source>,
}

/// How values are written within a body.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// As they stand within a string of JSON's.
    #[default]
    Json,
    /// As `application/x-www-form-urlencoded`.
    Form,
    /// As they are.
    Plain,
}

/// A link of the site, drawn uniformly among those of the last page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
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
    /// What it has to look like.
    #[serde(default)]
    pub shape: Shape,
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

/// What a value looks like, so that no other thing is taken that stands between the same texts.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// As it likes.
    #[default]
    Any,
    /// A whole number, as ids are; nothing else is taken.
    Digits,
    /// As if made by chance; where several are to choose from, others only if none is. What is made
    /// by chance may by chance look otherwise.
    Token,
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
    /// In the body, unless that is another.
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

impl State {
    /// What its interactions are called.
    pub fn shown(&self) -> &str {
        self.interaction.as_deref().unwrap_or(&self.name)
    }
}
