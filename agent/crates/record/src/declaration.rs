//! What follows from a table's declaration, so that it is declared in one place: the row that is
//! pushed, the rows that are kept, the columns that become of them, and their schema.
//!
//! Rows are kept whole until their batch goes out: who pushes one now and then, as a sampler does,
//! finds its memory in no cache, and a row lies on a few lines of it where columns have two each.

/// Makes of each `Table / Row = "name" { column: type, ... }` those types, and the list of them all.
macro_rules! tables {
    ($( $(#[$doc:meta])* $table:ident / $row:ident = $name:literal {
        $( $column:ident : $type:ty ),* $(,)?
    } )*) => {
        $(
            #[doc = concat!("One row of `", $name, "`.")]
            #[allow(missing_docs)]
            pub struct $row<'a> {
                $( pub $column: <$type as $crate::column::Column>::Cell<'a>, )*
            }

            $(#[$doc])*
            #[derive(Default)]
            pub struct $table {
                rows: Vec<kept::$table>,
                heap: $crate::column::Heap,
            }

            impl $crate::Table for $table {
                type Row<'a> = $row<'a>;
                const NAME: &'static str = $name;

                fn schema() -> arrow_schema::SchemaRef {
                    static SCHEMA: std::sync::OnceLock<arrow_schema::SchemaRef> = std::sync::OnceLock::new();
                    let fields = || vec![ $( <$type as $crate::column::Column>::field(stringify!($column)), )* ];
                    SCHEMA.get_or_init(|| std::sync::Arc::new(arrow_schema::Schema::new(fields()))).clone()
                }

                fn push(&mut self, row: $row<'_>) {
                    self.rows.push(kept::$table {
                        $( $column: <$type as $crate::column::Column>::keep(row.$column, &mut self.heap), )*
                    });
                }

                fn len(&self) -> usize {
                    self.rows.len()
                }

                fn bytes(&self) -> usize {
                    size_of_val(self.rows.as_slice()) + self.heap.bytes()
                }

                fn take(&mut self) -> Result<arrow_array::RecordBatch, arrow_schema::ArrowError> {
                    let Self { rows, heap } = self;
                    let columns = vec![ $(
                        <$type as $crate::column::Column>::array(rows.iter().map(|row| row.$column), heap),
                    )* ];
                    rows.clear();
                    heap.clear();
                    arrow_array::RecordBatch::try_new(Self::schema(), columns)
                }
            }
        )*

        /// Rows on their way to a batch.
        mod kept {
            use super::*;
            $(
                pub struct $table {
                    $( pub $column: <$type as $crate::column::Column>::Kept, )*
                }
            )*
        }

        /// Every table's name and schema, in the order of declaration.
        pub fn all() -> Vec<(&'static str, arrow_schema::SchemaRef)> {
            vec![ $( ($name, <$table as $crate::Table>::schema()), )* ]
        }
    };
}

pub(crate) use tables;

#[cfg(test)]
mod tests {
    use crate::Table;
    use crate::tables::{RawVisitRow, RawVisits};
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type, UInt64Type};

    fn row<'a>(visit: i64, server: &'a str, literals: &'a [u64]) -> RawVisitRow<'a> {
        RawVisitRow {
            visit,
            server,
            protocol: "http",
            connection: 7,
            arrival_ns: 1,
            request_end_ns: 2,
            reply_start_ns: Some(3),
            departure_ns: (visit > 1).then_some(4),
            closed_ns: None,
            may_wait_ns: None,
            label: "",
            status: None,
            bytes_in: 5,
            bytes_out: 6,
            upstream: (visit > 1).then_some("\u{e9}"),
            id_hash: Some(visit as u64),
            literals,
            endpoints: 9,
        }
    }

    /// Every kind of cell, and that a batch has nothing of the one before.
    #[test]
    fn a_batch_is_what_was_pushed_since_the_last() {
        let mut table = RawVisits::default();
        let batches: [[(i64, &str, &[u64]); 2]; 2] =
            [[(1, "web", &[]), (2, "", &[8, 9])], [(3, "db", &[1]), (4, "x", &[])]];
        for rows in batches {
            for (visit, server, literals) in rows {
                table.push(row(visit, server, literals));
            }
            assert_eq!(table.len(), 2);
            let batch = table.take().unwrap();
            assert!(table.is_empty());
            assert_eq!(batch.schema(), RawVisits::schema());
            let column = |name| batch.column_by_name(name).unwrap();
            for (at, (visit, server, literals)) in rows.into_iter().enumerate() {
                let there = (visit > 1).then_some(4);
                assert_eq!(column("visit").as_primitive::<Int64Type>().value(at), visit);
                assert_eq!(column("server").as_string::<i32>().value(at), server);
                let departure = column("departure_ns").as_primitive::<Int64Type>();
                assert_eq!(departure.iter().nth(at), Some(there));
                assert_eq!(column("status").as_primitive::<Int32Type>().iter().nth(at), Some(None));
                let upstream = column("upstream").as_string::<i32>().iter().nth(at);
                assert_eq!(upstream, Some(there.map(|_| "\u{e9}")));
                let hashes = column("literals").as_list::<i32>().value(at);
                assert_eq!(hashes.as_primitive::<UInt64Type>().values(), literals);
            }
        }
    }
}
