//! Error bars by their half length: the ends are columns of their own.

use std::borrow::Cow;

use crate::error::PictureError;
use crate::plan::find;
use crate::request::Request;
use crate::table::{Column, Table, Values};

/// The table with the columns `y - yerr` and `y + yerr`, and the request with these as the ends of error bars; both as they are
/// where no `yerr` is named.
///
/// # Errors
/// [`PictureError`] for a column that is not there or has no numbers, and where `y`, or nothing but `yerr`, is not named.
pub(crate) fn with_ends<'a>(
    table: Cow<'a, Table>,
    request: &'a Request,
) -> Result<(Cow<'a, Table>, Cow<'a, Request>), PictureError> {
    let Some(name) = &request.yerr else { return Ok((table, Cow::Borrowed(request))) };
    let wrong = |value: &String, need: &str| PictureError::Value {
        option: "YERR",
        value: value.clone(),
        need: need.to_owned(),
    };
    if request.ymin.is_some() || request.ymax.is_some() {
        return Err(wrong(name, "either it, or YMIN and YMAX"));
    }
    let Some(y) = &request.y else { return Err(wrong(name, "the column of Y beside it")) };
    let (y, deviation) = (find(&table, y)?, find(&table, name)?);
    let (Some(values), Some(lengths)) = (y.numbers(), deviation.numbers()) else {
        return Err(wrong(name, "a column of numbers, and one as Y"));
    };
    let ends = [("-", -1.0), ("+", 1.0)].map(|(sign, factor)| {
        let end = values.iter().zip(lengths).map(|(value, length)| value + factor * length);
        Column::new(format!("{} {sign} {}", y.name, deviation.name), Values::Numbers(end.collect()))
    });
    let [ymin, ymax] = [0, 1].map(|at: usize| Some(ends[at].name.clone()));
    let request = Request { ymin, ymax, ..request.clone() };
    let mut table = table.into_owned();
    table.columns.extend(ends);
    Ok((Cow::Owned(table), Cow::Owned(request)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw;

    fn table() -> Table {
        let column = |name: &str, values: [f64; 2]| Column::new(name, Values::Numbers(values.to_vec()));
        let models = Column::new("model", Values::texts(["gcn", "mlp"].map(Some)));
        Table { columns: vec![models, column("accuracy", [0.75, 0.5]), column("deviation", [0.25, f64::NAN])] }
    }

    fn drawn(words: &str) -> Result<String, String> {
        draw(&table(), &Request::parse(words).unwrap()).map(|picture| picture.svg).map_err(|error| error.to_string())
    }

    #[test]
    fn a_deviation_gives_the_bars_that_both_ends_give() {
        let svg = drawn("bars model accuracy yerr=deviation").unwrap();
        assert!(svg.contains("accuracy - deviation: 0.5") && svg.contains("accuracy + deviation: 1"), "{svg}");
        assert!(svg.contains("Without an error bar: 1 row without accuracy - deviation"), "{svg}");
        let mut by_ends = table();
        by_ends.columns.push(Column::new("accuracy - deviation", Values::Numbers(vec![0.5, f64::NAN])));
        by_ends.columns.push(Column::new("accuracy + deviation", Values::Numbers(vec![1.0, f64::NAN])));
        let request = "bars model accuracy ymin='accuracy - deviation' ymax='accuracy + deviation'";
        assert_eq!(svg, draw(&by_ends, &Request::parse(request).unwrap()).unwrap().svg);
    }

    #[test]
    fn a_deviation_of_nothing_is_refused() {
        for (words, what) in [
            ("bars yerr=deviation", "YERR is `deviation`; give the column of Y beside it"),
            ("bars model accuracy yerr=model", "YERR is `model`; give a column of numbers, and one as Y"),
            ("bars model accuracy yerr=deviaton", "there is no column `deviaton`, did you mean `deviation`?"),
            (
                "bars model accuracy yerr=deviation ymin=accuracy",
                "YERR is `deviation`; give either it, or YMIN and YMAX",
            ),
        ] {
            let error = drawn(words).unwrap_err();
            assert!(error.contains(what), "{words}: {error}");
        }
    }
}
