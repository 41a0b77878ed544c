//! What is said on a connection.

use tierlab_record::clock::realtime_ns;

/// What each connection does once it stands.
pub enum Talk {
    /// Fetches paths over HTTP/1.1, one connection a request as the driver's users do.
    Fetch {
        /// The `Host` header.
        host: String,
        /// One after the other, over again.
        paths: Vec<String>,
    },
    /// Begins to fetch a path as they do, all but the empty line that ends a request's head.
    Begin {
        /// The `Host` header.
        host: String,
        /// What is asked for.
        path: String,
    },
    /// Sends these bytes and waits.
    Hold(Vec<u8>),
}

impl Talk {
    /// What a member says next, who has spoken `turn` times.
    pub fn words(&self, member: usize, turn: usize) -> Vec<u8> {
        match self {
            Self::Hold(bytes) => bytes.clone(),
            Self::Begin { host, path } => head(path, host, member as u64, turn as u64),
            Self::Fetch { host, paths } => {
                let path = &paths[(member + turn) % paths.len()];
                [head(path, host, member as u64, turn as u64).as_slice(), END_OF_HEAD].concat()
            }
        }
    }
}

/// What ends a request's head.
pub const END_OF_HEAD: &[u8] = b"\r\n";

/// A request as the driver's users send it, its id included, but for the end of its head.
fn head(path: &str, host: &str, member: u64, turn: u64) -> Vec<u8> {
    let id = mix(mix(member + 1) ^ mix(realtime_ns() as u64) ^ turn);
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Request-Id: {id:016x}\r\n\
         Connection: close\r\n"
    )
    .into_bytes()
}

/// SplitMix64's output function (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
