//! The registry of functions: the one source of names, parameters, defaults and documentation.

pub(crate) mod body;
pub(crate) mod generated_graph;
pub(crate) mod generator_inputs;
pub(crate) mod operator;
pub(crate) mod options;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::Result;

use crate::error::usage_error;
use crate::registry::body::{Body, Kind};
use crate::registry::options::OptionValue;

/// The type of a column argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Column {
    /// Whatever is given.
    Any,
    /// Coerced to this type.
    Of(DataType),
}

/// The type of a constant argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionType {
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A number, or a word in its place.
    NumberOrText,
}

/// The kind of argument that a parameter takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// A table, view, CTE or subquery.
    Relation,
    /// The name of a graph, that is of its schema; `'*'` for all of them.
    Graph,
    /// The name of a column of the relation before it.
    Name,
    /// A value per row.
    Column(Column),
    /// A constant.
    Option(OptionType),
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Its name, as in `name => value`.
    pub name: &'static str,
    /// The kind of argument that it takes.
    pub kind: ParameterKind,
    /// Whether it may be left out.
    pub optional: bool,
    /// Its value when it is left out.
    pub default: OptionValue,
    /// Whether it takes the rest of the positional arguments.
    pub variadic: bool,
    /// One line: meaning, unit, range.
    pub description: &'static str,
}

impl Parameter {
    fn new(name: &'static str, kind: ParameterKind, description: &'static str) -> Self {
        Self { name, kind, optional: false, default: OptionValue::Null, variadic: false, description }
    }

    /// A relation.
    pub fn relation(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Relation, description)
    }

    /// The name of a graph.
    pub fn graph(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Graph, description)
    }

    /// One or more names of graphs.
    pub fn graphs(name: &'static str, description: &'static str) -> Self {
        Self { variadic: true, ..Self::graph(name, description) }
    }

    /// The name of a column.
    pub fn name(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Name, description)
    }

    /// A value per row of any type.
    pub fn column(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Column(Column::Any), description)
    }

    /// A value per row of a number type, as DOUBLE.
    pub fn number_column(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Column(Column::Of(DataType::Float64)), description)
    }

    /// The ends of an edge: values per row.
    pub fn ends() -> [Self; 2] {
        [Self::column("src", "One endpoint of the edge: integers or text."), Self::column("dst", "The other endpoint.")]
    }

    /// A constant truth value and its default.
    pub fn boolean(name: &'static str, default: bool, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Option(OptionType::Boolean), description).or(OptionValue::Boolean(default))
    }

    /// A constant whole number; give its default with [`Parameter::or`].
    pub fn integer(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Option(OptionType::Integer), description)
    }

    /// A constant number; give its default with [`Parameter::or`].
    pub fn number(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Option(OptionType::Number), description)
    }

    /// A constant text; give its default with [`Parameter::or`].
    pub fn text(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Option(OptionType::Text), description)
    }

    /// A constant number, or a word in its place; give its default with [`Parameter::or`].
    pub fn number_or_text(name: &'static str, description: &'static str) -> Self {
        Self::new(name, ParameterKind::Option(OptionType::NumberOrText), description)
    }

    /// The seed of a pseudo-random function; defaults to 0.
    pub fn seed() -> Self {
        Self::integer("seed", "Seed of the pseudo-random numbers; the same seed gives the same answer.")
            .or(OptionValue::Integer(0))
    }

    /// Makes the parameter optional with this default.
    pub fn or(self, default: OptionValue) -> Self {
        Self { optional: true, default, ..self }
    }

    /// Makes the parameter optional without a default.
    pub fn optional(self) -> Self {
        self.or(OptionValue::Null)
    }
}

/// Where a call stands, which decides what it takes: an edge function takes columns over a window, a relation in FROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Among expressions.
    Expression,
    /// In FROM.
    From,
}

/// A function of the engine: its name, parameters, documentation and body.
#[derive(Debug, Clone)]
pub struct Function {
    /// The name in SQL, in lower case.
    pub name: &'static str,
    /// Its parameters, in positional order.
    pub parameters: Vec<Parameter>,
    /// Whether named options beyond `parameters` are accepted; the body checks them.
    pub open_options: bool,
    /// Inside an expression: whether even few rows are work for the kernel threads.
    pub heavy: bool,
    /// An aggregate whose answer has a field of this one's name and value: where a query asks for several such fields of
    /// the same arguments, they are computed at once.
    pub field_of: Option<&'static str>,
    /// The answer: a type, or the columns of a relation.
    pub returns: &'static str,
    /// The value that it computes, with units, ranges and NULLs.
    pub description: &'static str,
    /// A statement that runs as it stands in an engine with the shipped data.
    pub example: &'static str,
    /// The source of the definition: paper and equation.
    pub source: &'static str,
    /// The code that computes it.
    pub body: Body,
}

impl Function {
    /// A function of this name and body; documentation follows by the other methods.
    pub fn new(name: &'static str, body: Body) -> Self {
        Self {
            name,
            parameters: Vec::new(),
            open_options: false,
            heavy: false,
            field_of: None,
            returns: "",
            description: "",
            example: "",
            source: "",
            body,
        }
    }

    /// Sets its parameters, in positional order.
    pub fn parameters(self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        Self { parameters: parameters.into_iter().collect(), ..self }
    }

    /// Accepts named options beyond its parameters.
    pub fn open_options(self) -> Self {
        Self { open_options: true, ..self }
    }

    /// Marks a function whose cost grows faster than its rows: inside an expression even few rows are work for the kernel
    /// threads. (64 KiB of arguments always are.)
    pub fn heavy(self) -> Self {
        Self { heavy: true, ..self }
    }

    /// Names the aggregate whose answer has its value as the field of its name.
    pub fn field_of(self, whole: &'static str) -> Self {
        Self { field_of: Some(whole), ..self }
    }

    /// Sets the text about its answer.
    pub fn returns(self, returns: &'static str) -> Self {
        Self { returns, ..self }
    }

    /// Sets its description.
    pub fn description(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// Sets its example, a statement that runs as it stands.
    pub fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Sets the source of its definition.
    pub fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// The shape of its answer.
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// Its parameters in FROM, in positional order: an edge function takes the edges instead of their columns, and an
    /// optional column such as `weight` by its name.
    pub fn parameters_in_from(&self) -> Vec<Parameter> {
        if self.kind() != Kind::Edge {
            return self.parameters.clone();
        }
        let edges =
            Parameter::relation("edges", "The edges: src, dst, and any other columns, which are carried through.");
        let rest =
            self.parameters.iter().filter(|parameter| !matches!(parameter.name, "src" | "dst")).map(|parameter| {
                match parameter.kind {
                    ParameterKind::Column(_) => Parameter { kind: ParameterKind::Name, ..parameter.clone() },
                    _ => parameter.clone(),
                }
            });
        std::iter::once(edges).chain(rest).collect()
    }

    /// Its parameters in a place, in positional order.
    pub(crate) fn parameters_in(&self, place: Place) -> Vec<Parameter> {
        match place {
            Place::Expression => self.parameters.clone(),
            Place::From => self.parameters_in_from(),
        }
    }

    /// The call as it is written in a place: `f(x, y)`, `FROM f(edges)`.
    pub fn usage(&self, place: Place) -> String {
        match place {
            Place::Expression => self.signature(),
            Place::From => {
                let shown = Self { parameters: self.parameters_in_from(), ..self.clone() };
                format!("FROM {}", shown.signature())
            }
        }
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The call in the notation of the reference: `f(edges [, nodes => relation] [, seed => 0])`.
    pub fn signature(&self) -> String {
        let mut text = format!("{}(", self.name);
        for (i, parameter) in self.parameters.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let rest = if parameter.variadic { ", ..." } else { "" };
            if !parameter.optional {
                text += &format!("{comma}{}{rest}", parameter.name);
            } else {
                let value = match (&parameter.default, &parameter.kind) {
                    (OptionValue::Null, ParameterKind::Relation) => "relation".to_owned(),
                    (OptionValue::Null, ParameterKind::Graph) => "graph".to_owned(),
                    (OptionValue::Null, ParameterKind::Column(_) | ParameterKind::Name) => "column".to_owned(),
                    (default, _) => default.to_string(),
                };
                text += &format!("{}[{comma}{} => {value}]", if i == 0 { "" } else { " " }, parameter.name);
            }
        }
        if self.open_options {
            text += " [, option => value ...]";
        }
        text + ")"
    }
}

/// The functions of an engine by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    functions: BTreeMap<&'static str, Arc<Function>>,
}

impl Registry {
    /// Adds functions.
    ///
    /// # Errors
    /// If a name is taken.
    pub fn register(&mut self, functions: impl IntoIterator<Item = Function>) -> Result<()> {
        for function in functions {
            let name = function.name;
            if self.functions.insert(name, Arc::new(function)).is_some() {
                return usage_error(format!("the function {name} is registered twice"));
            }
        }
        Ok(())
    }

    /// The function of this name, in any case.
    pub fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.functions.get(name.to_ascii_lowercase().as_str())
    }

    /// All functions in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.functions.values()
    }
}
