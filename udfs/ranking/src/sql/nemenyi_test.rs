//! `nemenyi_test(block, treatment, value)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{Function, GroupedRows, rows_function, stopped};
use datafusion::common::Result;

use super::blocks::{Rows, block_parameters};
use crate::nemenyi_p;

const NAME: &str = "nemenyi_test";

/// The registration.
pub fn nemenyi_test() -> Function {
    rows_function(NAME, DataType::List(item()), |_| Ok(Box::new(tests)))
        .heavy()
        .parameters(block_parameters())
        .returns("LIST of {a, b, rank_a, rank_b, p_value}")
        .description(
            "Nemenyi's comparison of each pair of treatments over blocks, as the one after friedman_test. For a before b, in their \
             order: the mean ranks of both over the blocks, 1 for the largest value, ties averaged; and p_value, of the studentized range \
             with infinitely many degrees of freedom, all pairs taken together. Names are TEXT. flatten makes rows of the list. Blocks \
             that lack a treatment are left out, and so is a row with a NULL or NaN; without a whole block, or with one treatment, the list \
             is empty; no rows give NULL. A block with two values for a treatment is an error. O(rows log rows), and some milliseconds \
             for a hundred pairs.",
        )
        .example(
            "SELECT a, b, p_value FROM flatten((SELECT nemenyi_test(dataset, model, score) AS pairs FROM (VALUES ('cora', 'gcn', 81.5), \
             ('cora', 'mlp', 57.7), ('actor', 'gcn', 28.3), ('actor', 'mlp', 35.4)) t(dataset, model, score)), pairs)",
        )
        .source("Nemenyi (1963); Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets (2006), Sec. 3.2.2")
}

fn item() -> Arc<Field> {
    let text = |name| Field::new(name, DataType::Utf8, true);
    let number = |name| Field::new(name, DataType::Float64, true);
    let fields = [text("a"), text("b"), number("rank_a"), number("rank_b"), number("p_value")];
    Arc::new(Field::new("item", DataType::Struct(Fields::from_iter(fields)), true))
}

/// Two treatments, their mean ranks, and the p of their difference.
type Pair = (String, String, f64, f64, f64);

/// The pairs of each group.
fn tests(groups: &GroupedRows, monitor: &dyn Monitor) -> Result<ArrayRef> {
    let rows = Rows::new(NAME, groups.columns())?;
    let lists: Vec<Option<Vec<Pair>>> = groups.map(|group| {
        if group.is_empty() {
            return Ok(None);
        }
        let blocks = rows.blocks(group, monitor)?;
        let k = blocks.treatments.len();
        let found = crate::friedman_test(&blocks.table, k.max(1), monitor).map_err(stopped)?;
        let ranks = found.mean_ranks;
        let _pairs = Reservation::new(monitor, size_of::<Pair>() * (ranks.len() * ranks.len() / 2)).map_err(stopped)?;
        let names = cast(&blocks.treatments.array(), &DataType::Utf8)?;
        let name = |treatment: usize| names.as_string::<i32>().value(treatment).to_owned();
        let mut pairs = Vec::new();
        for a in 0..ranks.len() {
            monitor.check().map_err(stopped)?;
            for b in a + 1..ranks.len() {
                let p = nemenyi_p(ranks[a] - ranks[b], k, found.n);
                pairs.push((name(a), name(b), ranks[a], ranks[b], p));
            }
        }
        Ok(Some(pairs))
    })?;
    let pairs = || lists.iter().flatten().flatten();
    let text = |of: fn(&Pair) -> &str| -> ArrayRef { Arc::new(StringArray::from(pairs().map(of).collect::<Vec<_>>())) };
    let number =
        |of: fn(&Pair) -> f64| -> ArrayRef { Arc::new(Float64Array::from(pairs().map(of).collect::<Vec<_>>())) };
    let columns = vec![
        text(|pair| pair.0.as_str()),
        text(|pair| pair.1.as_str()),
        number(|pair| pair.2),
        number(|pair| pair.3),
        number(|pair| pair.4),
    ];
    let item = item();
    let DataType::Struct(fields) = item.data_type() else { unreachable!("it is a struct") };
    let structs = StructArray::try_new(fields.clone(), columns, None)?;
    let lengths = OffsetBuffer::from_lengths(lists.iter().map(|list| list.as_ref().map_or(0, Vec::len)));
    let there = NullBuffer::from_iter(lists.iter().map(Option::is_some));
    Ok(Arc::new(ListArray::try_new(item, lengths, Arc::new(structs), Some(there))?))
}
