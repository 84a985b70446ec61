//! Positional encodings: a list of numbers for each node that says where in the graph it is.

mod laplacian;
mod return_probabilities;
mod subspace;

use bonnet_graph::{AlgorithmError, Graph, Monitor, Reservation};

pub use laplacian::directions;
pub use laplacian::laplacian_eigenvectors;
pub use return_probabilities::return_probabilities;

/// The kind of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// [`laplacian_eigenvectors`].
    Laplacian,
    /// [`return_probabilities`].
    RandomWalk,
    /// The degree, one number.
    Degree,
}

impl Encoding {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Laplacian, Self::RandomWalk, Self::Degree];

    /// `laplacian`, `random_walk` or `degree`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplacian => "laplacian",
            Self::RandomWalk => "random_walk",
            Self::Degree => "degree",
        }
    }

    /// The kind of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The length of a node's list where none is asked for: 8 eigenvectors (Dwivedi et al. 2023, Benchmarking graph neural
    /// networks, ZINC), 20 steps (Rampasek et al. 2022, Recipe for a general, powerful, scalable graph transformer), or 1.
    pub fn usual_dimension(self) -> usize {
        match self {
            Self::Laplacian => 8,
            Self::RandomWalk => 20,
            Self::Degree => 1,
        }
    }
}

/// The encoding of every node, `dimension` numbers each, one node after the other.
///
/// # Errors
/// For a dimension of 0, of other than 1 for [`Encoding::Degree`], or of more than there is in the graph; if eigenvectors do not
/// settle, and if the monitor stops it.
pub fn positional_encoding(
    graph: &Graph,
    encoding: Encoding,
    dimension: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<f64>, AlgorithmError> {
    if dimension == 0 {
        return AlgorithmError::input("dim => 0: expected a whole number of at least 1");
    }
    match encoding {
        Encoding::Laplacian => laplacian_eigenvectors(graph, dimension, monitor),
        Encoding::RandomWalk => return_probabilities(graph, dimension, monitor),
        Encoding::Degree if dimension != 1 => {
            AlgorithmError::input(format!("dim => {dimension}: the degree is one number; expected 1"))
        }
        Encoding::Degree => {
            let _reservation = Reservation::new(monitor, 8 * graph.n_nodes())?;
            Ok((0..graph.n_nodes() as u32).map(|v| graph.degree(v) as f64).collect())
        }
    }
}
