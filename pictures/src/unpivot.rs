//! Columns side by side put under one another, as a chart wants them.

use std::borrow::Cow;

use crate::error::PictureError;
use crate::plan::find;
use crate::request::Request;
use crate::table::{Column, Table, Values};

/// The table with its columns `unpivot` as the columns `name` and `value`: a row for each of them and each row, in this order
/// of the rows. The table itself where none are named.
///
/// # Errors
/// [`PictureError`] for a column that is not there or has no numbers.
pub(crate) fn unpivoted<'a>(table: &'a Table, request: &Request) -> Result<Cow<'a, Table>, PictureError> {
    let Some(names) = &request.unpivot else { return Ok(Cow::Borrowed(table)) };
    let mut columns: Vec<&Column> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        columns.push(find(table, name)?);
    }
    let mut numbers = Vec::new();
    for column in &columns {
        let need = || "the names of columns of numbers, with commas between them".to_owned();
        let wrong = || PictureError::Value { option: "UNPIVOT", value: column.name.clone(), need: need() };
        numbers.push(column.numbers().ok_or_else(wrong)?);
    }
    if numbers.is_empty() {
        let need = "the names of columns of numbers, with commas between them".to_owned();
        return Err(PictureError::Value { option: "UNPIVOT", value: names.clone(), need });
    }
    let rows = table.rows();
    let others = table.columns.iter().filter(|column| columns.iter().all(|taken| !std::ptr::eq(*taken, *column)));
    let repeat = |values: &[f64]| values.iter().flat_map(|&value| vec![value; numbers.len()]).collect();
    let mut long: Vec<Column> = others
        .map(|column| {
            let values = match &column.values {
                Values::Numbers(values) => Values::Numbers(repeat(values)),
                Values::Times(values) => Values::Times(repeat(values)),
                Values::Texts { names, codes } => Values::Texts {
                    names: names.clone(),
                    codes: codes.iter().flat_map(|&code| vec![code; numbers.len()]).collect(),
                },
            };
            Column::new(&column.name, values)
        })
        .collect();
    let series = (0..rows).flat_map(|_| columns.iter().map(|column| Some(column.name.as_str())));
    long.push(Column::new("name", Values::texts(series)));
    let values = (0..rows).flat_map(|row| numbers.iter().map(move |values| values[row]));
    long.push(Column::new("value", Values::Numbers(values.collect())));
    Ok(Cow::Owned(Table { columns: long }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_put_under_one_another() {
        let table = Table {
            columns: vec![
                Column::new("graph", Values::texts(["a", "b"].map(Some))),
                Column::new("gcn", Values::Numbers(vec![1.0, 2.0])),
                Column::new("mlp", Values::Numbers(vec![3.0, 4.0])),
            ],
        };
        let request = |text: &str| Request::parse(text).unwrap();
        let long = unpivoted(&table, &request("unpivot=gcn,mlp")).unwrap();
        let expected = Table {
            columns: vec![
                Column::new("graph", Values::texts(["a", "a", "b", "b"].map(Some))),
                Column::new("name", Values::texts(["gcn", "mlp", "gcn", "mlp"].map(Some))),
                Column::new("value", Values::Numbers(vec![1.0, 3.0, 2.0, 4.0])),
            ],
        };
        assert_eq!(*long, expected);
        for (text, what) in [
            ("unpivot=gnc", "there is no column `gnc`"),
            ("unpivot=graph", "UNPIVOT is `graph`; give the names of columns of numbers"),
            ("unpivot=,", "UNPIVOT is `,`"),
        ] {
            let error = unpivoted(&table, &request(text)).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
