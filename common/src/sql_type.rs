//! The SQL name of an Arrow type.

use arrow::datatypes::{DataType, TimeUnit};

/// The name that SQL has for a type: `BIGINT`, `VARCHAR`, `DOUBLE[]`, `STRUCT(dim BIGINT, birth DOUBLE)`; types that SQL
/// has no name for keep Arrow's. A cast to the name of a number or a time gives that type again.
pub fn sql_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Null => "NULL".to_owned(),
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int8 => "TINYINT".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::UInt8 => "UTINYINT".to_owned(),
        DataType::UInt16 => "USMALLINT".to_owned(),
        DataType::UInt32 => "UINTEGER".to_owned(),
        DataType::UInt64 => "UBIGINT".to_owned(),
        DataType::Float16 | DataType::Float32 => "FLOAT".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "VARCHAR".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BLOB".to_owned()
        }
        DataType::Date32 | DataType::Date64 => "DATE".to_owned(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".to_owned(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE".to_owned(),
        DataType::Timestamp(TimeUnit::Nanosecond, None) => "TIMESTAMP".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "TIMESTAMP(6)".to_owned(),
        DataType::Timestamp(TimeUnit::Millisecond, None) => "TIMESTAMP(3)".to_owned(),
        DataType::Timestamp(TimeUnit::Second, None) => "TIMESTAMP(0)".to_owned(),
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL".to_owned(),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => format!("DECIMAL({precision},{scale})"),
        DataType::Dictionary(_, value) => sql_type(value),
        DataType::RunEndEncoded(_, values) => sql_type(values.data_type()),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field) => format!("{}[]", sql_type(field.data_type())),
        DataType::FixedSizeList(field, size) => format!("{}[{size}]", sql_type(field.data_type())),
        DataType::Struct(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|field| format!("{} {}", field.name(), sql_type(field.data_type()))).collect();
            format!("STRUCT({})", fields.join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                format!("MAP({}, {})", sql_type(fields[0].data_type()), sql_type(fields[1].data_type()))
            }
            _ => data_type.to_string(),
        },
        other => other.to_string(),
    }
}
