//! What the first layer reads: the options `features` and `normalize`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::choices::{named, text_serde};
use super::forms::{Form, count, forms, list};
use crate::ground::OptionError;

forms! {
    /// The input of the first layer: the option `features`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum FeatureSource {
        #[default]
        Auto = "auto",
            "given where there are features; else a stand-in: of a graph identity up to 10,000 nodes and random:64 beyond, in \
             graph tasks degree, of complexes connectivity";
        Given = "given",
            "the column features of the nodes, or of the complexes";
        Identity = "identity",
            "one column a node, so that the first layer learns a vector for each",
            graphs_only();
        Degree = "degree",
            "one-hot code of the degree, a column for each distinct degree, ascending",
            graphs_only();
        Random(usize, count::<1, 1_000_000>) = "random:k",
            "k standard normal columns, drawn from the seed",
            note("k columns, 1,000,000 at most");
        DegreeNumber = "degree_number",
            "the degree, one column";
        OneHotDegree(usize, count::<1, 65_535>) = "one_hot_degree:m",
            "one-hot code of the degree, a column for each up to m; larger ones count as m",
            note("m + 1 columns, m up to 65,535");
        Connectivity = "connectivity",
            "the degree of a node; of a simplex the number of its neighbours by common cofaces and by common faces (a vertex has the \
             first alone, a simplex of the highest dimension the second, which are their degrees)";
    }
}

/// The most nodes of a graph for which a layer learns a vector each where nobody asks for it: parameters and their gradients grow
/// with the nodes, those of random features do not.
const MOST_IDENTITY: usize = 10_000;

/// The random columns of the nodes of a larger graph.
const RANDOM_COLUMNS: usize = 64;

impl FeatureSource {
    /// The source that stands for `auto`: the features that are given, else `stand_in`. Any other source is itself.
    pub(crate) fn or_stand_in(self, given: bool, stand_in: Self) -> Self {
        match self {
            Self::Auto if given => Self::Given,
            Self::Auto => stand_in,
            named => named,
        }
    }

    /// The stand-in for the features of a graph's nodes.
    pub(crate) fn of_nodes(n_nodes: usize) -> Self {
        if n_nodes <= MOST_IDENTITY { Self::Identity } else { Self::Random(RANDOM_COLUMNS) }
    }

    /// Whether a run reads the features that are given, if there are some.
    pub fn reads_given(self) -> bool {
        matches!(self, Self::Auto | Self::Given)
    }

    /// The forms that need no features.
    pub(crate) fn stand_ins() -> impl Iterator<Item = &'static Form> {
        Self::FORMS.iter().filter(|form| ![Self::Auto.name(), Self::Given.name()].contains(&form.text))
    }
}

impl fmt::Display for FeatureSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Random(number) | Self::OneHotDegree(number) => write!(f, ":{number}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for FeatureSource {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        Self::read(text).ok_or_else(|| OptionError::invalid("features", text, &list(Self::FORMS)))
    }
}

/// The option `normalize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Normalize {
    /// `none`: as they are.
    #[default]
    None,
    /// `row`: each row divided by the sum of its absolute values; zero rows stay zero.
    Row,
    /// `standard`: from each column its mean over the training nodes, divided by its standard deviation there.
    Standard,
}

named!(Normalize, "normalize", "none" => None, "row" => Row, "standard" => Standard);

/// The option `featureless`: what nodes have whose type has no features, where others have some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Featureless {
    /// `embedding`: a column a node, so that the first layer learns a vector for each.
    #[default]
    Embedding,
    /// `neighbor_mean`: the mean of the features of its neighbours, in columns of their own.
    NeighborMean,
}

named!(Featureless, "featureless", "embedding" => Embedding, "neighbor_mean" => NeighborMean);
text_serde!(FeatureSource);
