//! From the rows of a graph to what a kernel reads.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, UInt32Array};
use bonnet_graph::{Digraph, Graph, Monitor, Reservation, Stopped};
use bonnet_sql::{Host, InputGraph, OptionValue, Options, Parameter, execution_error, stopped};
use datafusion::common::{DataFusionError, Result};

use super::node_relation::{NodeRelation, NodeRelationRows, WEIGHT};
use crate::{AlgorithmError, Network, RepeatedArc, WeightedArcs};

/// Nodes that an error names.
const SHOWN: usize = 20;

/// The columns and options by which a function reads its edges.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reads {
    /// Whether there is an option `directed`.
    pub(super) directed: bool,
    /// Whether rows are arcs in any case.
    pub(super) arcs: bool,
    /// Whether weights may be negative.
    pub(super) signed: bool,
    /// What a weight means, where there is an option `weights`.
    pub(super) weights: Option<&'static str>,
    /// Whether that option comes after the function's own.
    pub(super) weights_last: bool,
    /// A relation of nodes beside the edges.
    pub(super) chosen: Option<NodeRelation>,
}

impl Reads {
    /// The undirected simple graph alone.
    pub(super) const SIMPLE: Self =
        Self { directed: false, arcs: false, signed: false, weights: None, weights_last: false, chosen: None };
    /// With an option `directed`.
    pub(super) const DIRECTED: Self = Self { directed: true, ..Self::SIMPLE };

    /// The arcs alone.
    pub(super) const ARCS: Self = Self { arcs: true, ..Self::SIMPLE };

    /// With weights of either sign.
    pub(super) const fn signed(self) -> Self {
        Self { signed: true, ..self }
    }

    /// With an option `weights`, whose meaning is given.
    pub(super) const fn weights(self, meaning: &'static str) -> Self {
        Self { weights: Some(meaning), ..self }
    }

    /// With an option `weights` after the function's own.
    pub(super) const fn weights_last(self, meaning: &'static str) -> Self {
        Self { weights_last: true, ..self.weights(meaning) }
    }

    /// With a relation of nodes.
    pub(super) const fn choosing(self, chosen: NodeRelation) -> Self {
        Self { chosen: Some(chosen), ..self }
    }

    /// The options of reading and those of the function, in their order.
    pub(super) fn parameters(self, own: impl IntoIterator<Item = Parameter>) -> impl Iterator<Item = Parameter> {
        let directed =
            self.directed.then(|| Parameter::boolean("directed", false, "Whether rows are arcs: src to dst."));
        let weights = self.weights.map(|meaning| Parameter::boolean("weights", false, meaning));
        let (first, last) = if self.weights_last { (None, weights) } else { (weights, None) };
        directed.into_iter().chain(first).chain(own).chain(last)
    }
}

/// The reading of edges that a call asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) directed: bool,
    pub(super) weights: bool,
    pub(super) signed: bool,
}

impl Reading {
    pub(super) fn new(reads: Reads, options: &Options) -> Result<Self> {
        let on = |name| Ok::<_, DataFusionError>(options.boolean(name)?.unwrap_or(false));
        Ok(Self { directed: reads.arcs || on("directed")?, weights: on("weights")?, signed: reads.signed })
    }

    /// The options with the name of the column of weights, as `GraphInput::bind_weighted` and edge functions take it.
    pub(super) fn weight_option(self, options: &Options) -> Options {
        let mut options = options.clone();
        if self.weights {
            options.insert(WEIGHT, OptionValue::Text(WEIGHT.to_owned()));
        }
        options
    }
}

/// Why a call failed: by the algorithm or by the engine.
#[derive(Debug)]
pub(super) enum Failure {
    Algorithm(AlgorithmError),
    Engine(DataFusionError),
}

impl Failure {
    /// The error of the call of `function` about `graph`.
    pub(super) fn error(self, function: &str, graph: &InputGraph) -> DataFusionError {
        match self {
            Self::Algorithm(AlgorithmError::Stopped(reason)) => stopped(reason),
            Self::Algorithm(AlgorithmError::Nodes { text, nodes }) => {
                // The first of many say enough.
                let shown =
                    nodes.iter().take(SHOWN).map(|&node| graph.keys.describe(node)).collect::<Vec<_>>().join(", ");
                let more = nodes.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                graph.context(execution_error(format!("{function}: {text}: {shown}{more}")))
            }
            Self::Algorithm(error) => graph.context(execution_error(format!("{function}: {error}"))),
            Self::Engine(error) => error,
        }
    }
}

impl From<AlgorithmError> for Failure {
    fn from(error: AlgorithmError) -> Self {
        Self::Algorithm(error)
    }
}

impl From<Stopped> for Failure {
    fn from(reason: Stopped) -> Self {
        Self::Algorithm(reason.into())
    }
}

/// An error of a graph or an option, for a [`Failure`].
pub(super) fn wrong<T>(text: String) -> Result<T, Failure> {
    Err(Failure::Algorithm(AlgorithmError::Input(text)))
}

/// One graph of a call.
pub(super) struct GraphCall<'a> {
    /// The keys and rows of the graph.
    pub(super) graph: &'a InputGraph,
    /// The nodes that the call names, with their values, where the function takes some.
    pub(super) chosen: Option<&'a [(u32, f64)]>,
    /// The pairs that the call names, where the function takes some.
    pub(super) pairs: Option<&'a [(u32, u32)]>,
    pub(super) host: &'a Host,
    reading: Reading,
}

impl<'a> GraphCall<'a> {
    pub(super) fn new(graph: &'a InputGraph, reading: Reading, host: &'a Host) -> Self {
        Self { graph, chosen: None, pairs: None, host, reading }
    }

    pub(super) fn choosing(self, chosen: Option<&'a NodeRelationRows>) -> Self {
        match chosen {
            Some(NodeRelationRows::Nodes(nodes)) => Self { chosen: Some(nodes), ..self },
            Some(NodeRelationRows::Pairs(pairs)) => Self { pairs: Some(pairs), ..self },
            None => self,
        }
    }

    /// The undirected simple graph of the rows.
    pub(super) fn simple(&self) -> Result<&'a Graph, Failure> {
        self.graph.graph().map_err(Failure::Engine)
    }

    /// Whether the call wants rows read as arcs.
    pub(super) fn directed(&self) -> bool {
        self.reading.directed
    }

    /// The rows as arcs, without loops and repeats, whatever the call wants; and the memory reserved for them.
    pub(super) fn digraph(&self) -> Result<(Arc<Digraph>, Option<Reservation<'a>>), Failure> {
        let (n, arcs) = (self.graph.n_nodes(), self.graph.arcs());
        self.part(Digraph::bytes(n, arcs.len()), Digraph::resident_bytes, || Ok(Digraph::from_arcs(n, arcs)))
    }

    /// What is made of the graph, cached with it; making it takes `scratch` bytes, which are reserved as long as the
    /// second value is there.
    fn part<T: Send + Sync + 'static>(
        &self,
        scratch: usize,
        bytes: fn(&T) -> usize,
        build: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<(Arc<T>, Option<Reservation<'a>>), Failure> {
        let mut reserved = None;
        let part = self.graph.part(bytes, || {
            reserved = Some(Reservation::new(self.host, scratch)?);
            build()
        })?;
        Ok((part, reserved))
    }

    /// Runs a kernel on the graph as the call wants it read.
    pub(super) fn with_network<T, E: Into<Failure>>(
        &self,
        kernel: impl FnOnce(Network<'_>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let kernel = |network: Network<'_>| kernel(network).map_err(Into::into);
        match (self.reading.weights, self.reading.directed) {
            (false, false) => kernel(Network::undirected(self.simple()?)),
            (false, true) => {
                let (graph, _reservation) = self.digraph()?;
                kernel(Network::of_arcs(&graph))
            }
            (true, directed) => {
                let (n, arcs, weights) = (self.graph.n_nodes(), self.graph.arcs(), self.weights()?);
                let rows = arcs.iter().zip(weights).map(|(&(u, v), &weight)| (u, v, weight));
                let scratch = 2 * WeightedArcs::bytes(n, if directed { 1 } else { 2 } * arcs.len());
                if directed {
                    let (arcs, _reservation) = self.part(scratch, BothWays::bytes, || {
                        let out = WeightedArcs::new(n, rows).map_err(|repeated| self.repeated(repeated))?;
                        Ok(BothWays { into: out.reversed(), out })
                    })?;
                    return kernel(Network::weighted(&arcs.out, Some(&arcs.into)));
                }
                let (edges, _reservation) = self.part(scratch, WeightedArcs::resident_bytes, || {
                    let both = rows.flat_map(|(u, v, weight)| [(u, v, weight), (v, u, weight)]);
                    WeightedArcs::new(n, both).map_err(|repeated| self.repeated(repeated))
                })?;
                kernel(Network::weighted(&edges, None))
            }
        }
    }

    /// The weights of the rows, checked.
    fn weights(&self) -> Result<&'a [f64], Failure> {
        let Some(weights) = self.graph.weights() else {
            return wrong(format!("there is no column {WEIGHT}"));
        };
        // Of both arcs of each edge, and as much again for what is computed of the sum.
        let mut total = 0.0;
        for (row, &(u, v)) in self.graph.arcs().iter().enumerate() {
            let found = match weights.is_valid(row) {
                false => "no weight".to_owned(),
                true if weights.value(row).is_finite() && (self.reading.signed || weights.value(row) >= 0.0) => {
                    total += 4.0 * weights.value(row).abs();
                    continue;
                }
                true => format!("the weight {}", weights.value(row)),
            };
            let edge = self.edge((u, v));
            let least = if self.reading.signed { "" } else { " of at least 0" };
            return wrong(format!("{edge} has {found}: a weight is a finite number{least}"));
        }
        if !total.is_finite() {
            return wrong(
                "the sum of the weights is beyond a DOUBLE: give them in a larger unit, (SELECT src, dst, weight / 1e100 AS \
                 weight FROM ...)"
                    .to_owned(),
            );
        }
        Ok(weights.values())
    }

    fn repeated(&self, RepeatedArc { ends, weights: (a, b) }: RepeatedArc) -> Failure {
        let edge = self.edge(ends);
        Failure::Algorithm(AlgorithmError::Input(format!(
            "{edge} is there more than once, with the weights {a} and {b}: keep one row of it, or one weight, e.g. \
             (SELECT src, dst, sum(weight) AS weight FROM ... GROUP BY src, dst)"
        )))
    }

    fn edge(&self, (u, v): (u32, u32)) -> String {
        format!("the edge ({}, {})", self.graph.keys.describe(u), self.graph.keys.describe(v))
    }
}

/// Weighted arcs by where they leave and by where they arrive.
struct BothWays {
    out: WeightedArcs,
    into: WeightedArcs,
}

impl BothWays {
    fn bytes(&self) -> usize {
        self.out.resident_bytes() + self.into.resident_bytes()
    }
}

/// A column of numbers.
pub(super) fn doubles(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

/// A column of numbers with NULL for NaN.
pub(super) fn defined(values: Vec<f64>) -> ArrayRef {
    Arc::new(values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect::<Float64Array>())
}

/// A column of counts.
pub(super) fn counts<T: TryInto<i64> + Copy>(values: &[T]) -> Result<ArrayRef, Failure> {
    let values = values.iter().map(|&value| value.try_into().ok()).collect::<Option<Vec<i64>>>();
    match values {
        Some(values) => Ok(Arc::new(Int64Array::from(values))),
        None => wrong("a count does not fit BIGINT".to_owned()),
    }
}

/// A column of truth values.
pub(super) fn booleans(values: Vec<bool>) -> ArrayRef {
    Arc::new(BooleanArray::from(values))
}

/// A column of nodes by their numbers, which the answer shows by their keys.
pub(super) fn nodes(values: Vec<u32>) -> ArrayRef {
    Arc::new(UInt32Array::from(values))
}

/// Whether the host goes on.
pub(super) fn check(host: &Host) -> Result<()> {
    host.check().map_err(stopped)
}
