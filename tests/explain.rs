//! EXPLAIN and EXPLAIN VERBOSE, which take different ways to the same plans.

use super::Db;

const QUERIES: [&str; 3] = [
    "SELECT avg(curvature) FROM midpoint_curvature(karate.edges)",
    "SELECT a.node, b.size FROM connected_components(karate.edges) a JOIN connected_components(karate.edges) b USING (node)",
    "SELECT label, count(*) FROM karate.nodes WHERE node > (SELECT min(src) FROM karate.edges) GROUP BY label",
];

fn database() -> Db {
    let db = Db::new();
    db.run("ATTACH 'builtin:karate' AS karate");
    db
}

#[test]
fn explain_shows_the_logical_plan_with_which_verbose_ends() {
    let db = database();
    for query in QUERIES {
        let short = db.rows(&format!("EXPLAIN {query}"));
        let kinds: Vec<&str> = short.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(kinds, ["logical_plan", "physical_plan"], "{query}");
        let long = db.rows(&format!("EXPLAIN VERBOSE {query}"));
        let end = long.iter().position(|row| row[0] == "logical_plan").unwrap();
        let last = long[..=end].iter().rfind(|row| row[1] != "SAME TEXT AS ABOVE").unwrap();
        assert_eq!(short[0][1], last[1], "{query}");
    }
}

#[test]
fn explain_shows_the_plans_that_its_settings_ask_for() {
    let db = database();
    for (setting, shown) in [("logical_plan_only", "logical_plan"), ("physical_plan_only", "physical_plan")] {
        let both = db.rows(&format!("EXPLAIN {}", QUERIES[0]));
        db.run(&format!("SET datafusion.explain.{setting} = true"));
        let one = db.rows(&format!("EXPLAIN {}", QUERIES[0]));
        db.run(&format!("SET datafusion.explain.{setting} = false"));
        let expected: Vec<_> = both.into_iter().filter(|row| row[0] == shown).collect();
        assert_eq!(one, expected);
    }
    db.run("SET datafusion.explain.show_schema = true");
    let physical = &db.rows(&format!("EXPLAIN {}", QUERIES[0]))[1][1];
    assert!(physical.contains("schema=[curvature:Float64;N]"), "{physical}");
}
