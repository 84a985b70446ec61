//! Random graphs: `erdos_renyi`, `barabasi_albert`, `random_tree`, `random_regular`, `graphon`.

use bonnet_sql::{Function, Parameter};

use super::lift::{count, lift, nodes, number, seed, to_sql};
use crate::Graphon;

/// The registration of `erdos_renyi`.
pub fn erdos_renyi() -> Function {
    lift("erdos_renyi", |options, monitor| {
        to_sql(crate::erdos_renyi(count(options, "n")?, number(options, "p")?, seed(options)?, monitor))
    })
    .parameters([nodes(), Parameter::number("p", "The probability of each edge, in [0, 1]."), Parameter::seed()])
    .description("The random graph G(n, p): each pair of nodes is an edge independently with probability p.")
    .example("SELECT count(*) AS edges FROM erdos_renyi(100, 0.3, seed => 1)")
    .source("Gilbert 1959; geometric skipping of Batagelj and Brandes 2005")
}

/// The registration of `barabasi_albert`.
pub fn barabasi_albert() -> Function {
    lift("barabasi_albert", |options, monitor| {
        to_sql(crate::barabasi_albert(count(options, "n")?, count(options, "m")?, seed(options)?, monitor))
    })
    .parameters([
        nodes(),
        Parameter::integer("m", "The number of edges that each new node brings, from 1 to n - 1."),
        Parameter::seed(),
    ])
    .description("Preferential attachment: each new node is joined to m distinct nodes, drawn in proportion to degree.")
    .example("SELECT count(*) AS edges FROM barabasi_albert(50, 2)")
    .source("Barabasi and Albert 1999")
}

/// The registration of `random_tree`.
pub fn random_tree() -> Function {
    lift("random_tree", |options, monitor| to_sql(crate::random_tree(count(options, "n")?, seed(options)?, monitor)))
        .parameters([nodes(), Parameter::seed()])
        .description("A labelled tree drawn uniformly from all n^(n-2), by its Pruefer sequence.")
        .example("SELECT count(*) AS edges FROM random_tree(30)")
        .source("Pruefer 1918")
}

/// The registration of `random_regular`.
pub fn random_regular() -> Function {
    lift("random_regular", |options, monitor| {
        to_sql(crate::random_regular(count(options, "n")?, count(options, "d")?, seed(options)?, monitor))
    })
    .parameters([
        nodes(),
        Parameter::integer("d", "The degree of every node, below n; n d is even."),
        Parameter::seed(),
    ])
    .description("A random d-regular graph; all of them are about equally likely, the better the larger n.")
    .example("SELECT count(*) AS edges FROM random_regular(20, 3)")
    .source("Steger and Wormald, Generating random regular graphs quickly (1999)")
}

/// The registration of `graphon`.
pub fn graphon() -> Function {
    lift("graphon", |options, monitor| {
        let w: Graphon = to_sql(options.text("w")?.unwrap_or_default().parse())?;
        to_sql(crate::graphon(w, count(options, "n")?, seed(options)?, monitor))
    })
    .parameters([
        Parameter::text("w", "'w1' = u v, 'w2' = exp(-max(u, v)^0.75), 'w3' = exp(-(min(u, v) + sqrt u + sqrt v) / 2) or 'w4' = |u - v|."),
        nodes(),
        Parameter::seed(),
    ])
    .description(
        "A random graph of a graphon: each node has a position u drawn uniformly from [0, 1], and a pair is an edge with \
         probability W(u, v). CREATE GRAPH gives each node its place as its one feature.",
    )
    .example("SELECT count(*) AS edges FROM graphon('w1', 30, seed => 1)")
    .source(
        "Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.5, after \
         Sabanayagam et al., Graphon based Clustering and Testing of Networks (ICLR 2022)",
    )
}
