//! The descriptors of a graph as aggregates: `degree_histogram(src, dst)` and the like, `curvature_histogram(value, ...)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, StringArray};
use arrow::datatypes::{DataType, Field, Float64Type};
use bonnet_graph::{Graph, Monitor, Reservation, Stopped};
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, KeyColumn, KeyIndex, Options, Parameter, execution_error,
    stopped, usage_error,
};
use datafusion::common::{Result, ScalarValue};

use crate::{Histogram, clustering_histogram, degree_histogram, laplacian_spectrum, mean_orbit_counts};

const GRAN: &str =
    "Liao et al., Efficient Graph Generation with Graph Recurrent Attention Networks (NeurIPS 2019), Sec. 4";

/// The registrations.
pub fn functions() -> Vec<Function> {
    let of_edges = |name: &'static str, kernel: Kernel| {
        Function::new(name, Body::Aggregate(Arc::new(OfEdges { name, kernel })))
            .parameters([
                Parameter::column("src", "One end of the edge: integers or text."),
                Parameter::column("dst", "The other end."),
            ])
            .returns("DOUBLE[]")
    };
    vec![
        of_edges("degree_histogram", |graph, _| Ok(degree_histogram(graph)))
            .description(
                "The share of nodes of degree 0, 1, 2, ..., up to the largest degree (so the share of degree d stands at \
                 d + 1). Nodes are the ends of the rows; a row src = dst adds a node without edges. Rows with a NULL end do \
                 not count; no rows give NULL.",
            )
            .example("SELECT degree_histogram(src, dst) FROM karate.edges")
            .source(GRAN),
        of_edges("clustering_histogram", clustering_histogram)
            .description(
                "The share of nodes whose local clustering coefficient lies in each of 100 equal bins of [0, 1], the last \
                 one closed; degrees 0 and 1 have the coefficient 0. Nodes as for degree_histogram; no rows give NULL.",
            )
            .example("SELECT clustering_histogram(src, dst)[100] AS cliques FROM karate.edges")
            .source(GRAN),
        of_edges("laplacian_spectrum", laplacian_spectrum)
            .description(
                "The share of eigenvalues of the normalised Laplacian in each of 200 equal bins of [0, 2], the last one \
                 closed; an eigenvalue on a border (such as 1) counts in the upper bin. O(n^3) time and 8 n^2 bytes for the \
                 largest component of n nodes. Nodes as for degree_histogram; no rows give NULL.",
            )
            .example("SELECT laplacian_spectrum(src, dst)[1] AS near_zero FROM karate.edges")
            .source(GRAN),
        of_edges("orbit_counts", |graph, monitor| Ok(mean_orbit_counts(graph, monitor)?.to_vec()))
            .description(
                "For each of the 15 orbits of connected graphs of 2 to 4 nodes, how many induced subgraphs a node plays that \
                 part in, as the mean over nodes: 0 edge; 1, 2 end and middle of a path of 3; 3 triangle; 4, 5 end and middle \
                 of a path of 4; 6, 7 leaf and centre of a star; 8 cycle of 4; 9, 10, 11 tail, far corners and joint of a \
                 triangle with a tail; 12, 13 nodes of degree 2 and 3 of a cycle with a chord; 14 complete graph of 4 \
                 (orbit o stands at o + 1). Exact counts. Nodes as for degree_histogram; no rows give NULL.",
            )
            .example("SELECT orbit_counts(src, dst)[4] AS triangles FROM karate.edges")
            .source("Przulj 2007 (orbits); Hocevar and Demsar 2014 (counting by equations)"),
        Function::new("curvature_histogram", Body::Aggregate(Arc::new(OfValues)))
            .parameters([
                Parameter::number_column("value", "The value of an edge."),
                Parameter::integer("bins", "The number of equal bins, at least 1."),
                Parameter::number("low", "Where the first bin starts."),
                Parameter::number("high", "Where the last bin ends."),
            ])
            .returns("DOUBLE[]")
            .description(
                "The share of values in each of so many equal bins from low to high; a value on a border counts in the upper \
                 bin, values below low count in the first bin and values above high in the last. NULL values do not count, \
                 NaN is an error; no values give NULL.",
            )
            .example(
                "SELECT curvature_histogram(forman_ricci, 10, -20, 5) AS shares FROM (SELECT * FROM forman_ricci(karate.edges))",
            )
            .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.3"),
    ]
}

type Kernel = fn(&Graph, &dyn Monitor) -> Result<Vec<f64>, Stopped>;

/// `DOUBLE[]`.
pub(super) fn vector_type() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Float64, true)))
}

/// A vector as a value; NULL for none.
pub(super) fn vector(values: Option<Vec<f64>>) -> ScalarValue {
    let list = ListArray::from_iter_primitive::<Float64Type, _, _>([values.map(|v| v.into_iter().map(Some))]);
    ScalarValue::List(Arc::new(list))
}

/// A descriptor of the graph that the rows are the edges of.
#[derive(Debug)]
struct OfEdges {
    name: &'static str,
    kernel: Kernel,
}

impl AggregateFunction for OfEdges {
    fn data_type(&self) -> DataType {
        vector_type()
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Edges { name: self.name, kernel: self.kernel, ends: Ends::None }))
    }

    fn heavy(&self) -> bool {
        true
    }
}

/// The ends of the rows so far: src and dst in turn.
#[derive(Debug)]
enum Ends {
    None,
    Integers(Vec<i64>),
    /// One text after the other, and where each ends.
    Texts(String, Vec<usize>),
}

#[derive(Debug)]
struct Edges {
    name: &'static str,
    kernel: Kernel,
    ends: Ends,
}

impl Edges {
    fn push_integers(&mut self, keys: impl Iterator<Item = i64>) -> Result<()> {
        let mut keys = keys.peekable();
        match &mut self.ends {
            _ if keys.peek().is_none() => {}
            Ends::None => self.ends = Ends::Integers(keys.collect()),
            Ends::Integers(ends) => ends.extend(keys),
            Ends::Texts(..) => return self.mixed(),
        }
        Ok(())
    }

    fn push_texts<'a>(&mut self, keys: impl Iterator<Item = &'a str>) -> Result<()> {
        let mut keys = keys.peekable();
        if keys.peek().is_none() {
            return Ok(());
        }
        if let Ends::None = self.ends {
            self.ends = Ends::Texts(String::new(), Vec::new());
        }
        let Ends::Texts(text, ends) = &mut self.ends else { return self.mixed() };
        for key in keys {
            text.push_str(key);
            ends.push(text.len());
        }
        Ok(())
    }

    fn mixed<T>(&self) -> Result<T> {
        usage_error(format!("{}: src and dst mix integers and text: cast them to one type", self.name))
    }

    /// The keys of src and of dst.
    fn columns(&self) -> [KeyColumn; 2] {
        [0, 1].map(|side| match &self.ends {
            Ends::None => KeyColumn::Integer(Int64Array::from(Vec::<i64>::new())),
            Ends::Integers(ends) => {
                KeyColumn::Integer(Int64Array::from_iter_values(ends.iter().skip(side).step_by(2).copied()))
            }
            Ends::Texts(text, ends) => {
                let key = |i: usize| &text[if i == 0 { 0 } else { ends[i - 1] }..ends[i]];
                KeyColumn::Text(StringArray::from_iter_values((side..ends.len()).step_by(2).map(key)))
            }
        })
    }
}

impl AggregateState for Edges {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        match (KeyColumn::new(&columns[0], "src")?, KeyColumn::new(&columns[1], "dst")?) {
            (KeyColumn::Integer(src), KeyColumn::Integer(dst)) => {
                let rows = src.iter().zip(&dst).filter_map(|(src, dst)| Some([src?, dst?]));
                self.push_integers(rows.flatten())
            }
            (KeyColumn::Text(src), KeyColumn::Text(dst)) => {
                let rows = src.iter().zip(&dst).filter_map(|(src, dst)| Some([src?, dst?]));
                self.push_texts(rows.flatten())
            }
            (src, dst) => {
                // A column of NULLs agrees with either form.
                let nulls = |column: &KeyColumn| match column {
                    KeyColumn::Integer(keys) => keys.null_count() == keys.len(),
                    KeyColumn::Text(keys) => keys.null_count() == keys.len(),
                };
                if nulls(&src) || nulls(&dst) { Ok(()) } else { self.mixed() }
            }
        }
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        match bytes.split_first() {
            Some((0, [])) => Ok(()),
            Some((1, rest)) => self.push_integers(rest.as_chunks::<8>().0.iter().map(|key| i64::from_le_bytes(*key))),
            Some((2, rest)) => {
                let texts: Vec<String> = serde_json::from_slice(rest).map_err(|_| damaged(self.name))?;
                self.push_texts(texts.iter().map(String::as_str))
            }
            _ => Err(damaged(self.name)),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match &self.ends {
            Ends::None => vec![0],
            Ends::Integers(ends) => std::iter::once(1).chain(ends.iter().flat_map(|end| end.to_le_bytes())).collect(),
            Ends::Texts(text, ends) => {
                let mut start = 0;
                let keys: Vec<&str> = ends
                    .iter()
                    .map(|&end| {
                        let key = &text[start..end];
                        start = end;
                        key
                    })
                    .collect();
                let mut bytes = vec![2];
                bytes.extend(serde_json::to_vec(&keys).expect("texts become JSON"));
                bytes
            }
        }
    }

    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue> {
        if let Ends::None = self.ends {
            return Ok(vector(None));
        }
        // Columns, numbers and pairs: about 40 bytes a row; then the graph.
        let rows = match &self.ends {
            Ends::None => 0,
            Ends::Integers(ends) => ends.len() / 2,
            Ends::Texts(_, ends) => ends.len() / 2,
        };
        let _held = Reservation::new(monitor, 40 * rows + Graph::bytes(2 * rows, rows)).map_err(stopped)?;
        let [src, dst] = self.columns();
        let keys = KeyIndex::new(&[("src", &src), ("dst", &dst)])?;
        let edges: Vec<(u32, u32)> =
            keys.numbers(&src).into_iter().zip(keys.numbers(&dst)).filter_map(|(u, v)| Some((u?, v?))).collect();
        let graph = Graph::from_edges(keys.len(), &edges);
        drop(edges);
        (self.kernel)(&graph, monitor).map(|values| vector(Some(values))).map_err(stopped)
    }

    fn size(&self) -> usize {
        match &self.ends {
            Ends::None => 0,
            Ends::Integers(ends) => 8 * ends.capacity(),
            Ends::Texts(text, ends) => text.capacity() + 8 * ends.capacity(),
        }
    }
}

pub(super) fn damaged(name: &str) -> datafusion::common::DataFusionError {
    execution_error(format!("{name}: a partition's state is damaged"))
}

const HISTOGRAM: &str = "curvature_histogram";

/// The histogram of a group's values.
#[derive(Debug)]
struct OfValues;

impl AggregateFunction for OfValues {
    fn data_type(&self) -> DataType {
        vector_type()
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        let bins = options.integer_from("bins", 0)?.unwrap_or(0) as usize;
        let number =
            |name: &str| Ok::<_, datafusion::common::DataFusionError>(options.number(name)?.unwrap_or(f64::NAN));
        match Histogram::new(bins, number("low")?, number("high")?) {
            Ok(histogram) => Ok(Box::new(Values(histogram))),
            Err(error) => usage_error(format!("{HISTOGRAM}: {error}")),
        }
    }
}

#[derive(Debug)]
struct Values(Histogram);

impl AggregateState for Values {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let mut values = columns[0].as_primitive::<Float64Type>().iter().flatten();
        values.try_for_each(|value| self.0.add(value)).map_err(|error| execution_error(format!("{HISTOGRAM}: {error}")))
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let counts: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|count| u64::from_le_bytes(*count)).collect();
        if counts.len() != self.0.counts().len() {
            return Err(damaged(HISTOGRAM));
        }
        self.0.add_counts(&counts);
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.counts().iter().flat_map(|count| count.to_le_bytes()).collect()
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(vector(self.0.shares()))
    }

    fn size(&self) -> usize {
        8 * self.0.counts().len()
    }
}
