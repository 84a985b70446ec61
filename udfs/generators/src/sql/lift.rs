//! From a plain function to a generator in SQL.

use std::sync::Arc;

use bonnet_graph::Monitor;
use bonnet_sql::{
    Body, Function, GeneratedGraph, Generator, GeneratorInputs, Options, Parameter, execution_error, named_error,
    stopped,
};
use datafusion::common::{DataFusionError, Result};

use crate::{Error, Generated};

/// A generator by the function that calls it with the options of a statement.
#[derive(Debug)]
struct Lifted {
    name: &'static str,
    generate: fn(&Options, &dyn Monitor) -> Result<Generated>,
}

impl Generator for Lifted {
    fn generate(&self, options: &Options, _: &GeneratorInputs, monitor: &dyn Monitor) -> Result<GeneratedGraph> {
        (self.generate)(options, monitor).map(graph).map_err(|error| named(self.name, error))
    }
}

/// Puts the generator's name in front of an error that lacks it.
pub(super) fn named(name: &str, error: DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::Execution(text) if !text.starts_with(name) => execution_error(format!("{name}: {text}")),
        error => named_error(name, error),
    }
}

pub(super) fn graph(generated: Generated) -> GeneratedGraph {
    let Generated { n_nodes, edges, labels, features } = generated;
    GeneratedGraph { n_nodes, edges, labels, features }
}

pub(super) fn lift(name: &'static str, generate: fn(&Options, &dyn Monitor) -> Result<Generated>) -> Function {
    Function::new(name, Body::Generator(Arc::new(Lifted { name, generate })))
        .returns("src, dst; graph_id in front for a relation of parameters")
}

pub(super) fn to_sql<T>(result: Result<T, Error>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Stopped(reason) => stopped(reason),
        error => execution_error(error.to_string()),
    })
}

/// A count; a negative one is as wrong as none, and the generator says so.
pub(super) fn count(options: &Options, name: &str) -> Result<usize> {
    Ok(options.integer_from(name, 0)?.unwrap_or(0) as usize)
}

pub(super) fn number(options: &Options, name: &str) -> Result<f64> {
    Ok(options.number(name)?.unwrap_or(f64::NAN))
}

pub(super) fn seed(options: &Options) -> Result<u64> {
    Ok(options.integer("seed")?.unwrap_or(0) as u64)
}

pub(super) fn nodes() -> Parameter {
    Parameter::integer("n", "The number of nodes.")
}
