//! What follows from a table's declaration, so that it is declared in one place: the row that is
//! pushed, the columns that it is appended to, and their schema.

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
                rows: usize,
                $( $column: <$type as $crate::column::Column>::Builder, )*
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
                    self.rows += 1;
                    $( <$type as $crate::column::Column>::append(row.$column, &mut self.$column); )*
                }

                fn len(&self) -> usize {
                    self.rows
                }

                fn take(&mut self) -> Result<arrow_array::RecordBatch, arrow_schema::ArrowError> {
                    self.rows = 0;
                    arrow_array::RecordBatch::try_new(Self::schema(), vec![
                        $( <$type as $crate::column::Column>::finish(&mut self.$column), )*
                    ])
                }
            }
        )*

        /// Every table's name and schema, in the order of declaration.
        pub fn all() -> Vec<(&'static str, arrow_schema::SchemaRef)> {
            vec![ $( ($name, <$table as $crate::Table>::schema()), )* ]
        }
    };
}

pub(crate) use tables;
