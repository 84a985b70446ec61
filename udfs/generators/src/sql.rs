//! The generators as SQL functions.

mod features;
mod gencat;
mod perturb_edges;
mod regular_homophily;

use std::sync::Arc;

use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Body, Function, GeneratedGraph, Generator, OptionValue, Options, Parameter, Sources, execution_error, named_error,
    stopped,
};
use datafusion::common::{DataFusionError, Result};

use crate::edge_list::zeros;
use crate::error::require_nodes;
use crate::{
    CommunityGraph, DiseaseTree, Error, Generated, Graphon, PreferentialAttachment, StochasticBlockModel,
    barabasi_albert, community_graph, complete, cycle, disease_tree, erdos_renyi, graphon, grid_2d, path,
    petersen_graph, preferential_attachment, random_regular, random_tree, rook_graph, shrikhande_graph, star,
    stochastic_block_model,
};

/// A generator by the function that calls it with the options of a statement.
#[derive(Debug)]
struct Lifted {
    name: &'static str,
    generate: fn(&Options, &dyn Monitor) -> Result<Generated>,
}

impl Generator for Lifted {
    fn generate(&self, options: &Options, _: &Sources, monitor: &dyn Monitor) -> Result<GeneratedGraph> {
        (self.generate)(options, monitor).map(graph).map_err(|error| named(self.name, error))
    }
}

/// Puts the generator's name in front of an error that lacks it.
fn named(name: &str, error: DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::Execution(text) if !text.starts_with(name) => execution_error(format!("{name}: {text}")),
        error => named_error(name, error),
    }
}

fn graph(made: Generated) -> GeneratedGraph {
    let Generated { n_nodes, edges, labels, features } = made;
    GeneratedGraph { n_nodes, edges, labels, features }
}

fn lift(name: &'static str, generate: fn(&Options, &dyn Monitor) -> Result<Generated>) -> Function {
    Function::new(name, Body::Generator(Arc::new(Lifted { name, generate })))
        .returns("src, dst; graph_id in front for a relation of parameters")
}

fn made<T>(result: Result<T, Error>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Stopped(reason) => stopped(reason),
        error => execution_error(error.to_string()),
    })
}

/// A count; a negative one is as wrong as none, and the generator says so.
fn count(options: &Options, name: &str) -> Result<usize> {
    Ok(options.integer_from(name, 0)?.unwrap_or(0) as usize)
}

fn number(options: &Options, name: &str) -> Result<f64> {
    Ok(options.number(name)?.unwrap_or(f64::NAN))
}

fn seed(options: &Options) -> Result<u64> {
    Ok(options.integer("seed")?.unwrap_or(0) as u64)
}

fn nodes() -> Parameter {
    Parameter::integer("n", "The number of nodes.")
}

/// All generators.
pub fn functions() -> Vec<Function> {
    vec![
        lift("erdos_renyi", |options, monitor| {
            made(erdos_renyi(count(options, "n")?, number(options, "p")?, seed(options)?, monitor))
        })
        .parameters([nodes(), Parameter::number("p", "The probability of each edge, in [0, 1]."), Parameter::seed()])
        .description("The random graph G(n, p): each pair of nodes is an edge independently with probability p.")
        .example("SELECT count(*) AS edges FROM erdos_renyi(100, 0.3, seed => 1)")
        .source("Gilbert 1959; geometric skipping of Batagelj and Brandes 2005"),
        lift("barabasi_albert", |options, monitor| {
            made(barabasi_albert(count(options, "n")?, count(options, "m")?, seed(options)?, monitor))
        })
        .parameters([
            nodes(),
            Parameter::integer("m", "The number of edges that each new node brings, from 1 to n - 1."),
            Parameter::seed(),
        ])
        .description("Preferential attachment: each new node is joined to m distinct nodes, drawn in proportion to degree.")
        .example("SELECT count(*) AS edges FROM barabasi_albert(50, 2)")
        .source("Barabasi and Albert 1999"),
        lift("random_tree", |options, monitor| made(random_tree(count(options, "n")?, seed(options)?, monitor)))
            .parameters([nodes(), Parameter::seed()])
            .description("A labelled tree drawn uniformly from all n^(n-2), by its Pruefer sequence.")
            .example("SELECT count(*) AS edges FROM random_tree(30)")
            .source("Pruefer 1918"),
        lift("grid_2d", |options, monitor| {
            let flag = |name: &str| Ok::<_, DataFusionError>(options.boolean(name)?.unwrap_or(false));
            let (diagonals, periodic) = (flag("diagonals")?, flag("periodic")?);
            made(grid_2d(count(options, "rows")?, count(options, "columns")?, diagonals, periodic, monitor))
        })
        .parameters([
            Parameter::integer("rows", "The number of rows."),
            Parameter::integer("columns", "The number of columns."),
            Parameter::boolean("diagonals", false, "Whether both diagonals of each cell are edges."),
            Parameter::boolean("periodic", false, "Whether the last row and column are joined to the first: a torus."),
        ])
        .description("The rectangular grid; node r * columns + c stands in row r and column c.")
        .example("SELECT count(*) AS edges FROM grid_2d(4, 5)")
        .source("definition"),
        lift("cycle", |options, monitor| made(cycle(count(options, "n")?, monitor)))
            .parameters([nodes()])
            .description("The cycle of n nodes.")
            .example("SELECT count(*) AS edges FROM cycle(5)")
            .source("definition"),
        lift("path", |options, monitor| made(path(count(options, "n")?, monitor)))
            .parameters([nodes()])
            .description("The path of n nodes.")
            .example("SELECT count(*) AS edges FROM path(5)")
            .source("definition"),
        lift("star", |options, monitor| made(star(count(options, "n")?, monitor)))
            .parameters([nodes()])
            .description("The star: node 0 is joined to all n - 1 others.")
            .example("SELECT count(*) AS edges FROM star(5)")
            .source("definition"),
        lift("complete", |options, monitor| made(complete(count(options, "n")?, monitor)))
            .parameters([nodes()])
            .description("The complete graph on n nodes.")
            .example("SELECT count(*) AS edges FROM complete(5)")
            .source("definition"),
        lift("stochastic_block_model", |options, monitor| {
            let (size, blocks) = (count(options, "nodes_per_block")?, count(options, "blocks")?);
            made(require_nodes("stochastic_block_model", "blocks", blocks, 0))?;
            let mut reservation = made(Reservation::new(monitor, 0).map_err(Error::from))?;
            let mut sizes: Vec<usize> = made(zeros(blocks, &mut reservation).map_err(Error::from))?;
            sizes.fill(size);
            let model = StochasticBlockModel {
                sizes,
                p_within: number(options, "p_within")?,
                p_between: number(options, "p_between")?,
                features: count(options, "features")?,
                separation: number(options, "separation")?,
                noise: number(options, "noise")?,
            };
            made(stochastic_block_model(&model, seed(options)?, monitor))
        })
        .parameters([
            Parameter::integer("blocks", "The number of blocks, at least 1.").or(OptionValue::Integer(2)),
            Parameter::integer("nodes_per_block", "The number of nodes of each block.").or(OptionValue::Integer(100)),
            Parameter::number("p_within", "The probability of an edge within a block.").or(OptionValue::Number(0.1)),
            Parameter::number("p_between", "The probability of an edge between blocks.").or(OptionValue::Number(0.01)),
            Parameter::integer("features", "The number of Gaussian features of a node.").or(OptionValue::Integer(16)),
            Parameter::number("separation", "How far apart the blocks' means lie.").or(OptionValue::Number(1.0)),
            Parameter::number("noise", "The deviation of a feature about its block's mean.").or(OptionValue::Number(1.0)),
            Parameter::seed(),
        ])
        .description(
            "Blocks of nodes, denser within than between. CREATE GRAPH gives each node its block as label and Gaussian \
             features about the block's mean.",
        )
        .example("SELECT count(*) > 0 AS has_edges FROM stochastic_block_model(blocks => 3, nodes_per_block => 20)")
        .source("Holland, Laskey and Leinhardt 1983"),
        regular_homophily::function(),
        lift("preferential_attachment", |options, monitor| {
            let model = PreferentialAttachment {
                n: count(options, "n")?,
                classes: count(options, "classes")?,
                mu: number(options, "mu")?,
                m: count(options, "m")?,
                separation: number(options, "separation")?,
            };
            made(preferential_attachment(&model, seed(options)?, monitor))
        })
        .parameters([
            nodes(),
            Parameter::integer("classes", "The number of classes, of equal size, on a circle."),
            Parameter::number("mu", "The homophily coefficient, in [0, 1]."),
            Parameter::seed(),
            Parameter::integer("m", "The number of links of a new node, at least 2.").or(OptionValue::Integer(6)),
            Parameter::number("separation", "The distance of the classes' means from the origin, in deviations.")
                .or(OptionValue::Number(2.0)),
        ])
        .description(
            "Preferential attachment with homophily: a new node links an existing one in proportion to its degree times mu \
             in its own class, times (1 - mu) w in another, where w falls as e^-d with the distance d of the classes on a \
             circle. CREATE GRAPH gives each node its class as label and two Gaussian features about the class's mean.",
        )
        .example("SELECT count(*) AS edges FROM preferential_attachment(200, 5, 0.7)")
        .source("Luan et al., Are Heterophilic GNNs and Homophily Metrics Really Effective?, Eq. 6"),
        lift("disease_tree", |options, monitor| {
            let model = DiseaseTree {
                n: count(options, "n")?,
                branching: count(options, "branching")?,
                sources: number(options, "sources")?,
                transmission: number(options, "transmission")?,
                noise: number(options, "noise")?,
            };
            made(disease_tree(&model, seed(options)?, monitor))
        })
        .parameters([
            nodes().or(OptionValue::Integer(1000)),
            Parameter::integer("branching", "The largest number of children of a node.").or(OptionValue::Integer(3)),
            Parameter::number("sources", "The share of nodes infected from outside.").or(OptionValue::Number(0.05)),
            Parameter::number("transmission", "The probability that a contact infects.").or(OptionValue::Number(0.5)),
            Parameter::number("noise", "The error with which susceptibility is observed.").or(OptionValue::Number(0.1)),
            Parameter::seed(),
        ])
        .description(
            "A disease that spreads along a random tree. CREATE GRAPH labels the infected nodes 1 and gives each node its \
             observed susceptibility and whether it was infected from outside as features.",
        )
        .example("SELECT count(*) AS edges FROM disease_tree(200)")
        .source("in the manner of Chami et al. 2019; tree and process are this project's own"),
        lift("graphon", |options, monitor| {
            let w: Graphon = made(options.text("w")?.unwrap_or_default().parse())?;
            made(graphon(w, count(options, "n")?, seed(options)?, monitor))
        })
        .parameters([
            Parameter::text("w", "'w1' = u v, 'w2' = exp(-max(u, v)^0.75), 'w3' = exp(-(min(u, v) + sqrt u + sqrt v) / 2) or 'w4' = |u - v|."),
            nodes(),
            Parameter::seed(),
        ])
        .description(
            "A random graph of a graphon: each node has a place u drawn uniformly from [0, 1], and a pair is an edge with \
             probability W(u, v). CREATE GRAPH gives each node its place as its one feature.",
        )
        .example("SELECT count(*) AS edges FROM graphon('w1', 30, seed => 1)")
        .source(
            "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.5, after \
             Sabanayagam et al., Graphon based Clustering and Testing of Networks (ICLR 2022)",
        ),
        lift("community_graph", |options, monitor| {
            let model = CommunityGraph {
                n: count(options, "n")?,
                communities: count(options, "communities")?,
                p: number(options, "p")?,
                between: number(options, "between")?,
            };
            made(community_graph(&model, seed(options)?, monitor))
        })
        .parameters([
            nodes(),
            Parameter::integer("communities", "The number of communities, of nearly one size.").or(OptionValue::Integer(2)),
            Parameter::number("p", "The probability of an edge within a community.").or(OptionValue::Number(0.3)),
            Parameter::number("between", "The number of edges between communities, over n.").or(OptionValue::Number(0.05)),
            Parameter::seed(),
        ])
        .description(
            "Communities that are random graphs, joined by round(between n) edges drawn uniformly among the pairs of \
             different communities. CREATE GRAPH labels each node with its community.",
        )
        .example("SELECT count(*) > 0 AS has_edges FROM community_graph(60)")
        .source("You et al., GraphRNN (ICML 2018), Sec. 4.1"),
        lift("random_regular", |options, monitor| {
            made(random_regular(count(options, "n")?, count(options, "d")?, seed(options)?, monitor))
        })
        .parameters([nodes(), Parameter::integer("d", "The degree of every node, below n; n d is even."), Parameter::seed()])
        .description("A random d-regular graph; all of them are about equally likely, the better the larger n.")
        .example("SELECT count(*) AS edges FROM random_regular(20, 3)")
        .source("Steger and Wormald, Generating random regular graphs quickly (1999)"),
        lift("rook_graph", |options, monitor| {
            made(rook_graph(count(options, "rows")?, count(options, "columns")?, monitor))
        })
        .parameters([
            Parameter::integer("rows", "The rows of the board.").or(OptionValue::Integer(4)),
            Parameter::integer("columns", "The columns of the board.").or(OptionValue::Integer(4)),
        ])
        .description(
            "The squares of a board, joined where they share a row or a column. The 4 x 4 board is strongly regular with the \
             parameters of the Shrikhande graph, (16, 6, 2, 2).",
        )
        .example("SELECT count(*) AS edges FROM rook_graph()")
        .source("definition"),
        lift("shrikhande_graph", |_, monitor| made(shrikhande_graph(monitor)))
            .description("The Shrikhande graph: 16 nodes, strongly regular (16, 6, 2, 2), and not the rook's graph.")
            .example("SELECT count(*) AS edges FROM shrikhande_graph()")
            .source("Shrikhande, The uniqueness of the L2 association scheme (1959)"),
        lift("petersen_graph", |_, monitor| made(petersen_graph(monitor)))
            .description("The Petersen graph: 10 nodes, strongly regular (10, 3, 0, 1).")
            .example("SELECT count(*) AS edges FROM petersen_graph()")
            .source("Petersen 1898"),
        gencat::function(),
        perturb_edges::function(),
    ]
}
