//! The models for graphs with heterophily on a published graph, against printed accuracies.

use crate::{Db, data};

/// Cora in the protocol of Luan et al. 2024, Table 3: random splits of 60/20/20, the test accuracy of the best epoch on the
/// validation nodes. Printed there, each after a search over rates, decays and dropouts: FAGCN 88.85, ACM-GCN 89.75, GloGNN
/// 87.67, GBK-GNN 87.09, FSGNN 87.51 (deviations 1.2 to 1.5); LSGNN and UniMP are not in that table. Here the defaults of
/// `bonnet.models`, unsearched, gave 87.7, 87.2, 86.4, 87.0, 86.0, 87.5 and, after 60 epochs, 87.1.
#[test]
fn models_for_heterophily_reach_the_printed_accuracies_on_cora() {
    let Some(folder) = data("planetoid/cora") else { return };
    let db = Db::new();
    db.run(&format!("ATTACH '{folder}' AS cora (TYPE planetoid)"));
    let least = [
        ("fagcn", 200, 0.865),
        ("acm_gcn", 200, 0.86),
        ("glognn", 200, 0.85),
        ("gbk_gnn", 200, 0.855),
        ("fsgnn", 200, 0.845),
        ("lsgnn", 200, 0.86),
        ("unimp", 60, 0.855),
    ];
    for (model, epochs, least) in least {
        let rows = db.rows(&format!(
            "SELECT min(status), avg(test_accuracy), stddev(test_accuracy) FROM train((SELECT 'cora' AS graph, '{model}' AS model, value AS seed,
                 'random:60/20/20' AS split_scheme FROM generate_series(0, 2)), normalize => 'row', epochs => {epochs})"
        ));
        assert_eq!(rows[0][0], "ok", "{model}");
        let accuracy: f64 = rows[0][1].parse().unwrap();
        println!("Cora, random 60/20/20, 3 draws: {model} {accuracy:.4} ({})", rows[0][2]);
        assert!(accuracy >= least, "{model}: {accuracy}");
    }
}
