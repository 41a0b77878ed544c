//! How a Rust value becomes a cell of an Arrow column.

use arrow_array::ArrayRef;
use arrow_array::builder::{
    Float64Builder, Int16Builder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
    UInt64Builder,
};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// The type of a column.
pub trait Column {
    /// The value of one cell.
    type Cell<'a>;
    /// The cell in the row that keeps it until the batch goes out.
    type Kept: Copy;
    /// The Arrow field of the column `name`.
    fn field(name: &str) -> Field;
    /// Keeps a cell; what has no fixed length goes to `heap`.
    fn keep(cell: Self::Cell<'_>, heap: &mut Heap) -> Self::Kept;
    /// The column of the kept cells.
    fn array(cells: impl ExactSizeIterator<Item = Self::Kept>, heap: &Heap) -> ArrayRef;
}

/// A column of text.
pub struct Text;

/// A column of lists of hashes: the salted values that link messages, never the values themselves.
pub struct Hashes;

/// What the kept rows of a table refer to.
#[derive(Default)]
pub struct Heap {
    texts: String,
    hashes: Vec<u64>,
}

/// A part of a heap.
#[derive(Clone, Copy)]
pub struct Span {
    from: u32,
    to: u32,
}

impl Heap {
    /// Forgets everything; the room stays.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.hashes.clear();
    }

    /// Bytes of what is kept.
    pub fn bytes(&self) -> usize {
        self.texts.len() + size_of_val(self.hashes.as_slice())
    }

    fn keep_text(&mut self, text: &str) -> Span {
        let from = self.texts.len() as u32;
        self.texts.push_str(text);
        Span { from, to: self.texts.len() as u32 }
    }

    fn text(&self, span: Span) -> &str {
        &self.texts[span.from as usize..span.to as usize]
    }
}

macro_rules! column {
    ($type:ty, $builder:ty, $arrow:expr) => {
        impl Column for $type {
            type Cell<'a> = $type;
            type Kept = $type;
            fn field(name: &str) -> Field {
                Field::new(name, $arrow, false)
            }
            fn keep(cell: $type, _heap: &mut Heap) -> $type {
                cell
            }
            fn array(cells: impl ExactSizeIterator<Item = $type>, _heap: &Heap) -> ArrayRef {
                let mut builder = <$builder>::with_capacity(cells.len());
                cells.for_each(|cell| builder.append_value(cell));
                Arc::new(builder.finish())
            }
        }
        impl Column for Option<$type> {
            type Cell<'a> = Option<$type>;
            type Kept = Option<$type>;
            fn field(name: &str) -> Field {
                Field::new(name, $arrow, true)
            }
            fn keep(cell: Option<$type>, _heap: &mut Heap) -> Option<$type> {
                cell
            }
            fn array(
                cells: impl ExactSizeIterator<Item = Option<$type>>,
                _heap: &Heap,
            ) -> ArrayRef {
                let mut builder = <$builder>::with_capacity(cells.len());
                cells.for_each(|cell| builder.append_option(cell));
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
    type Kept = Span;
    fn field(name: &str) -> Field {
        Field::new(name, DataType::Utf8, false)
    }
    fn keep(cell: &str, heap: &mut Heap) -> Span {
        heap.keep_text(cell)
    }
    fn array(cells: impl ExactSizeIterator<Item = Span>, heap: &Heap) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(cells.len(), heap.texts.len());
        cells.for_each(|cell| builder.append_value(heap.text(cell)));
        Arc::new(builder.finish())
    }
}

impl Column for Option<Text> {
    type Cell<'a> = Option<&'a str>;
    type Kept = Option<Span>;
    fn field(name: &str) -> Field {
        Field::new(name, DataType::Utf8, true)
    }
    fn keep(cell: Option<&str>, heap: &mut Heap) -> Option<Span> {
        cell.map(|text| heap.keep_text(text))
    }
    fn array(cells: impl ExactSizeIterator<Item = Option<Span>>, heap: &Heap) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(cells.len(), 0);
        cells.for_each(|cell| builder.append_option(cell.map(|span| heap.text(span))));
        Arc::new(builder.finish())
    }
}

impl Column for Hashes {
    type Cell<'a> = &'a [u64];
    type Kept = Span;
    fn field(name: &str) -> Field {
        Field::new_list(name, Field::new_list_field(DataType::UInt64, true), false)
    }
    fn keep(cell: &[u64], heap: &mut Heap) -> Span {
        let from = heap.hashes.len() as u32;
        heap.hashes.extend_from_slice(cell);
        Span { from, to: heap.hashes.len() as u32 }
    }
    fn array(cells: impl ExactSizeIterator<Item = Span>, heap: &Heap) -> ArrayRef {
        let values = UInt64Builder::with_capacity(heap.hashes.len());
        let mut builder = ListBuilder::with_capacity(values, cells.len());
        for cell in cells {
            builder.values().append_slice(&heap.hashes[cell.from as usize..cell.to as usize]);
            builder.append(true);
        }
        Arc::new(builder.finish())
    }
}
