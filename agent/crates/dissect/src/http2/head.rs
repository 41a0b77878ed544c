//! What matters of a header block's fields.

use super::field::Field;
use crate::memory::{empty, of_vec};

/// The status of HTTP's that each of gRPC's codes stands for, by the code, as gateways between the two
/// translate it (google/rpc/code.proto).
const OF_GRPC: [i32; 17] =
    [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];

/// A request's, a reply's or a trailer section's fields. What is not in it, or went by unseen, is empty.
#[derive(Default)]
pub(super) struct Head {
    pub method: Vec<u8>,
    pub path: Vec<u8>,
    pub request_id: Vec<u8>,
    pub traceparent: Vec<u8>,
    pub is_form: bool,
    pub status: Option<i32>,
    /// A code of gRPC's as the status of HTTP's that it stands for.
    pub grpc_status: Option<i32>,
}

impl Head {
    /// Another block begins.
    pub(super) fn clear(&mut self) {
        for text in [&mut self.method, &mut self.path, &mut self.request_id, &mut self.traceparent]
        {
            empty(text);
        }
        (self.is_form, self.status, self.grpc_status) = (false, None, None);
    }

    /// A field that matters.
    pub(super) fn see(&mut self, field: Field, value: &[u8]) {
        match field {
            Field::Method => put(&mut self.method, value),
            Field::Path => put(&mut self.path, value),
            Field::RequestId => put(&mut self.request_id, value),
            Field::Traceparent => put(&mut self.traceparent, value),
            Field::ContentType => {
                self.is_form = value.starts_with(b"application/x-www-form-urlencoded");
            }
            Field::Status => self.status = number(value),
            Field::GrpcStatus => {
                let code = number(value).and_then(|code| usize::try_from(code).ok());
                self.grpc_status = code.and_then(|code| OF_GRPC.get(code).copied());
            }
            Field::Other | Field::Unknown => {}
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        [&self.method, &self.path, &self.request_id, &self.traceparent].map(of_vec).iter().sum()
    }
}

fn put(text: &mut Vec<u8>, value: &[u8]) {
    text.clear();
    text.extend_from_slice(value);
}

fn number(value: &[u8]) -> Option<i32> {
    str::from_utf8(value.get(..3).unwrap_or(value)).ok()?.parse().ok()
}
