//! Aggregates over columns of numbers.

use bonnet_graph::Stopped;
use bonnet_sql::{Function, number_aggregate, without_nan};

/// The registrations.
pub fn functions() -> Vec<Function> {
    vec![gini(), kendall_tau(), rank_volatility(), spearman()]
}

fn gini() -> Function {
    let columns = [("x", "Finite numbers of at least 0, as degrees or sizes.")];
    number_aggregate("gini", columns, |[x], monitor| crate::gini(x, monitor))
        .description(
            "The Gini coefficient: how unequal numbers are, as half their mean absolute difference over their mean. With x_1 to \
             x_n in ascending order: the sum of (2 i - n - 1) x_i over n times the sum of x_i. From 0 where all are equal to \
             (n - 1) / n where one has everything. NULL does not count; NULL without values, and where all are 0. O(n log n) \
             time.",
        )
        .example("SELECT gini(degree_centrality) FROM degree_centrality(karate.edges)")
        .source("Gini, Variabilita e mutabilita (1912)")
}

fn rank_volatility() -> Function {
    number_aggregate("rank_volatility", [("rank", "A model's rank on each item.")], |columns, monitor| {
        without_nan(columns, monitor, |[rank], _| Ok::<_, Stopped>(crate::rank_volatility(rank)))
    })
    .description("The sample deviation (n - 1) of ranks. NULL or NaN does not count; NULL for fewer than two ranks.")
    .example("SELECT rank_volatility(rank) FROM (VALUES (12), (12), (1), (4), (1)) t(rank)")
    .source(super::CURVBENCH)
}

/// Of [`spearman`] and [`kendall_tau`].
const RANKINGS: [(&str, &str); 2] = [("x", "The first ranking: ranks or scores."), ("y", "The second.")];

fn spearman() -> Function {
    number_aggregate("spearman", RANKINGS, |columns, monitor| {
        without_nan(columns, monitor, |[x, y], monitor| crate::spearman(x, y, monitor))
    })
    .description(
        "Spearman's rank correlation: Pearson's of the ranks, ties sharing their average. In [-1, 1]. A row with a \
             NULL or NaN does not count; NULL where all x or all y are equal, and for fewer than two rows.",
    )
    .example("SELECT spearman(x, y) FROM (VALUES (1, 5), (2, 6), (3, 7), (4, 8), (5, 7)) t(x, y)")
    .source("Spearman 1904; CurvBench (arXiv 2606.06397), Eq. 16")
}

fn kendall_tau() -> Function {
    number_aggregate("kendall_tau", RANKINGS, |columns, monitor| {
        without_nan(columns, monitor, |[x, y], monitor| crate::kendall_tau(x, y, monitor))
    })
        .description(
            "Kendall's tau-b: concordant less discordant pairs of rows, over the geometric mean of the pairs that x and \
             y tell apart. In [-1, 1]. A row with a NULL or NaN does not count; NULL where all x or all y are equal, and \
             for fewer than two rows. O(n log n).",
        )
        .example("SELECT kendall_tau(x, y) FROM (VALUES (12, 1), (2, 4), (1, 7), (12, 1), (2, 0)) t(x, y)")
        .source("Kendall 1938; CurvBench (arXiv 2606.06397), Eq. 17")
}
