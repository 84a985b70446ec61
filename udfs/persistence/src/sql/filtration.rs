//! `persistence_diagram(src, dst, value)` and `vertex_persistence_diagram(src, dst, src_value, dst_value)`.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Graph, Monitor, Reservation};
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, KeyColumn, KeyIndex, OptionValue, Options, Parameter,
    execution_error, stopped, usage_error,
};
use datafusion::common::{Result, ScalarValue};
use rayon::prelude::*;

use super::bytes::{Reader, Writer};
use super::columns::{diagram_array, diagram_type};
use crate::{Complex, Direction, Essential, FiltrationError, FiltrationOptions, Point, Vertices};

const EDGES: &str = "persistence_diagram";
const VERTICES: &str = "vertex_persistence_diagram";

fn ends() -> [Parameter; 2] {
    [Parameter::column("src", "One end of the edge: integers or text."), Parameter::column("dst", "The other end.")]
}

fn expand() -> Parameter {
    Parameter::integer(
        "expand",
        "1: the graph alone. 2: with every triangle, from its last edge on (the clique complex up to dimension 2).",
    )
    .or(OptionValue::Integer(1))
}

fn essential_and_direction() -> [Parameter; 2] {
    [
        Parameter::text(
            "essential",
            "What becomes of classes that never die: 'infinite', their death is infinite; 'max', they die at the last value \
             of the filtration; 'drop', they are left out.",
        )
        .or(OptionValue::Text("infinite".to_owned())),
        Parameter::text("direction", "'sublevel': small values first; 'superlevel': large values first.")
            .or(OptionValue::Text("sublevel".to_owned())),
    ]
}

/// The registration.
pub(super) fn persistence_diagram() -> Function {
    Function::new(EDGES, Body::Aggregate(Arc::new(ByEdges)))
        .parameters(
            ends()
                .into_iter()
                .chain([
                    Parameter::number_column("value", "The value of the edge: finite, and one for each edge."),
                    expand(),
                    Parameter::number_or_text(
                        "vertices",
                        "When a vertex enters: 'first_edge', with its first edge; 'lowest', with the first edge of the \
                         graph; or a number, at that value. A vertex never enters after its edges.",
                    )
                    .or(OptionValue::Text("first_edge".to_owned())),
                ])
                .chain(essential_and_direction()),
        )
        .returns("LIST of {dim, birth, death}")
        .description(
            "The persistence diagram of a graph filtered by the values of its edges, in dimension 0 (components) and 1 \
             (cycles), over the field of two elements, ordered by dim, birth, death; classes of length zero are left out. \
             Direction and repeats of an edge are ignored, but an edge with two values is an error; a loop's row only says \
             that its node is there. Rows with a NULL do not count; no rows give NULL. Along a superlevel filtration deaths \
             lie below births.",
        )
        .example("SELECT persistence_diagram(src, dst, abs(src - dst), expand => 2) AS diagram FROM karate.edges")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 2.2")
}

/// The registration.
pub(super) fn vertex_persistence_diagram() -> Function {
    Function::new(VERTICES, Body::Aggregate(Arc::new(ByVertices)))
        .parameters(
            ends()
                .into_iter()
                .chain([
                    Parameter::number_column("src_value", "The value of the node at src: finite, one for each node."),
                    Parameter::number_column("dst_value", "The value of the node at dst."),
                    expand(),
                ])
                .chain(essential_and_direction()),
        )
        .returns("LIST of {dim, birth, death}")
        .description(
            "The persistence diagram of a graph filtered by the values of its nodes: an edge or a triangle enters with the \
             last of its nodes. Otherwise as persistence_diagram; a row with src = dst puts in a node without edges. A node \
             with two values is an error.",
        )
        .example("SELECT vertex_persistence_diagram(src, dst, src, dst) AS diagram FROM karate.edges")
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), App. B.1")
}

fn options(function: &str, options: &Options) -> Result<FiltrationOptions> {
    let one_of = |name: &str, words: &[&str]| {
        let given = options.text(name)?.unwrap_or(words[0]);
        match words.iter().position(|word| word.eq_ignore_ascii_case(given)) {
            Some(position) => Ok(position),
            None => usage_error(format!("{function}: {name} => '{given}': expected one of '{}'", words.join("', '"))),
        }
    };
    let complex = match options.integer("expand")? {
        None | Some(1) => Complex::Graph,
        Some(2) => Complex::Triangles,
        Some(other) => {
            return usage_error(format!("{function}: expand => {other}: expected 1 (the graph) or 2 (with triangles)"));
        }
    };
    let vertices = match options.get("vertices") {
        Some(OptionValue::Number(value)) if value.is_finite() => Vertices::At(*value),
        Some(OptionValue::Number(value)) => {
            return usage_error(format!("{function}: vertices => {value}: expected a finite number"));
        }
        _ => [Vertices::FirstEdge, Vertices::Lowest][one_of("vertices", &["first_edge", "lowest"])?],
    };
    Ok(FiltrationOptions {
        complex,
        vertices,
        essential: [Essential::Infinite, Essential::Max, Essential::Drop]
            [one_of("essential", &["infinite", "max", "drop"])?],
        direction: [Direction::Sublevel, Direction::Superlevel][one_of("direction", &["sublevel", "superlevel"])?],
    })
}

#[derive(Debug)]
struct ByEdges;

impl AggregateFunction for ByEdges {
    fn data_type(&self) -> DataType {
        diagram_type()
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn state(&self, given: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Rows::new(EDGES, 1, options(EDGES, given)?, diagram_by_edges)))
    }

    fn values(&self, states: &[Box<dyn AggregateState>], monitor: &dyn Monitor) -> Option<Result<ArrayRef>> {
        diagrams(states, monitor)
    }
}

#[derive(Debug)]
struct ByVertices;

impl AggregateFunction for ByVertices {
    fn data_type(&self) -> DataType {
        diagram_type()
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn state(&self, given: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Rows::new(VERTICES, 2, options(VERTICES, given)?, diagram_by_vertices)))
    }

    fn values(&self, states: &[Box<dyn AggregateState>], monitor: &dyn Monitor) -> Option<Result<ArrayRef>> {
        diagrams(states, monitor)
    }
}

/// The ends of the rows, as they came.
#[derive(Debug)]
enum Ends {
    /// No row yet.
    None,
    Integers(Vec<i64>),
    /// Each text once, and its numbers.
    Texts {
        texts: Vec<String>,
        numbers: HashMap<String, i64>,
        ends: Vec<i64>,
    },
}

/// The rows of a graph with a value or two each.
#[derive(Debug)]
struct Rows {
    function: &'static str,
    /// The values of a row.
    width: usize,
    options: FiltrationOptions,
    diagram: Diagram,
    /// Two a row.
    ends: Ends,
    /// `width` a row.
    values: Vec<f64>,
}

/// The kernel: rows with the number of nodes and the ends by their numbers.
type Diagram = fn(&Rows, usize, &[(u32, u32)], &dyn Monitor) -> Result<Vec<Point>, RowsError>;

/// Why the rows have no diagram: by the numbers of nodes.
enum RowsError {
    Filtration(FiltrationError),
    /// A node has two values.
    TwoValues(u32, f64, f64),
}

impl From<FiltrationError> for RowsError {
    fn from(error: FiltrationError) -> Self {
        Self::Filtration(error)
    }
}

fn diagram_by_edges(
    rows: &Rows,
    n: usize,
    edges: &[(u32, u32)],
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, RowsError> {
    Ok(crate::persistence_diagram(n, edges, &rows.values, &rows.options, monitor)?)
}

fn diagram_by_vertices(
    rows: &Rows,
    n: usize,
    edges: &[(u32, u32)],
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, RowsError> {
    // NaN for a node without a value so far; every node has one in the end.
    let mut values = vec![f64::NAN; n];
    for (&(src, dst), pair) in edges.iter().zip(rows.values.chunks_exact(2)) {
        for (node, &value) in [src, dst].into_iter().zip(pair) {
            let held = &mut values[node as usize];
            if !value.is_finite() {
                return Err(FiltrationError::NodeNotFinite { node, value }.into());
            }
            if *held != value && !held.is_nan() {
                return Err(RowsError::TwoValues(node, held.min(value), held.max(value)));
            }
            *held = value;
        }
    }
    let _room = Reservation::new(monitor, Graph::bytes(n, edges.len())).map_err(FiltrationError::from)?;
    let graph = Graph::from_edges(n, edges);
    Ok(crate::vertex_persistence_diagram(&graph, &values, &rows.options, monitor)?)
}

impl Rows {
    fn new(function: &'static str, width: usize, options: FiltrationOptions, diagram: Diagram) -> Self {
        Self { function, width, options, diagram, ends: Ends::None, values: Vec::new() }
    }

    fn add_integers(&mut self, count: usize, added: impl IntoIterator<Item = i64>) -> Result<()> {
        if matches!(self.ends, Ends::None) {
            self.ends = Ends::Integers(Vec::new());
        }
        let Ends::Integers(ends) = &mut self.ends else { return self.mixed() };
        // Iterators over pairs do not know their length.
        ends.reserve(count);
        ends.extend(added);
        Ok(())
    }

    fn add_texts<'a>(&mut self, added: impl IntoIterator<Item = &'a str>) -> Result<()> {
        if matches!(self.ends, Ends::None) {
            self.ends = Ends::Texts { texts: Vec::new(), numbers: HashMap::new(), ends: Vec::new() };
        }
        let Ends::Texts { texts, numbers, ends } = &mut self.ends else { return self.mixed() };
        for text in added {
            let number = match numbers.get(text) {
                Some(&number) => number,
                None => {
                    let number = texts.len() as i64;
                    numbers.insert(text.to_owned(), number);
                    texts.push(text.to_owned());
                    number
                }
            };
            ends.push(number);
        }
        Ok(())
    }

    fn mixed<T>(&self) -> Result<T> {
        usage_error(format!("{}: src and dst mix integers and text: cast them to one type", self.function))
    }

    /// The keys of the nodes, and the ends of each row by their numbers: in the order of the keys.
    fn numbered(&self) -> Result<(KeyIndex, Vec<(u32, u32)>)> {
        let (keys, numbers) = match &self.ends {
            Ends::None => return Ok((KeyIndex::new(&[])?, Vec::new())),
            Ends::Integers(ends) => {
                let column = KeyColumn::Integer(Int64Array::from(ends.clone()));
                let keys = KeyIndex::new(&[("src and dst", &column)])?;
                let numbers = keys.numbers(&column);
                (keys, numbers)
            }
            Ends::Texts { texts, ends, .. } => {
                let column = KeyColumn::Text(StringArray::from_iter_values(texts));
                let keys = KeyIndex::new(&[("src and dst", &column)])?;
                let of_text = keys.numbers(&column);
                let numbers = ends.iter().map(|&text| of_text[text as usize]).collect();
                (keys, numbers)
            }
        };
        let pairs = numbers.chunks_exact(2).map(|pair| (pair[0].unwrap_or(0), pair[1].unwrap_or(0))).collect();
        Ok((keys, pairs))
    }

    /// The diagram; `None` without rows.
    fn points(&self, monitor: &dyn Monitor) -> Result<Option<Vec<Point>>> {
        if self.values.is_empty() {
            return Ok(None);
        }
        let _room = Reservation::new(monitor, 48 * (self.values.len() / self.width)).map_err(stopped)?;
        let (keys, edges) = self.numbered()?;
        let points = (self.diagram)(self, keys.len(), &edges, monitor).map_err(|error| self.error(error, &keys))?;
        Ok(Some(points))
    }

    fn error(&self, error: RowsError, keys: &KeyIndex) -> datafusion::common::DataFusionError {
        let function = self.function;
        let edge = |src, dst| format!("{function}: edge ({}, {})", keys.describe(src), keys.describe(dst));
        let node = |node| format!("{function}: node {}", keys.describe(node));
        execution_error(match error {
            RowsError::Filtration(FiltrationError::Stopped(reason)) => return stopped(reason),
            RowsError::Filtration(FiltrationError::TwoValues { src, dst, first, second }) => format!(
                "{} is there with two values, {first} and {second}: give each edge one, as with GROUP BY src, dst",
                edge(src, dst)
            ),
            RowsError::Filtration(FiltrationError::EdgeNotFinite { src, dst, value }) => {
                format!("{} has the value {value}: a filtration needs finite values", edge(src, dst))
            }
            RowsError::Filtration(FiltrationError::NodeNotFinite { node: v, value }) => {
                format!("{} has the value {value}: a filtration needs finite values", node(v))
            }
            RowsError::TwoValues(v, first, second) => {
                format!("{} is there with two values, {first} and {second}: give each node one", node(v))
            }
        })
    }
}

/// A diagram a group.
fn diagrams(states: &[Box<dyn AggregateState>], monitor: &dyn Monitor) -> Option<Result<ArrayRef>> {
    let rows = states.iter().map(|state| (state.as_ref() as &dyn Any).downcast_ref::<Rows>());
    let rows: Vec<&Rows> = rows.collect::<Option<_>>()?;
    // Of several errors the first group's is told.
    let found: Vec<Result<_>> = rows.par_iter().map(|rows| rows.points(monitor)).collect();
    let found = found.into_iter().collect::<Result<Vec<_>>>();
    Some(found.and_then(|found| Ok(Arc::new(diagram_array(&found)?) as ArrayRef)))
}

impl AggregateState for Rows {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let keys = [KeyColumn::new(&columns[0], "src")?, KeyColumn::new(&columns[1], "dst")?];
        let numbers: Vec<_> = columns[2..].iter().map(|column| column.as_primitive::<Float64Type>()).collect();
        // What comes whole is taken whole.
        if let [KeyColumn::Integer(src), KeyColumn::Integer(dst)] = &keys
            && src.null_count() + dst.null_count() == 0
            && numbers.iter().all(|column| column.null_count() == 0)
        {
            self.values.reserve(self.width * src.len());
            match numbers.as_slice() {
                [values] => self.values.extend_from_slice(values.values()),
                columns => (0..src.len()).for_each(|row| self.values.extend(columns.iter().map(|it| it.value(row)))),
            }
            let ends = src.values().iter().zip(dst.values()).flat_map(|(&src, &dst)| [src, dst]);
            self.add_integers(2 * src.len(), ends)?;
            return Ok(());
        }
        let is_key = |key: &KeyColumn, row: usize| match key {
            KeyColumn::Integer(keys) => !keys.is_null(row),
            KeyColumn::Text(keys) => !keys.is_null(row),
        };
        let complete =
            |&row: &usize| keys.iter().all(|key| is_key(key, row)) && numbers.iter().all(|column| !column.is_null(row));
        let rows: Vec<usize> = (0..columns[0].len()).filter(complete).collect();
        if rows.is_empty() {
            return Ok(());
        }
        match &keys {
            [KeyColumn::Integer(src), KeyColumn::Integer(dst)] => {
                self.add_integers(2 * rows.len(), rows.iter().flat_map(|&row| [src.value(row), dst.value(row)]))?;
            }
            [KeyColumn::Text(src), KeyColumn::Text(dst)] => {
                self.add_texts(rows.iter().flat_map(|&row| [src.value(row), dst.value(row)]))?;
            }
            _ => return self.mixed(),
        }
        self.values.extend(rows.iter().flat_map(|&row| numbers.iter().map(move |column| column.value(row))));
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let mut reader = Reader(bytes);
        match reader.count()? {
            0 => return Ok(()),
            1 => {
                let ends = reader.integers()?;
                self.add_integers(ends.len(), ends)?;
            }
            _ => {
                let texts = (0..reader.count()?).map(|_| reader.text()).collect::<Result<Vec<_>>>()?;
                let ends = reader.integers()?;
                let ends = ends.iter().map(|&text| texts.get(text as usize).map_or("", String::as_str));
                self.add_texts(ends)?;
            }
        }
        self.values.extend(reader.numbers()?);
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match &self.ends {
            Ends::None => writer.count(0),
            Ends::Integers(ends) => {
                writer.count(1);
                writer.integers(ends);
            }
            Ends::Texts { texts, ends, .. } => {
                writer.count(2);
                writer.count(texts.len());
                texts.iter().for_each(|text| writer.text(text));
                writer.integers(ends);
            }
        }
        writer.numbers(self.values.iter().copied());
        writer.0
    }

    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::List(Arc::new(diagram_array(&[self.points(monitor)?])?)))
    }

    fn size(&self) -> usize {
        let ends = match &self.ends {
            Ends::None => 0,
            Ends::Integers(ends) => 8 * ends.capacity(),
            Ends::Texts { texts, ends, .. } => {
                8 * ends.capacity() + texts.iter().map(|text| 2 * text.len() + 96).sum::<usize>()
            }
        };
        ends + 8 * self.values.capacity()
    }
}
