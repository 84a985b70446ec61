//! `ALTER TABLE`: one column that is added, dropped, renamed or given another type.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::{Column, Result, ScalarValue, plan_err};
use datafusion::logical_expr::{Expr, cast};

/// A change of a table's columns.
#[derive(Debug, Clone)]
pub enum ColumnChange {
    /// A new last column. In the rows that are there it has the value of its default, or NULL.
    Add {
        /// The name and type of the column.
        field: FieldRef,
        /// The default of the column, a constant.
        default: Option<Expr>,
    },
    /// A column goes.
    Drop(String),
    /// A column gets another name.
    Rename {
        /// The name.
        from: String,
        /// The other name.
        to: String,
    },
    /// A column gets another type, to which its values are cast.
    Retype {
        /// The name of the column.
        column: String,
        /// The type.
        to: DataType,
    },
}

/// The columns of a table after a change.
pub(crate) struct ChangedColumns {
    pub schema: SchemaRef,
    /// The values of the columns, computed from those before, with their names.
    pub values: Vec<Expr>,
    /// The positions that the columns had before; none for one that is added.
    pub places: Vec<Option<usize>>,
}

impl ChangedColumns {
    /// The defaults that columns had before, under the names that they have now.
    pub(crate) fn defaults<D>(&self, before: &Schema, default_of: impl Fn(&str) -> Option<D>) -> Vec<(String, D)> {
        let kept = |(field, place): (&FieldRef, &Option<usize>)| {
            Some((field.name().clone(), default_of(before.field((*place)?).name())?))
        };
        self.schema.fields().iter().zip(&self.places).filter_map(kept).collect()
    }
}

impl ColumnChange {
    /// The columns of the table `name` once they are changed.
    ///
    /// # Errors
    /// If there is no such column, the name is taken, or the table would have no column.
    pub(crate) fn of(&self, name: &str, schema: &Schema) -> Result<ChangedColumns> {
        let place = |column: &str| match schema.index_of(column) {
            Ok(place) => Ok(place),
            Err(_) => {
                let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                plan_err!("{name} has no column {column}: it has {}", columns.join(", "))
            }
        };
        let free = |column: &str| match schema.fields().iter().any(|field| field.name() == column) {
            true => plan_err!("{name} has a column {column} already"),
            false => Ok(()),
        };
        let as_it_is = |(place, field): (usize, &FieldRef)| {
            (Arc::clone(field), Expr::Column(Column::new_unqualified(field.name())), Some(place))
        };
        let mut columns: Vec<_> = schema.fields().iter().enumerate().map(as_it_is).collect();
        match self {
            Self::Add { field, default } => {
                free(field.name())?;
                let value = default.clone().unwrap_or(Expr::Literal(ScalarValue::Null, None));
                let value = cast(value, field.data_type().clone()).alias(field.name());
                columns.push((Arc::clone(field), value, None));
            }
            Self::Drop(column) => {
                columns.remove(place(column)?);
                if columns.is_empty() {
                    return plan_err!("{column} is the only column of {name}: DROP TABLE {name}");
                }
            }
            Self::Rename { from, to } => {
                let (field, value, _) = &mut columns[place(from)?];
                free(to)?;
                *field = Arc::new(Field::clone(field).with_name(to));
                *value = value.clone().alias(to);
            }
            Self::Retype { column, to } => {
                let (field, value, _) = &mut columns[place(column)?];
                *field = Arc::new(Field::clone(field).with_data_type(to.clone()));
                *value = cast(value.clone(), to.clone()).alias(column);
            }
        }
        let fields: Vec<FieldRef> = columns.iter().map(|(field, ..)| Arc::clone(field)).collect();
        let (values, places) = columns.into_iter().map(|(_, value, place)| (value, place)).unzip();
        Ok(ChangedColumns { schema: SchemaRef::new(Schema::new(fields)), values, places })
    }
}
