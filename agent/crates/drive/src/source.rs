//! Where what a request carries comes from.

use serde::Deserialize;

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
    /// The number that a state before has drawn: for the pages of one interaction.
    Held,
    /// A number that no other user takes, nor this one again: the user's own number (from 0, below
    /// `every`) plus `above`, plus `every` each time.
    Unused {
        /// Numbers up to and with this one are taken.
        above: u32,
        /// How many users there are at most.
        every: u32,
    },
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
    /// By row: the state that a request with it is of; none where it is always the one that draws.
    #[serde(default)]
    pub states: Vec<String>,
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
    /// The same, percent-encoded as it stands, decoded: what programs of a page make of it.
    CookieDecoded(String),
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
    /// A whole number, both ends included, drawn for this parameter alone.
    Number(u32, u32),
    /// Small letters, as many as is drawn between both ends.
    Letters(u32, u32),
    /// So many digits.
    Digits(u32),
    /// These one after the other.
    Joined(Vec<Source>),
    /// Different numbers within texts, with blanks between.
    Several(Several),
    /// The file of this name among the workload's.
    File(String),
}

/// Different numbers from 1 on, small ones more often, each within a text: tags, as it were.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Several {
    /// How many, both ends included.
    pub count: (u32, u32),
    /// The largest number.
    pub of: u32,
    /// The mean of the exponential draw, as a share of `of`; what is drawn beyond is drawn again.
    pub mean: f64,
    /// The text, `{n}` being the number.
    pub within: String,
}
