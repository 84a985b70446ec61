//! The SQL names of Arrow types, held to what casts make of them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};

use crate::sql_type;

#[test]
fn types_have_the_names_of_sql() {
    let list = |inner: DataType| DataType::List(Arc::new(Field::new("item", inner, true)));
    assert_eq!(sql_type(&DataType::Int64), "BIGINT");
    assert_eq!(sql_type(&DataType::Utf8View), "VARCHAR");
    assert_eq!(sql_type(&list(list(DataType::Int64))), "BIGINT[][]");
    let pair = DataType::Struct(
        vec![Field::new("dim", DataType::Int64, true), Field::new("birth", DataType::Float64, true)].into(),
    );
    assert_eq!(sql_type(&list(pair)), "STRUCT(dim BIGINT, birth DOUBLE)[]");
    let entries = DataType::Struct(
        vec![Field::new("key", DataType::Int32, false), Field::new("value", DataType::Float32, true)].into(),
    );
    let map = DataType::Map(Arc::new(Field::new("entries", entries, false)), false);
    assert_eq!(sql_type(&map), "MAP(INTEGER, FLOAT)");
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    assert_eq!(sql_type(&dictionary), "VARCHAR");
    assert_eq!(sql_type(&DataType::Timestamp(TimeUnit::Nanosecond, None)), "TIMESTAMP");
}

#[test]
fn a_cast_to_the_name_of_a_type_gives_the_type() {
    let session = crate::Engine::open(crate::EngineOptions::default()).unwrap().session();
    let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    let integers = [DataType::Int8, DataType::Int16, DataType::Int32, DataType::Int64];
    let unsigned = [DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64];
    let others = [
        DataType::Boolean,
        DataType::Float32,
        DataType::Float64,
        DataType::Binary,
        DataType::Date32,
        DataType::Decimal128(12, 3),
        DataType::List(Arc::new(Field::new("item", DataType::UInt32, true))),
    ];
    let times = units.map(|unit| DataType::Timestamp(unit, None));
    for data_type in integers.into_iter().chain(unsigned).chain(others).chain(times) {
        let name = sql_type(&data_type);
        let schema = session.engine().block_on(session.describe(&format!("SELECT CAST(NULL AS {name}) AS x")));
        assert_eq!(schema.unwrap().unwrap().field(0).data_type(), &data_type, "{name}");
    }
}
