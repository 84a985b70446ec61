//! The facts of the driver: names, versions and abilities.

use std::collections::HashSet;
use std::sync::Arc;

use adbc_core::constants;
use adbc_core::error::{Error, Result, Status};
use adbc_core::options::InfoCode;
use adbc_core::schemas::GET_INFO_SCHEMA;
use arrow::array::{ArrayRef, BooleanArray, Int64Array, StringArray, UInt32Array, UnionArray, new_empty_array};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::DataType;

use super::reader::{BatchReader, one_batch};

/// A value of the union: by the number of its member.
enum Value {
    Text(&'static str),
    Bool(bool),
    Int(i64),
}

/// The facts that are asked for; all without a list.
pub(super) fn info(wanted: Option<&HashSet<InfoCode>>) -> Result<BatchReader> {
    let version = env!("CARGO_PKG_VERSION");
    let facts = [
        (InfoCode::VendorName, constants::ADBC_INFO_VENDOR_NAME, Value::Text("BonnetDB")),
        (InfoCode::VendorVersion, constants::ADBC_INFO_VENDOR_VERSION, Value::Text(version)),
        (InfoCode::VendorArrowVersion, constants::ADBC_INFO_VENDOR_ARROW_VERSION, Value::Text(arrow::ARROW_VERSION)),
        (InfoCode::VendorSql, constants::ADBC_INFO_VENDOR_SQL, Value::Bool(true)),
        (InfoCode::VendorSubstrait, constants::ADBC_INFO_VENDOR_SUBSTRAIT, Value::Bool(false)),
        (InfoCode::DriverName, constants::ADBC_INFO_DRIVER_NAME, Value::Text("BonnetDB ADBC driver")),
        (InfoCode::DriverVersion, constants::ADBC_INFO_DRIVER_VERSION, Value::Text(version)),
        (InfoCode::DriverArrowVersion, constants::ADBC_INFO_DRIVER_ARROW_VERSION, Value::Text(arrow::ARROW_VERSION)),
        (
            InfoCode::DriverAdbcVersion,
            constants::ADBC_INFO_DRIVER_ADBC_VERSION,
            Value::Int(i64::from(constants::ADBC_VERSION_1_1_0)),
        ),
    ];
    let (mut codes, mut members, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    let (mut texts, mut flags, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (fact, code, value) in facts {
        if wanted.is_some_and(|wanted| !wanted.contains(&fact)) {
            continue;
        }
        codes.push(code);
        let (member, at) = match value {
            Value::Text(text) => {
                texts.push(text);
                (0, texts.len())
            }
            Value::Bool(flag) => {
                flags.push(flag);
                (1, flags.len())
            }
            Value::Int(number) => {
                numbers.push(number);
                (2, numbers.len())
            }
        };
        members.push(member);
        offsets.push(at as i32 - 1);
    }
    let DataType::Union(fields, _) = GET_INFO_SCHEMA.field(1).data_type() else {
        return Err(Error::with_message_and_status("the schema of infos has no union", Status::Internal));
    };
    let children: Vec<ArrayRef> = fields
        .iter()
        .map(|(member, field)| match member {
            0 => Arc::new(StringArray::from(texts.clone())) as ArrayRef,
            1 => Arc::new(BooleanArray::from(flags.clone())),
            2 => Arc::new(Int64Array::from(numbers.clone())),
            _ => new_empty_array(field.data_type()),
        })
        .collect();
    let (members, offsets) = (ScalarBuffer::from(members), Some(ScalarBuffer::from(offsets)));
    let values = UnionArray::try_new(fields.clone(), members, offsets, children)
        .map_err(|error| Error::with_message_and_status(error.to_string(), Status::Internal))?;
    one_batch(&GET_INFO_SCHEMA, vec![Arc::new(UInt32Array::from(codes)), Arc::new(values)])
}
