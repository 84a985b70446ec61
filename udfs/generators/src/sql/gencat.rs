//! `gencat(graph [, beta => 0.0] [, seed => 0])`.

use std::sync::Arc;

use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    Body, Function, GeneratedGraph, Generator, GeneratorInputs, KeyColumn, KeyIndex, OptionValue, Options, Parameter,
    execution_error, stopped,
};
use datafusion::common::{DataFusionError, Result};

use super::features;
use super::lift::{graph, named, number, seed, to_sql};
use crate::BaseGraph;

const NAME: &str = "gencat";

/// The registration.
pub fn gencat() -> Function {
    Function::new(NAME, Body::Generator(Arc::new(Gencat)))
        .returns("src, dst; graph_id in front for a relation of parameters")
        .parameters([
            Parameter::graph("graph", "The graph to be like: its nodes have label, and features if there are to be some."),
            Parameter::number("beta", "How far the preference of classes is shifted from their own, in tenths.")
                .or(OptionValue::Number(0.0)),
            Parameter::seed(),
        ])
        .description(
            "GenCAT: a graph like a given one, whose classes prefer their own less the larger beta. A node for each labelled \
             node of the base in the order of their keys, with its class (labels in ascending order are classes 0, 1, ...) and \
             at most its degree; edges by the classes' preference for each other, whose mean is shifted by 0.1 beta from the \
             own class to the others. CREATE GRAPH gives each node its class as label and, where the base has features, \
             features drawn by class: zeros and ones where all of the base's are. The study's range of beta is from \
             floor(10 m) - 9 to floor(10 m), with m the mean over classes of the share of neighbours in the own class.",
        )
        .example("SELECT count(*) > 0 AS has_edges FROM gencat(karate, beta => 2)")
        .source(
            "Maekawa et al., GenCAT (Information Systems 2023); Luan et al., Are Heterophilic GNNs and Homophily Metrics \
             Really Effective?, Sec. 4.1",
        )
}

#[derive(Debug)]
struct Gencat;

impl Generator for Gencat {
    fn reads(&self, table: &str) -> &'static [&'static str] {
        match table {
            "nodes" => &["node", "label", "features?"],
            _ => &["src", "dst"],
        }
    }

    fn generate(&self, options: &Options, inputs: &GeneratorInputs, monitor: &dyn Monitor) -> Result<GeneratedGraph> {
        let name = options.text("graph")?.unwrap_or_default().to_owned();
        let generate = || {
            let column = |table: &str, name: &str| {
                let what = format!("{table}.{name}");
                let column = inputs.column(table, name)?.unwrap_or_else(features::nothing);
                KeyColumn::new(&column, &what)
            };
            let (node, src, dst) = (column("nodes", "node")?, column("edges", "src")?, column("edges", "dst")?);
            let _numbers = Reservation::new(monitor, 24 * (node.len() + src.len())).map_err(stopped)?;
            let keys = KeyIndex::new(&[("nodes.node", &node)])?;
            // Rows with a NULL endpoint, or an endpoint that nodes lacks, join nobody with a label.
            let arcs: Vec<(u32, u32)> = keys.arcs(&src, &dst).0;
            let _graph = Reservation::new(monitor, Graph::bytes(keys.len(), arcs.len())).map_err(stopped)?;
            let base = Graph::from_edges(keys.len(), &arcs);

            let mut row_of = vec![None; keys.len()];
            for (row, number) in keys.numbers(&node).into_iter().enumerate() {
                if let Some(number) = number
                    && row_of[number as usize].replace(row).is_some()
                {
                    return Err(execution_error("nodes holds a key twice: node must be unique"));
                }
            }
            let classes = features::classes(inputs, "nodes")?;
            let labels: Vec<Option<u32>> =
                row_of.iter().map(|row| row.and_then(|row| classes.get(row).copied()?)).collect();
            let mut rows = features::dense(inputs, "nodes", monitor)?;
            let ordered = match &mut rows {
                Some(rows) => Some(rows.ordered(&row_of, &labels)?),
                None => None,
            };
            let features = ordered.as_ref().map(|(width, values)| (*width, values.as_slice()));
            let base = BaseGraph { graph: &base, labels: &labels, features };
            to_sql(crate::gencat(base, number(options, "beta")?, seed(options)?, monitor))
        };
        generate().map(graph).map_err(|error| match error {
            DataFusionError::Execution(text) if !text.starts_with(NAME) => {
                execution_error(format!("{NAME}: graph {name}: {text}"))
            }
            error => named(NAME, error),
        })
    }
}
