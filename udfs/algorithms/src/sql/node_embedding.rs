//! `node_embedding(edges [, nodes => relation] [, method => 'node2vec'] [, dim => 128] ...)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use bonnet_graph::Reservation;
use bonnet_sql::{Function, OptionValue, Options, Parameter, usage_error};
use datafusion::common::Result;

use super::network::{Failure, GraphCall, Reads, wrong};
use super::relation::{Answer, node_function};
use crate::{SkipGramOptions, WalkOptions, adjacency_svd, laplacian_eigenvectors, walk_embedding};

const NAME: &str = "node_embedding";

/// Rounds of power iteration where none are asked for.
const ROUNDS: i64 = 8;

/// Options of walks and of the model over them.
const OF_WALKS: [&str; 6] = ["walks", "length", "window", "negatives", "epochs", "rate"];

/// How vectors are made, with what it takes.
#[derive(Debug, Clone)]
enum Method {
    Walks(WalkOptions, SkipGramOptions),
    Spectral { dimension: usize },
    Svd { dimension: usize, rounds: usize, seed: u64 },
}

/// The registration.
pub fn node_embedding() -> Function {
    // Those of some methods alone have no default that is filled in, so that one that has no meaning is refused.
    let options = [
        Parameter::text("method", "node2vec, deepwalk, spectral or svd.").or(OptionValue::Text("node2vec".to_owned())),
        Parameter::integer("dim", "The length of the vectors.")
            .or(OptionValue::Integer(SkipGramOptions::default().dimension as i64)),
        Parameter::number("p", "Of node2vec: going straight back counts 1 / p times; 1 by default.").optional(),
        Parameter::number(
            "q",
            "Of node2vec: going where the last node has no arc to counts 1 / q times; 1 by default.",
        )
        .optional(),
        Parameter::integer("walks", "Of node2vec and deepwalk: walks from each node; 10 by default.").optional(),
        Parameter::integer("length", "Of both: steps of a walk; 80 by default.").optional(),
        Parameter::integer(
            "window",
            "Of both: nodes at most so many steps apart are a pair; how many, is drawn for each node. 10 by default.",
        )
        .optional(),
        Parameter::integer("negatives", "Of both: nodes drawn as noise for each pair; 5 by default.").optional(),
        Parameter::integer("epochs", "Of both: how often all walks are passed through; 1 by default.").optional(),
        Parameter::number("rate", "Of both: the rate of learning at first, which falls to nothing; 0.025 by default.")
            .optional(),
        Parameter::integer("rounds", "Of svd: rounds of power iteration; 8 by default.").optional(),
        Parameter::seed(),
    ];
    let reads = Reads::DIRECTED.weights(
        "Whether the column weight counts: steps of walks are by chance in proportion to it, and svd is of the matrix of \
         weights.",
    );
    node_function(NAME, reads, options, bind)
        .returns("node, embedding (FLOAT[]); graph_id in front where edges have it")
        .description(
            "A vector for every node, by which near or alike nodes are near. node2vec and deepwalk: those of a skip-gram model with \
             negative sampling over random walks (random_walks), p and q of node2vec alone; O(nodes x walks x length x window x \
             negatives x dim) an epoch; the same for a seed at any number of threads, as large graphs are trained in up to 16 parts \
             that share no vector. A node without edges keeps the vector that it began with. spectral: the eigenvectors of \
             positional_encoding's 'laplacian', of the undirected simple graph. svd: the rows of U sqrt(S) for the largest singular \
             values of the adjacency matrix, by random projection: exact where dim is near the number of nodes, else the closer the \
             more rounds; the first entry of a vector that is not 0 is positive.",
        )
        .example(
            "SELECT node, embedding FROM node_embedding(karate.edges, method => 'svd', dim => 2) ORDER BY node LIMIT 3",
        )
        .source(
            "Grover and Leskovec, node2vec (2016); Perozzi et al., DeepWalk (2014); Mikolov et al., Distributed representations of \
             words and phrases (2013); Zhu et al., GraphVite (2019); Sussman et al., A consistent adjacency spectral embedding (2012); \
             Halko et al., Finding structure with randomness (2011)",
        )
}

/// Fails where an option is given that the method does not have.
fn refuse(options: &Options, method: &str, names: &[&str]) -> Result<()> {
    for name in names {
        if options.get(name).is_some() {
            return usage_error(format!("{name} has no meaning with method => '{method}': leave it out"));
        }
    }
    Ok(())
}

fn bind(options: &Options) -> Result<Answer> {
    let (walks, model) = (WalkOptions::default(), SkipGramOptions::default());
    let at_least_one = |name: &str, default: usize| -> Result<usize> {
        Ok(options.integer_from(name, 1)?.map_or(default, |value| value as usize))
    };
    let dimension = at_least_one("dim", model.dimension)?;
    let seed = options.integer("seed")?.unwrap_or(0) as u64;
    let name = options.text("method")?.unwrap_or("node2vec");
    let method = match name {
        "node2vec" | "deepwalk" => {
            refuse(options, name, &["rounds"])?;
            if name == "deepwalk" {
                refuse(options, name, &["p", "q"])?;
            }
            let walks = WalkOptions {
                walks: at_least_one("walks", walks.walks)?,
                length: at_least_one("length", walks.length)?,
                p: options.number("p")?.unwrap_or(walks.p),
                q: options.number("q")?.unwrap_or(walks.q),
                seed,
            };
            let model = SkipGramOptions {
                dimension,
                window: at_least_one("window", model.window)?,
                negatives: at_least_one("negatives", model.negatives)?,
                epochs: at_least_one("epochs", model.epochs)?,
                rate: options.number("rate")?.unwrap_or(model.rate),
                seed,
            };
            if let Err(error) = walks.validate().and_then(|()| model.validate()) {
                return usage_error(error.to_string());
            }
            Method::Walks(walks, model)
        }
        "spectral" | "svd" => {
            refuse(options, name, &OF_WALKS)?;
            refuse(options, name, &["p", "q"])?;
            if name == "spectral" {
                refuse(options, name, &["rounds"])?;
                for reading in ["directed", "weights"] {
                    if options.boolean(reading)?.unwrap_or(false) {
                        return usage_error(format!(
                            "{reading} has no meaning with method => 'spectral', which is of the undirected simple graph"
                        ));
                    }
                }
                Method::Spectral { dimension }
            } else {
                let rounds = options.integer_from("rounds", 0)?.unwrap_or(ROUNDS) as usize;
                Method::Svd { dimension, rounds, seed }
            }
        }
        other => {
            return usage_error(format!("method => '{other}': expected one of node2vec, deepwalk, spectral, svd"));
        }
    };
    let item = Arc::new(Field::new("item", DataType::Float32, true));
    let field = Field::new("embedding", DataType::List(Arc::clone(&item)), true);
    Ok(Answer::new(vec![field], move |call| {
        let n = call.graph.n_nodes();
        if i32::try_from(n.saturating_mul(dimension)).is_err() {
            return wrong(format!("dim => {dimension}: {n} vectors of it are more than a column of lists holds"));
        }
        let _reservation = Reservation::new(call.host, 4 * n * (dimension + 1))?;
        let numbers = Arc::new(Float32Array::from(vectors(&method, call)?));
        let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(dimension, n));
        Ok(vec![Arc::new(ListArray::new(Arc::clone(&item), offsets, numbers, None)) as ArrayRef])
    }))
}

fn vectors(method: &Method, call: &GraphCall<'_>) -> Result<Vec<f32>, Failure> {
    let narrow = |values: Vec<f64>| values.into_iter().map(|x| x as f32).collect();
    match method {
        Method::Walks(walks, model) => call.with_network(|network| walk_embedding(network, walks, model, call.host)),
        Method::Spectral { dimension } => Ok(narrow(laplacian_eigenvectors(call.simple()?, *dimension, call.host)?)),
        Method::Svd { dimension, rounds, seed } => {
            Ok(narrow(call.with_network(|network| adjacency_svd(network, *dimension, *rounds, *seed, call.host))?))
        }
    }
}
