//! The options of a run: the one table that reading jobs, checking them, the reference and `bonnet.models` take them from.
//!
//! A model's own options stand in its file.

use crate::options::choices::{CLASSES, EMBEDDINGS, GRAPHS, ITEMS, LINKS, NODES, NUMBERS, ONE_GRAPH};
use crate::options::{
    ClassWeights, Decay, Decoder, Defaults, Domain, Encodings, EvaluateOn, FanoutOrder, FeatureSource, Featureless,
    Negatives, Normalize, OptimizerKind, OptionSpec, Pooling, RegressionLoss, SamplerKind, SelectBy, SplitScheme, Task,
};

/// A limit of options that count: those of `u32`.
const MOST: i64 = u32::MAX as i64;

/// The options of a job of SQL beside those of its run: the data, and the files of parameters.
pub const DATA_OPTIONS: [OptionSpec; 8] = [
    OptionSpec::new(
        "graph",
        Domain::Text { forms: "the name of a graph" },
        "the graph to train on: a schema with the tables nodes and edges; for graph tasks also graphs, and graph_id in all. \
         Where the call has complexes: the rows of theirs with this text in the column graph; all where there is none. Where it \
         has items: the graph whose nodes they are, or none, where they have their features",
    ),
    OptionSpec::new("model", Domain::Text { forms: "the name of a model" }, "the model: a name in bonnet.models"),
    OptionSpec::new(
        "label",
        Domain::Text { forms: "the name of a column, or NULL" },
        "the column of the labels: of the table nodes in the tasks of nodes, of graphs in graph tasks, of the complexes or the \
         items where the call has some. Text, integers or booleans to classify; numbers, of complexes also lists of as many each, to \
         regress. NULL is label. Jobs may call the column target, its older name: those of predict, whose answer has a column \
         label, have to",
    )
    .of_tasks(ITEMS),
    OptionSpec::new(
        "split",
        Domain::OptionalInteger { min: i64::MIN, max: i64::MAX },
        "the number of the split that the graph stores; beside a drawn split_scheme the seed of the draw, else the job's \
         seed draws it. NULL is split 0 where splits are stored",
    )
    .integer_column(),
    OptionSpec::new(
        "draw",
        Domain::OptionalInteger { min: i64::MIN, max: i64::MAX },
        "the number of the draw of a drawn split_scheme, apart from the job's seed: what split is beside such a scheme, under a name \
         that says it, so that jobs of several draws and several seeds are told apart. Not beside split",
    )
    .integer_column(),
    OptionSpec::new(
        "split_scheme",
        Domain::Forms(SplitScheme::FORMS),
        "the division of the items into training, validation and test; percentages that are left out are 60/20/20. NULL is \
         public where splits are stored, else random:60/20/20, and for links random:85/5/10",
    ),
    OptionSpec::new(
        "protocol",
        Domain::Text { forms: "the name of a protocol, or NULL" },
        "the settings of a published table that the job takes where it says none itself: a name in bonnet.protocols or in the relation \
         protocols, such as curvbench/gcn. The row is that of the graph's data set, by the last part of the graph's name (disease_nc is \
         disease), or of the one that is named behind it, as in curvbench/hgcn/disease, and of the job's task. What the job says wins, and \
         train says so in its column departures",
    ),
    OptionSpec::new(
        "save",
        Domain::Text { forms: "a path, or NULL" },
        "the folder that the run's parameters are saved in; train alone takes it",
    ),
];

/// The options of every run, whatever its model.
pub const RUN_OPTIONS: [OptionSpec; 8] = [
    OptionSpec::choice(
        "task",
        Task::NodeClassification.name(),
        Task::NAMES,
        "what is learnt: the classes of nodes, or one number each; which pairs of nodes are joined, where messages go along training \
         edges only and as many pairs without an edge are fixed for validation and test and drawn anew each epoch for training; \
         the classes, or one number each, of the graphs of a collection",
    ),
    OptionSpec::integer(
        "seed",
        0,
        [i64::MIN, i64::MAX],
        "draws initial parameters, dropout, random features, samples of neighbours and, without the option split, the split",
    )
    .integer_column(),
    OptionSpec::new(
        "patience",
        Domain::OptionalInteger { min: 1, max: MOST },
        "stops after so many epochs without improvement of what select_by names; NULL runs all epochs",
    )
    .integer_column(),
    OptionSpec::new(
        "select_by",
        Domain::Forms(SelectBy::FORMS),
        "the figure of the validation part whose best epoch is reported, ties by the lower validation loss, then the \
         earlier epoch. NULL is the first of the task's figures",
    ),
    OptionSpec::new(
        "features",
        Domain::Forms(FeatureSource::FORMS),
        "the input of the first layer; the column input_features of train says what a run took. NULL is auto",
    ),
    OptionSpec::choice(
        "featureless",
        Featureless::Embedding.name(),
        Featureless::NAMES,
        "what nodes have whose type (the column type of nodes) has no features, where another type has some. embedding: a \
         column a node, so that the first layer learns a vector for each; neighbor_mean: the mean of its neighbours' features. \
         The features of each type stand in columns of their own, in their own width",
    )
    .of_tasks(ONE_GRAPH),
    OptionSpec::choice(
        "normalize",
        Normalize::None.name(),
        Normalize::NAMES,
        "none: features as they are; row: each row divided by the sum of its absolute values, zero rows stay zero; standard, in the \
         tasks of nodes: each column less its mean over the training nodes, divided by its standard deviation there, a column without \
         spread becomes 0; both are saved with the parameters",
    ),
    OptionSpec::new(
        "load",
        Domain::Text { forms: "a path, or NULL" },
        "a file of saved parameters that the run starts from; epochs may then be 0",
    ),
];

/// The options of every model whose defaults are the model's.
pub(crate) const fn training(of_model: &Defaults) -> [OptionSpec; 7] {
    [
        OptionSpec::integer("epochs", of_model.epochs, [1, MOST], "largest number of passes over the training nodes")
            .integer_column(),
        OptionSpec::real("lr", of_model.lr, [0.0, f64::INFINITY], "learning rate"),
        OptionSpec::real(
            "weight_decay",
            of_model.weight_decay,
            [0.0, f64::INFINITY],
            "L2 term of the gradient of every parameter (adam, sgd), or decoupled decay (adamw)",
        ),
        OptionSpec::choice("optimizer", of_model.optimizer, OptimizerKind::NAMES, "optimiser"),
        OptionSpec::integer(
            "hidden",
            of_model.hidden,
            [1, 65_536],
            "width of the hidden layers (of one head, where there are heads)",
        )
        .integer_column(),
        OptionSpec::integer("layers", of_model.layers, [1, 64], "number of layers, the last one included")
            .integer_column(),
        OptionSpec::real(
            "dropout",
            of_model.dropout,
            [0.0, 1.0],
            "probability that an input of a layer is dropped in training",
        ),
    ]
}

/// The options of every model that have one default.
pub const SHARED_OPTIONS: [OptionSpec; 21] = [
    OptionSpec::new(
        "encodings",
        Domain::Text { forms: Encodings::FORMS },
        "positional encodings that are further columns of the features, behind them and after normalize, as positional_encoding \
         gives them: of the edges that carry messages, and for each graph of a collection by itself. Without k, laplacian has 8 \
         columns and random_walk 20",
    )
    .texts_column(),
    LABEL_RATE,
    OptionSpec::choice(
        "schedule",
        Decay::Constant.name(),
        Decay::NAMES,
        "the learning rate after the warm-up: constant, or half a cosine down to 0 over the epochs",
    ),
    OptionSpec::integer("warmup", 0, [0, MOST], "epochs in which the learning rate grows evenly to its value"),
    OptionSpec::new(
        "clip",
        Domain::OptionalPositive,
        "largest norm of the gradient over all parameters; NULL is no limit",
    ),
    OptionSpec::new(
        "class_weights",
        Domain::Text { forms: ClassWeights::FORMS },
        "weight of a class in the training loss, which is the weighted mean over the items of a step: none, 1; balanced, training items / \
         (classes * items of the class); or given numbers, in the order of the classes, which is that of their values",
    )
    .of_tasks(CLASSES),
    OptionSpec::choice(
        "loss",
        RegressionLoss::SquaredError.name(),
        RegressionLoss::NAMES,
        "what a regression makes small: the mean squared error, or the mean absolute error",
    )
    .of_tasks(NUMBERS),
    OptionSpec::new(
        "embedding",
        Domain::OptionalInteger { min: 1, max: 65_536 },
        "width of a node's output in link and graph tasks; NULL is the value of hidden",
    )
    .of_tasks(EMBEDDINGS),
    OptionSpec::choice(
        "decoder",
        Decoder::InnerProduct.name(),
        Decoder::NAMES,
        "score of a pair in link prediction: the inner product, that of unit vectors (the cosine), or Fermi-Dirac of the distance (r = 2, t = 1)",
    )
    .of_tasks(LINKS),
    OptionSpec::choice(
        "negatives",
        Negatives::EachEpoch.name(),
        Negatives::NAMES,
        "when the pairs without an edge that link prediction trains on are drawn: in every epoch anew, or once; pairs that the relation \
         pairs gives for the training part take their place",
    )
    .of_tasks(LINKS),
    OptionSpec::choice(
        "pooling",
        Pooling::Mean.name(),
        Pooling::NAMES,
        "how a graph's nodes become one vector in graph tasks",
    )
    .of_tasks(GRAPHS),
    OptionSpec::real(
        "head_dropout",
        0.0,
        [0.0, 1.0],
        "probability that an entry of a graph's pooled vector is dropped in training, before the linear layer that reads it",
    )
    .of_tasks(GRAPHS),
    OptionSpec::new(
        "batch",
        Domain::OptionalInteger { min: 1, max: MOST },
        "graphs of a step in graph tasks; NULL is all",
    )
    .of_tasks(GRAPHS),
    OptionSpec::new(
        "batch_nodes",
        Domain::OptionalInteger { min: 1, max: MOST },
        "training nodes, or items, of a step in the tasks of nodes, each epoch in a new order, on a sample of their neighbours that is \
         drawn anew each step: for graphs whose representations do not fit; figures and outputs are those of the whole graph \
         all the same, unless evaluate_on says otherwise. NULL is all, on the whole graph; 512 of items of a graph",
    )
    .of_tasks(NODES),
    OptionSpec::new(
        "fanout",
        Domain::OptionalCounts { min: 1, max: 1_000_000 },
        "with batch_nodes, most neighbours that a node of a step aggregates: one number, or one for each hop from the step's \
         nodes; NULL is all",
    )
    .of_tasks(NODES),
    OptionSpec::choice(
        "sampler",
        SamplerKind::Neighbors.name(),
        SamplerKind::NAMES,
        "with batch_nodes, what fanout counts: neighbors, those of a node, in a typed graph in each relation; hgt, the nodes of each type \
         that a hop adds, those with many ties to what is there before others, with all edges between them (Hu et al. 2020): a number \
         for each hop, of which there may be more than a model sees",
    )
    .of_tasks(NODES),
    OptionSpec::choice(
        "evaluate_on",
        EvaluateOn::Graph.name(),
        EvaluateOn::NAMES,
        "with batch_nodes, what figures and outputs are computed on. graph: all that an output sees; samples: batch_nodes nodes of a part \
         at a time, by number, and what sampler and fanout draw around them from the seed, the same in each epoch: for graphs \
         where two edges lead to most nodes. An output then hangs on the nodes that are asked with it, and predict on those of its split",
    )
    .of_tasks(NODES),
    OptionSpec::new(
        "epoch_steps",
        Domain::OptionalInteger { min: 1, max: MOST },
        "with batch_nodes, the most steps of an epoch: the training nodes that it leaves out wait for another draw. NULL is all",
    )
    .of_tasks(NODES),
    OptionSpec::integer(
        "accumulate",
        1,
        [1, MOST],
        "the steps of an epoch whose gradients are added up before the parameters move, the last ones of an epoch as many as there are",
    )
    .of_tasks(ITEMS),
    OptionSpec::choice(
        "fanout_order",
        FanoutOrder::Uniform.name(),
        FanoutOrder::NAMES,
        "for items of a graph, the neighbours that are taken where a row has more than the fanout: uniformly drawn ones, anew each \
         step, or the latest",
    )
    .of_tasks(NODES),
    OptionSpec::integer(
        "relative_time",
        8,
        [0, 512],
        "for items of a graph whose rows have a time, the wavelengths of the code of how many days a row came before the item, \
         which is part of its features: a sine and a cosine each, of days / 10000^(j / wavelengths) for j = 0, 1, ...; 0 is none",
    )
    .integer_column()
    .of_tasks(NODES),
];

/// Known classes as an input.
pub(crate) const LABEL_RATE: OptionSpec = OptionSpec::real(
    "label_rate",
    0.0,
    [0.0, 1.0],
    "masked label embedding: the probability that the class of a training node is an input beside its features in a step, which \
     learns those of the others, so that no output is trained on a class that it reads. Figures and outputs are those with the classes \
     of all training nodes given, and no others. 0 is no such input; 0.3 hides classes with probability 0.7, as H2GB has it",
)
.of_tasks(&[Task::NodeClassification]);

/// The normalisation of the adjacency (Luan et al. 2024, Sec. 2), for the models whose papers have one such matrix.
pub(crate) const AFFINITY: OptionSpec = OptionSpec::choice(
    "affinity",
    "symmetric",
    &["symmetric", "random_walk"],
    "symmetric: D^-1/2 (A + I) D^-1/2; random_walk: (D + I)^-1 (A + I), the mean of a node and its neighbours",
);

/// The normalisation of the adjacency for the models whose authors' programs average over a node and its neighbours.
pub(crate) const MEAN_AFFINITY: OptionSpec = OptionSpec::choice(
    AFFINITY.name,
    "random_walk",
    &["random_walk", "symmetric"],
    "random_walk, as the authors' program has it: (D + I)^-1 (A + I), the mean of a node and its neighbours; symmetric: \
     D^-1/2 (A + I) D^-1/2. A saved model without a record of it was trained on the symmetric one and is loaded with it",
);

/// The edges that messages go along, for the models whose equations ask for no symmetric matrix.
pub(crate) const DIRECTION: OptionSpec = OptionSpec::choice(
    "adjacency",
    "edges",
    &["edges", "arcs"],
    "along what messages go. edges: both ways; arcs: from src to dst of the table edges, for node classification on \
     directed graphs. Degrees then count the arcs that lead to a node",
);

/// Whether edges have weights, for the models that sum or average messages.
pub(crate) const WEIGHTS: OptionSpec = OptionSpec::choice(
    "weights",
    "false",
    NO_YES,
    "whether a message counts as the column weight of its edge says; sums of weights then take the place of degrees. Without \
     batch_nodes",
);

/// The rows of an adjacency, for models that read them as an input.
pub(crate) const ADJACENCY: OptionSpec = OptionSpec::choice(
    "adjacency",
    "edges",
    &["edges", "arcs"],
    "what a node's row of the adjacency holds. edges: its neighbours; arcs: those that its rows of the table edges lead to, for node classification on directed graphs",
);

/// The coordinates in which a hyperbolic model computes: its layers differ where they read coordinates, not tangent vectors.
pub(crate) const MANIFOLD: OptionSpec = OptionSpec::choice(
    "manifold",
    "hyperboloid",
    &["hyperboloid", "poincare"],
    "the coordinates of hyperbolic space, and the scale of its tangent vectors at the origin: the hyperboloid, or the \
     Poincare ball",
);

/// The curvature of each layer of a hyperbolic model.
pub(crate) const CURVATURE: OptionSpec = OptionSpec::new(
    "curvature",
    Domain::OptionalPositive,
    "size c of the curvature -c of hyperbolic space in all layers; NULL is one for each layer, 1 at first and learned",
);

/// The score of a pair where nodes are points.
pub(crate) const GEODESIC: OptionSpec = OptionSpec::choice(
    "decoder",
    Decoder::Distance.name(),
    &[Decoder::Distance.name()],
    "score of a pair in link prediction: Fermi-Dirac of the distance in the model's space (r = 2, t = 1)",
)
.of_tasks(LINKS);

/// Yes or no.
pub(crate) const NO_YES: &[&str] = &["false", "true"];

/// The number of complexes of a step.
pub(crate) const BATCH_OF_COMPLEXES: OptionSpec = OptionSpec::integer("batch", 128, [1, MOST], "complexes of a step");

/// The highest dimension of complexes that is read.
pub(crate) const DIMENSION: OptionSpec = OptionSpec::new(
    "dimension",
    Domain::OptionalInteger { min: 0, max: 15 },
    "the highest dimension of simplices that are read: a model of complexes of one dimension then takes those of a higher \
     one, as their skeleta. NULL is that of the collection",
)
.integer_column();

/// Whether simplices are oriented.
pub(crate) const SIGNED: OptionSpec = OptionSpec::choice(
    "signed",
    "true",
    &["true", "false"],
    "true: boundary matrices have the signs of the lexicographic orientation, so that outputs depend on the order of the \
     vertices; false: their absolute values, without that",
);
