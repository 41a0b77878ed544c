//! Files that forms upload, and multipart/form-data as bytes (RFC 7578).

use crate::source::{Parameter, Source};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Separates a body's parts. It is in no file and, being what it is, in no field either.
pub const BOUNDARY: &str = "tierlab-part-5d1f7c2e9a604b83";
/// What a body with parts is said to be.
pub const CONTENT_TYPE: &str = "multipart/form-data; boundary=tierlab-part-5d1f7c2e9a604b83";
/// A larger file is a slip of the pen.
const LARGEST_FILE: u64 = 16 << 20;

/// A file that forms upload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its name, by which parameters call it and which is sent.
    pub name: String,
    /// Where it lies, relative to the workload file's folder unless absolute.
    pub path: PathBuf,
    /// Its media type, such as `image/jpeg`.
    #[serde(rename = "type")]
    pub media_type: String,
    /// What is in it.
    #[serde(skip)]
    pub content: Vec<u8>,
}

impl File {
    /// Reads it; `Err` says what is wrong.
    pub fn read(&mut self, folder: &Path) -> Result<(), String> {
        let path = folder.join(&self.path);
        let wrong = |what: String| format!("file {:?}: {}: {what}", self.name, path.display());
        let length = std::fs::metadata(&path).map_err(|error| wrong(error.to_string()))?.len();
        if length > LARGEST_FILE {
            return Err(wrong(format!("{length} bytes; at most {LARGEST_FILE} are uploaded")));
        }
        let content = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
        if memchr::memmem::find(&content, BOUNDARY.as_bytes()).is_some() {
            return Err(wrong("holds the line that separates a form's parts".into()));
        }
        self.content = content;
        Ok(())
    }
}

/// Begins a part that has the value of a field.
pub fn field(name: &str, text: &mut Vec<u8>) {
    open(name, text);
    text.extend_from_slice(b"\r\n\r\n");
}

/// What ends a body, the same in every request: the files of these parameters, and the last line.
pub fn tail(parameters: &[Parameter], files: &[File]) -> Vec<u8> {
    let mut text = Vec::new();
    for parameter in parameters {
        let Source::File(name) = &parameter.from else { continue };
        let Some(file) = files.iter().find(|file| file.name == *name) else { continue };
        open(&parameter.name, &mut text);
        let named = format!("; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n", name, file.media_type);
        text.extend_from_slice(named.as_bytes());
        text.extend_from_slice(&file.content);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    text
}

fn open(name: &str, text: &mut Vec<u8>) {
    let line = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"");
    text.extend_from_slice(line.as_bytes());
}
