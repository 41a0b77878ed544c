//! How a Rust value becomes a cell of an Arrow column.

use arrow_array::ArrayRef;
use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int16Builder, Int32Builder, Int64Builder, ListBuilder,
    StringBuilder, UInt64Builder,
};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// The type of a column.
pub trait Column {
    /// The value of one cell.
    type Cell<'a>;
    /// Collects the cells of a batch.
    type Builder: Default + Send;
    /// The Arrow field of the column `name`.
    fn field(name: &str) -> Field;
    /// Appends one cell.
    fn append(cell: Self::Cell<'_>, builder: &mut Self::Builder);
    /// Ends the batch and empties the builder.
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
}

/// A column of text.
pub struct Text;

/// A column of lists of hashes: the salted values that link messages, never the values themselves.
pub struct Hashes;

macro_rules! column {
    ($type:ty, $builder:ty, $arrow:expr) => {
        impl Column for $type {
            type Cell<'a> = $type;
            type Builder = $builder;
            fn field(name: &str) -> Field {
                Field::new(name, $arrow, false)
            }
            fn append(cell: $type, builder: &mut Self::Builder) {
                builder.append_value(cell);
            }
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
        impl Column for Option<$type> {
            type Cell<'a> = Option<$type>;
            type Builder = $builder;
            fn field(name: &str) -> Field {
                Field::new(name, $arrow, true)
            }
            fn append(cell: Option<$type>, builder: &mut Self::Builder) {
                builder.append_option(cell);
            }
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    };
}

column!(i16, Int16Builder, DataType::Int16);
column!(i32, Int32Builder, DataType::Int32);
column!(i64, Int64Builder, DataType::Int64);
column!(u64, UInt64Builder, DataType::UInt64);
column!(f64, Float64Builder, DataType::Float64);

impl Column for Text {
    type Cell<'a> = &'a str;
    type Builder = StringBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, DataType::Utf8, false)
    }
    fn append(cell: &str, builder: &mut Self::Builder) {
        builder.append_value(cell);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }
}

impl Column for Option<Text> {
    type Cell<'a> = Option<&'a str>;
    type Builder = StringBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, DataType::Utf8, true)
    }
    fn append(cell: Option<&str>, builder: &mut Self::Builder) {
        builder.append_option(cell);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }
}

impl Column for Hashes {
    type Cell<'a> = &'a [u64];
    type Builder = ListBuilder<UInt64Builder>;
    fn field(name: &str) -> Field {
        Field::new_list(name, Field::new_list_field(DataType::UInt64, true), false)
    }
    fn append(cell: &[u64], builder: &mut Self::Builder) {
        builder.values().append_slice(cell);
        builder.append(true);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        ArrayBuilder::finish(builder)
    }
}
