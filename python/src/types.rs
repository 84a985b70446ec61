//! Types of columns as SQL names them.

use arrow::datatypes::{DataType, TimeUnit};

/// The name of a type in SQL; Arrow's where SQL has none.
pub(crate) fn sql_type(kind: &DataType) -> String {
    match kind {
        DataType::Null => "NULL".to_owned(),
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int8 => "TINYINT".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::UInt8 => "TINYINT UNSIGNED".to_owned(),
        DataType::UInt16 => "SMALLINT UNSIGNED".to_owned(),
        DataType::UInt32 => "INTEGER UNSIGNED".to_owned(),
        DataType::UInt64 => "BIGINT UNSIGNED".to_owned(),
        DataType::Float16 | DataType::Float32 => "FLOAT".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "VARCHAR".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BYTEA".to_owned()
        }
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        DataType::Date32 | DataType::Date64 => "DATE".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".to_owned(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE".to_owned(),
        DataType::Timestamp(TimeUnit::Nanosecond, None) => "TIMESTAMP".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "TIMESTAMP(6)".to_owned(),
        DataType::Timestamp(TimeUnit::Millisecond, None) => "TIMESTAMP(3)".to_owned(),
        DataType::Timestamp(TimeUnit::Second, None) => "TIMESTAMP(0)".to_owned(),
        DataType::Duration(_) | DataType::Interval(_) => "INTERVAL".to_owned(),
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) | DataType::LargeListView(item) => {
            format!("{}[]", sql_type(item.data_type()))
        }
        DataType::FixedSizeList(item, length) => format!("{}[{length}]", sql_type(item.data_type())),
        DataType::Struct(fields) => {
            let fields = fields.iter().map(|field| format!("{} {}", field.name(), sql_type(field.data_type())));
            format!("STRUCT({})", fields.collect::<Vec<_>>().join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => {
                format!("MAP({}, {})", sql_type(pair[0].data_type()), sql_type(pair[1].data_type()))
            }
            other => other.to_string(),
        },
        DataType::Dictionary(_, values) => sql_type(values),
        DataType::RunEndEncoded(_, values) => sql_type(values.data_type()),
        other => other.to_string(),
    }
}
