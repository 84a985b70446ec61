//! The models that can be trained, with what a user may set.

use crate::models::{
    Build, acm_gcn, appnp, bernnet, fagcn, fsgnn, gat, gbk_gnn, gcn, gin, glognn, gprgnn, graphsage, h2gcn,
    label_propagation, linkx, lsgnn, mixhop, mlp, mlp1, pcnet, sgc, tag, unimp,
};
use crate::options::{OptionError, TrainOptions, Value};

/// A model: what it is, where it comes from and what can be set.
#[derive(Debug, Clone, Copy)]
pub struct ModelSpec {
    /// The name in a job.
    pub name: &'static str,
    /// What kind of model it is.
    pub family: &'static str,
    /// The geometry of its representations.
    pub geometry: &'static str,
    /// The tasks it can learn.
    pub tasks: &'static [&'static str],
    /// The paper that defines it.
    pub source: &'static str,
    /// Defaults of the options that every model has.
    pub(crate) defaults: Defaults,
    /// What this model has beside them.
    pub(crate) own: &'static [Hyperparameter],
    /// Over how many edges an output sees; none where it sees more than that, or has parameters for each node.
    pub(crate) reach: Option<Reach>,
    /// Makes the model for a problem.
    pub(crate) build: Build,
}

/// The number of edges over which an output of a model sees, from its options.
pub(crate) type Reach = fn(&TrainOptions) -> Result<usize, OptionError>;

/// The reaches that several models have.
pub(crate) mod reach {
    use super::Reach;

    /// A node sees itself alone.
    pub(crate) const LOCAL: Option<Reach> = Some(|_| Ok(0));
    /// An edge a layer.
    pub(crate) const A_LAYER: Option<Reach> = Some(|options| Ok(options.layers));
    /// The hyperparameter `hops`.
    pub(crate) const HOPS: Option<Reach> = Some(|options| Ok(options.integer("hops")? as usize));
    /// As many in each layer.
    pub(crate) const HOPS_A_LAYER: Option<Reach> =
        Some(|options| Ok(options.layers * options.integer("hops")? as usize));
}

/// A model's defaults for the options that all models share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub epochs: i64,
    pub lr: f64,
    pub weight_decay: f64,
    pub optimizer: &'static str,
    pub hidden: i64,
    pub layers: i64,
    pub dropout: f64,
}

/// The setting of Kipf and Welling (2017) with the 64 hidden units that benchmarks use, decay on all parameters as most
/// published comparisons have it (the paper itself decays only the first layer).
pub(crate) const COMMON: Defaults =
    Defaults { epochs: 200, lr: 0.01, weight_decay: 5e-4, optimizer: "adam", hidden: 64, layers: 2, dropout: 0.5 };

/// What messages are weighed by (Luan et al. 2024, Sec. 2), for the models whose papers have one such matrix.
pub(crate) const AFFINITY: Hyperparameter = Hyperparameter {
    name: "affinity",
    kind: Kind::Choice { default: "symmetric", values: &["symmetric", "random_walk"] },
    description: "symmetric: D^-1/2 (A + I) D^-1/2; random_walk: (D + I)^-1 (A + I), the mean of a node and its neighbours",
};

/// What the rows of an adjacency hold, for models that read them as an input.
pub(crate) const ADJACENCY: Hyperparameter = Hyperparameter {
    name: "adjacency",
    kind: Kind::Choice { default: "edges", values: &["edges", "arcs"] },
    description: "what a node's row of the adjacency holds. edges: its neighbours; arcs: those that its rows of the table edges lead to, for node classification on directed graphs",
};

/// Something a user may set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hyperparameter {
    /// Its name: a column of the jobs.
    pub name: &'static str,
    /// Its type, range and default.
    pub kind: Kind,
    /// What it does.
    pub description: &'static str,
}

/// The type of a hyperparameter with its range and default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// The value if none is given.
        default: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A real number.
    Real {
        /// The value if none is given.
        default: f64,
        /// The smallest value.
        min: f64,
        /// The bound that every value stays below.
        max: f64,
    },
    /// A whole number, or NULL if none is given.
    OptionalInteger {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A positive real number, or NULL if none is given.
    OptionalPositive,
    /// Several whole numbers, or NULL if none are given: the text `15,10`.
    OptionalCounts {
        /// The smallest value of each.
        min: u32,
        /// The largest value of each.
        max: u32,
    },
    /// One of several names.
    Choice {
        /// The value if none is given.
        default: &'static str,
        /// All values.
        values: &'static [&'static str],
    },
}

/// The bound of a hyperparameter that may take a whole number `most`, but no more.
pub(crate) const fn up_to(most: f64) -> f64 {
    most.next_up()
}

impl Hyperparameter {
    /// The value if none is given.
    pub fn default_value(&self) -> Value {
        match self.kind {
            Kind::Integer { default, .. } => Value::Integer(default),
            Kind::Real { default, .. } => Value::Real(default),
            Kind::Choice { default, .. } => Value::Text(default.into()),
            Kind::OptionalInteger { .. } | Kind::OptionalPositive | Kind::OptionalCounts { .. } => Value::Null,
        }
    }

    /// `integer`, `real`, `integer[]` or `text`.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Integer { .. } | Kind::OptionalInteger { .. } => "integer",
            Kind::Real { .. } | Kind::OptionalPositive => "real",
            Kind::OptionalCounts { .. } => "integer[]",
            Kind::Choice { .. } => "text",
        }
    }

    /// The valid values in words.
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Integer { min, max, .. } => format!("an integer in [{min}, {max}]"),
            Kind::Real { min, max, .. } if max.is_infinite() => {
                format!("a number in [{min:?}, infinity)").replace(".0,", ",")
            }
            Kind::Real { min, max, .. } if up_to(max.next_down().round()) == max => {
                format!("a number in [{min}, {}]", max.next_down())
            }
            Kind::Real { min, max, .. } => format!("a number in [{min}, {max})"),
            Kind::OptionalInteger { min, max } => format!("an integer in [{min}, {max}], or NULL"),
            Kind::OptionalPositive => "a number above 0, or NULL".into(),
            Kind::OptionalCounts { min, max } => format!("integers in [{min}, {max}], such as 15 or [15, 10], or NULL"),
            Kind::Choice { values, .. } => values.join(", "),
        }
    }
}

/// What every model has with the same default: the training options, then those of single tasks.
const SHARED: [Hyperparameter; 10] = [
    Hyperparameter {
        name: "schedule",
        kind: Kind::Choice { default: "constant", values: &["constant", "cosine"] },
        description: "the learning rate after the warm-up: constant, or half a cosine down to 0 over the epochs",
    },
    Hyperparameter {
        name: "warmup",
        kind: Kind::Integer { default: 0, min: 0, max: u32::MAX as i64 },
        description: "epochs in which the learning rate grows evenly to its value",
    },
    Hyperparameter {
        name: "clip",
        kind: Kind::OptionalPositive,
        description: "largest norm of the gradient over all parameters; NULL is no limit",
    },
    Hyperparameter {
        name: "class_weights",
        kind: Kind::Choice { default: "none", values: &["none", "balanced"] },
        description: "weight of a class in the training loss: 1, or training items / (classes * items of the class)",
    },
    Hyperparameter {
        name: "embedding",
        kind: Kind::OptionalInteger { min: 1, max: 65_536 },
        description: "width of a node's output in link and graph tasks; NULL is the value of hidden",
    },
    Hyperparameter {
        name: "decoder",
        kind: Kind::Choice { default: "inner_product", values: &["inner_product", "distance"] },
        description: "score of a pair in link prediction: the inner product, or Fermi-Dirac of the distance (r = 2, t = 1)",
    },
    Hyperparameter {
        name: "pooling",
        kind: Kind::Choice { default: "mean", values: &["mean", "sum"] },
        description: "how a graph's nodes become one vector in graph tasks",
    },
    Hyperparameter {
        name: "batch",
        kind: Kind::OptionalInteger { min: 1, max: u32::MAX as i64 },
        description: "graphs of a step in graph tasks; NULL is all",
    },
    Hyperparameter {
        name: "batch_nodes",
        kind: Kind::OptionalInteger { min: 1, max: u32::MAX as i64 },
        description: "training nodes of a step in node classification, on a sample of their neighbours; NULL is all, on the \
                      whole graph",
    },
    Hyperparameter {
        name: "fanout",
        kind: Kind::OptionalCounts { min: 1, max: 1_000_000 },
        description: "with batch_nodes, most neighbours that a node of a step hears: one number, or one for each hop from \
                      the step's nodes; NULL is all",
    },
];

impl ModelSpec {
    /// Everything that can be set: the shared options with this model's defaults, then its own.
    pub fn hyperparameters(&self) -> impl Iterator<Item = Hyperparameter> + use<> {
        let d = self.defaults;
        let integer = |name, default, max, description| Hyperparameter {
            name,
            kind: Kind::Integer { default, min: 1, max },
            description,
        };
        let real = |name, default, max, description| Hyperparameter {
            name,
            kind: Kind::Real { default, min: 0.0, max },
            description,
        };
        let optimizer = Kind::Choice { default: d.optimizer, values: crate::optimizer::NAMES };
        [
            integer("epochs", d.epochs, i64::from(u32::MAX), "largest number of passes over the training nodes"),
            real("lr", d.lr, f64::INFINITY, "learning rate"),
            real(
                "weight_decay",
                d.weight_decay,
                f64::INFINITY,
                "L2 term of the gradient of every parameter (adam, sgd), or decoupled decay (adamw)",
            ),
            Hyperparameter { name: "optimizer", kind: optimizer, description: "optimiser" },
            integer("hidden", d.hidden, 65_536, "width of the hidden layers (of one head, where there are heads)"),
            integer("layers", d.layers, 64, "number of layers, the last one included"),
            real("dropout", d.dropout, 1.0, "probability that an input of a layer is dropped in training"),
        ]
        .into_iter()
        .chain(SHARED)
        .chain(self.own.iter().copied())
    }
}

/// Every model, in the order of the documentation.
pub fn models() -> &'static [ModelSpec] {
    &[
        mlp::SPEC,
        mlp1::SPEC,
        label_propagation::SPEC,
        gcn::SPEC,
        gat::SPEC,
        gin::SPEC,
        sgc::SPEC,
        tag::SPEC,
        mixhop::SPEC,
        appnp::SPEC,
        gprgnn::SPEC,
        bernnet::SPEC,
        pcnet::SPEC,
        h2gcn::SPEC,
        linkx::SPEC,
        graphsage::SPEC,
        fagcn::SPEC,
        acm_gcn::SPEC,
        fsgnn::SPEC,
        unimp::SPEC,
        glognn::SPEC,
        gbk_gnn::SPEC,
        lsgnn::SPEC,
    ]
}

/// The model of a name.
///
/// # Errors
/// If there is none; the text lists the models.
pub fn model(name: &str) -> Result<&'static ModelSpec, OptionError> {
    models().iter().find(|spec| spec.name == name).ok_or_else(|| {
        let names: Vec<&str> = models().iter().map(|spec| spec.name).collect();
        OptionError::invalid("model", name, &names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_default_is_in_its_range() {
        let mut names: Vec<&str> = models().iter().map(|spec| spec.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), models().len());
        for spec in models() {
            assert!(crate::Job::new(spec.name).resolve().is_ok(), "{}", spec.name);
            let mut names: Vec<&str> = spec.hyperparameters().map(|h| h.name).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|w| w[0] != w[1]), "{} has a hyperparameter twice", spec.name);
        }
    }

    #[test]
    fn ranges_say_whether_their_ends_belong_to_them() {
        let range = |max| {
            let kind = Kind::Real { default: 0.5, min: 0.0, max };
            Hyperparameter { name: "alpha", kind, description: "" }.range()
        };
        assert_eq!(range(1.0), "a number in [0, 1)");
        assert_eq!(range(up_to(1.0)), "a number in [0, 1]");
        assert_eq!(range(f64::INFINITY), "a number in [0, infinity)");
        let with_alpha = |alpha: f64| {
            let mut job = crate::Job::new("appnp");
            job.hyperparameters.insert("alpha".into(), Value::Real(alpha));
            job.resolve()
        };
        assert!(with_alpha(1.0).is_ok());
        assert!(with_alpha(1.0 + 1e-9).unwrap_err().to_string().contains("[0, 1]"));
    }
}
