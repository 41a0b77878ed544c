//! The header fields that matter.

/// A field's name, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Method,
    Path,
    Status,
    ContentType,
    RequestId,
    Traceparent,
    GrpcStatus,
    /// Any other.
    Other,
    /// It stands for an entry of the table that went by unseen.
    Unknown,
}

impl Field {
    /// The field with this name, which is in lower case.
    pub(super) fn named(name: &[u8]) -> Self {
        match name {
            b":method" => Self::Method,
            b":path" => Self::Path,
            b":status" => Self::Status,
            b"content-type" => Self::ContentType,
            b"x-request-id" => Self::RequestId,
            b"traceparent" => Self::Traceparent,
            b"grpc-status" => Self::GrpcStatus,
            _ => Self::Other,
        }
    }

    /// True if its value is read.
    pub(super) fn matters(self) -> bool {
        !matches!(self, Self::Other | Self::Unknown)
    }
}

/// The table of RFC 7541 appendix A: the name at an index from 1 to 61, and the value of those that
/// have one and matter.
pub(super) fn of_static(index: usize) -> (Field, &'static [u8]) {
    match index {
        2 => (Field::Method, b"GET"),
        3 => (Field::Method, b"POST"),
        4 => (Field::Path, b"/"),
        5 => (Field::Path, b"/index.html"),
        8 => (Field::Status, b"200"),
        9 => (Field::Status, b"204"),
        10 => (Field::Status, b"206"),
        11 => (Field::Status, b"304"),
        12 => (Field::Status, b"400"),
        13 => (Field::Status, b"404"),
        14 => (Field::Status, b"500"),
        31 => (Field::ContentType, b""),
        _ => (Field::Other, b""),
    }
}
