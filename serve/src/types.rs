//! The types of PostgreSQL that stand for those of rows.

use arrow::datatypes::DataType;

/// An object identifier of a type, as in `pg_type`.
pub(super) type Oid = u32;

pub(super) const BOOL: Oid = 16;
pub(super) const BYTEA: Oid = 17;
pub(super) const INT8: Oid = 20;
pub(super) const INT2: Oid = 21;
pub(super) const INT4: Oid = 23;
pub(super) const TEXT: Oid = 25;
pub(super) const JSON: Oid = 114;
pub(super) const FLOAT4: Oid = 700;
pub(super) const FLOAT8: Oid = 701;
pub(super) const UNKNOWN: Oid = 705;
pub(super) const VARCHAR: Oid = 1043;
pub(super) const DATE: Oid = 1082;
pub(super) const TIME: Oid = 1083;
pub(super) const TIMESTAMP: Oid = 1114;
pub(super) const TIMESTAMPTZ: Oid = 1184;
pub(super) const INTERVAL: Oid = 1186;
pub(super) const NUMERIC: Oid = 1700;

/// A type as the catalog lists it.
pub(super) struct PgType {
    /// Its number.
    pub oid: Oid,
    /// Its name in `pg_type`.
    pub name: &'static str,
    /// Its name in standard SQL, as `format_type` writes it.
    pub sql: &'static str,
    /// The bytes of a value; -1 where they vary.
    pub size: i16,
    /// The type of arrays of it.
    pub array: Oid,
    /// Its category in `pg_type`.
    pub category: &'static str,
}

const fn of(oid: Oid, name: &'static str, sql: &'static str, size: i16, array: Oid, category: &'static str) -> PgType {
    PgType { oid, name, sql, size, array, category }
}

/// The types that columns and parameters have, and those that clients ask for by name.
pub(super) const TYPES: &[PgType] = &[
    of(BOOL, "bool", "boolean", 1, 1000, "B"),
    of(BYTEA, "bytea", "bytea", -1, 1001, "U"),
    of(18, "char", "\"char\"", 1, 1002, "Z"),
    of(19, "name", "name", 64, 1003, "S"),
    of(INT8, "int8", "bigint", 8, 1016, "N"),
    of(INT2, "int2", "smallint", 2, 1005, "N"),
    of(INT4, "int4", "integer", 4, 1007, "N"),
    of(TEXT, "text", "text", -1, 1009, "S"),
    of(26, "oid", "oid", 4, 1028, "N"),
    of(JSON, "json", "json", -1, 199, "U"),
    of(FLOAT4, "float4", "real", 4, 1021, "N"),
    of(FLOAT8, "float8", "double precision", 8, 1022, "N"),
    of(UNKNOWN, "unknown", "unknown", -2, 0, "X"),
    of(1042, "bpchar", "character", -1, 1014, "S"),
    of(VARCHAR, "varchar", "character varying", -1, 1015, "S"),
    of(DATE, "date", "date", 4, 1182, "D"),
    of(TIME, "time", "time without time zone", 8, 1183, "D"),
    of(TIMESTAMP, "timestamp", "timestamp without time zone", 8, 1115, "D"),
    of(TIMESTAMPTZ, "timestamptz", "timestamp with time zone", 8, 1185, "D"),
    of(INTERVAL, "interval", "interval", 16, 1187, "T"),
    of(NUMERIC, "numeric", "numeric", -1, 1231, "N"),
    of(2950, "uuid", "uuid", 16, 2951, "U"),
    of(3802, "jsonb", "jsonb", -1, 3807, "U"),
];

/// The type of this number.
pub(super) fn of_oid(oid: Oid) -> Option<&'static PgType> {
    TYPES.iter().find(|known| known.oid == oid)
}

/// The type whose arrays have this number.
pub(super) fn element(array: Oid) -> Option<&'static PgType> {
    TYPES.iter().find(|known| known.array == array && array != 0)
}

/// The type of a column. Structs, maps, and lists of lists, structs or maps are texts of JSON: PostgreSQL's arrays are
/// rectangular.
pub(super) fn of_column(data_type: &DataType) -> Oid {
    match data_type {
        DataType::Boolean => BOOL,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => INT2,
        DataType::Int32 | DataType::UInt16 => INT4,
        DataType::Int64 | DataType::UInt32 => INT8,
        DataType::UInt64
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => NUMERIC,
        DataType::Float16 | DataType::Float32 => FLOAT4,
        DataType::Float64 => FLOAT8,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => BYTEA,
        DataType::Date32 | DataType::Date64 => DATE,
        DataType::Time32(_) | DataType::Time64(_) => TIME,
        DataType::Timestamp(_, None) => TIMESTAMP,
        DataType::Timestamp(_, Some(_)) => TIMESTAMPTZ,
        DataType::Interval(_) | DataType::Duration(_) => INTERVAL,
        DataType::Dictionary(_, values) => of_column(values),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => match of_column(field.data_type()) {
            JSON => JSON,
            scalar => of_oid(scalar).map_or(JSON, |scalar| scalar.array),
        },
        DataType::Struct(_) | DataType::Map(..) | DataType::Union(..) => JSON,
        _ => TEXT,
    }
}

/// The type of values of this number, where statements know it.
pub(super) fn to_arrow(oid: Oid) -> Option<DataType> {
    use arrow::datatypes::TimeUnit::Microsecond;
    Some(match oid {
        BOOL => DataType::Boolean,
        BYTEA => DataType::Binary,
        INT2 => DataType::Int16,
        INT4 => DataType::Int32,
        INT8 | 26 => DataType::Int64,
        FLOAT4 => DataType::Float32,
        FLOAT8 => DataType::Float64,
        DATE => DataType::Date32,
        TIME => DataType::Time64(Microsecond),
        TIMESTAMP => DataType::Timestamp(Microsecond, None),
        TIMESTAMPTZ => DataType::Timestamp(Microsecond, Some("+00:00".into())),
        TEXT | VARCHAR | 18 | 19 | 1042 | JSON | 3802 | 2950 => DataType::Utf8,
        _ => return None,
    })
}
