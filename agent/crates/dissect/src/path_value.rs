//! What of a path's segment is a value, which no label has: an id, a mail address, or what looks as if
//! it was made by chance. The driver's users have the same rule (`workloads/own/page_kinds.py`), with the
//! same examples (`tests/paths.txt`).

/// From so many characters on, letters with digits among them are no word.
const MIXED: usize = 8;

/// From so many on, letters alone are none either.
const LONG: usize = 24;

/// What the names of files end with.
const SUFFIXES: [&str; 95] = [
    "7z", "action", "apk", "ashx", "asmx", "asp", "aspx", "atom", "avi", "avif", "bin", "bmp",
    "bz2", "cfm", "cgi", "cjs", "css", "csv", "dat", "deb", "dmg", "do", "doc", "docx", "eot",
    "epub", "exe", "flac", "geojson", "gif", "gz", "heic", "htm", "html", "ico", "ics", "ini",
    "iso", "jar", "jpeg", "jpg", "js", "json", "jsonl", "jsp", "jspx", "log", "m3u8", "m4a", "m4s",
    "map", "md", "mjs", "mkv", "mov", "mp3", "mp4", "mpd", "msi", "ods", "odt", "ogg", "otf",
    "parquet", "pbf", "pdf", "php", "phtml", "pl", "png", "ppt", "pptx", "py", "rar", "rpm", "rss",
    "rtf", "shtml", "sql", "svg", "tar", "tgz", "tif", "tiff", "toml", "ts", "tsv", "ttf", "txt",
    "vcf", "vtt", "war", "wasm", "wav", "webm",
];

/// A segment with a value in it.
pub(crate) struct Varying<'a> {
    /// What a label has in the value's place.
    pub placeholder: &'static str,
    pub value: &'a [u8],
    /// What is behind it in the label, too: a file's suffixes, each with its dot.
    pub suffix: &'a [u8],
}

/// What a segment, decoded, consists of; none if it is a name and nothing else.
pub(crate) fn varying(name: &[u8]) -> Option<Varying<'_>> {
    if name.contains(&b'@') {
        return Some(Varying { placeholder: "{token}", value: name, suffix: &[] });
    }
    let (value, suffix) = file(name);
    let is_made = if suffix.is_empty() { is_token } else { has_token };
    let placeholder = match value {
        _ if is_id(value) => "{id}",
        _ if is_made(value) => "{token}",
        _ => return None,
    };
    Some(Varying { placeholder, value, suffix })
}

/// A name, and the suffixes of a file that it ends with.
fn file(name: &[u8]) -> (&[u8], &[u8]) {
    let mut end = name.len();
    while let Some(dot) = memchr::memrchr(b'.', &name[..end])
        && SUFFIXES.iter().any(|it| name[dot + 1..end].eq_ignore_ascii_case(it.as_bytes()))
    {
        end = dot;
    }
    name.split_at(end)
}

fn is_id(name: &[u8]) -> bool {
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    let hexadecimal = name.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b'-');
    digits > 0 && (digits == name.len() || (hexadecimal && name.len() >= MIXED))
}

/// Whether it looks as if it was made by chance: long, and no words.
fn is_token(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(byte);
    let mixed = name.len() >= MIXED
        && name.iter().any(u8::is_ascii_digit)
        && name.iter().any(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| plain(byte) || *byte == b':');
    (mixed || (name.len() >= LONG && name.iter().all(plain))) && !is_words(name)
}

/// Whether a part of a file's name is a token or a long number.
fn has_token(stem: &[u8]) -> bool {
    stem.split(is_joint).any(|part| is_token(part) || (is_id(part) && part.len() >= MIXED))
}

/// Words, and versions of interfaces, with signs between them (`how-to-bake-bread`, `shop.v1.Orders`)
/// or capitals (`ViewStory`).
fn is_words(name: &[u8]) -> bool {
    let capitals = name.windows(2).filter(|pair| turns(pair[0], pair[1])).count();
    capitals * 5 <= name.len() && name.split(is_joint).all(|part| is_version(part) || is_word(part))
}

fn is_joint(byte: &u8) -> bool {
    b"-_.~+".contains(byte)
}

/// Where another word begins.
fn turns(before: u8, after: u8) -> bool {
    before.is_ascii_lowercase() && after.is_ascii_uppercase()
}

fn is_word(part: &[u8]) -> bool {
    part.iter().all(u8::is_ascii_alphabetic)
        && part.chunk_by(|&before, &after| !turns(before, after)).all(|word| word.len() < LONG)
}

/// `v2`, `v1beta1`.
fn is_version(part: &[u8]) -> bool {
    let is_number = |rest: &[u8]| rest.len() <= 2 && rest.iter().all(u8::is_ascii_digit);
    let Some(rest) = part.strip_prefix(b"v") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, stage) = rest.split_at(digits);
    let after = stage.strip_prefix(b"alpha").or(stage.strip_prefix(b"beta")).unwrap_or(stage);
    let is_staged = after.len() < stage.len();
    !number.is_empty() && is_number(number) && (stage.is_empty() || (is_staged && is_number(after)))
}
