//! `treewidth_upper_bound(edges [, method => 'min_degree'])`.

use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Reads, counts};
use super::relation::{Answer, count, graph_function};
use crate::Elimination;

const NAME: &str = "treewidth_upper_bound";

/// The registration.
pub fn treewidth_upper_bound() -> Function {
    let method = Parameter::text(
        "method",
        "Which node is taken away next: 'min_degree', the one with the fewest neighbours; 'min_fill', the one whose \
         neighbours lack the fewest edges, slower and often closer.",
    );
    graph_function(NAME, &[], Reads::SIMPLE, [method.or(OptionValue::Text("min_degree".to_owned()))], bind)
        .returns("treewidth_upper_bound; graph_id in front where edges have it")
        .description(
            "An upper bound of the treewidth: a row for each graph. Nodes are taken away one by one and their \
             neighbours joined; it is the most neighbours that one had. Exact for trees, cycles and complete graphs. \
             Direction, loops and repeats do not count. O(n w^2 log n) for width w with min_degree.",
        )
        .example("SELECT treewidth_upper_bound FROM treewidth_upper_bound(karate.edges, method => 'min_fill')")
        .source("Bodlaender and Koster, Treewidth computations I. Upper bounds (2010), section 3")
}

fn bind(options: &Options) -> Result<Answer> {
    let by = match options.text("method")? {
        None | Some("min_degree") => Elimination::MinDegree,
        Some("min_fill") => Elimination::MinFill,
        Some(other) => return usage_error(format!("method => '{other}': expected 'min_degree' or 'min_fill'")),
    };
    Ok(Answer::new(vec![count(NAME)], move |call| {
        Ok(vec![counts(&[crate::treewidth_upper_bound(call.simple()?, by, call.host)?])?])
    }))
}
