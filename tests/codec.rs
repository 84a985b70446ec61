//! Every operator survives being written down: its copy, read back, answers the same rows.

use std::sync::Arc;

use bonnet_sql::codec::FunctionCodec;
use bonnet_sql::{Kind, RelationExec, RelationNode, SessionGraphs};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};

use super::{Db, texts};

/// A statement for each spelling of each function that stands in FROM.
fn statements(db: &Db) -> Vec<(String, String)> {
    let mut statements = Vec::new();
    for function in db.engine.registry().iter().filter(|function| function.kind().in_from()) {
        let name = function.name;
        statements.push((name.to_owned(), function.example.to_owned()));
        if function.kind() == Kind::Edge {
            statements.push((name.to_owned(), format!("SELECT src, dst, {name}(src, dst) OVER () FROM karate.edges")));
            let many =
                "(SELECT *, 1 AS graph_id FROM karate.edges UNION ALL SELECT *, 2 FROM karate.edges WHERE src > 2)";
            statements.push((name.to_owned(), format!("SELECT * FROM {name}({many})")));
            let over = "OVER (PARTITION BY graph_id)";
            statements.push((name.to_owned(), format!("SELECT graph_id, {name}(src, dst) {over} FROM {many}")));
        }
    }
    // Options, carried columns, several inputs, columns left out, runs that are shared, and parameters by rows.
    for (name, sql) in [
        (
            "train",
            "SELECT model, note, status, error, test_accuracy, parameters FROM train((SELECT 'karate' AS graph,
             column1 AS model, column2 AS note FROM (VALUES ('gcn', 'a'), ('nothing', NULL))),
             epochs => 4, features => 'identity', lr => 0.02)",
        ),
        (
            "midpoint_curvature",
            "SELECT * FROM midpoint_curvature((SELECT src, dst FROM karate.edges WHERE src < 3),
             nodes => karate.nodes, relative => false, anchors => 9, seed => 4)",
        ),
        (
            "connected_components",
            "WITH c AS (SELECT * FROM connected_components(karate.edges, nodes => karate.nodes))
             SELECT a.node, b.size FROM c a JOIN c b ON a.node = b.component",
        ),
        ("graph_profile", "SELECT regime, diameter FROM graph_profile('*')"),
        (
            "erdos_renyi",
            "SELECT graph_id, count(*) FROM erdos_renyi(
             (SELECT column1 AS graph_id, 20 AS n, 0.5 AS p FROM (VALUES ('a'), ('b'))), seed => 3) GROUP BY 1",
        ),
        ("grid_2d", "SELECT * FROM grid_2d(3, 4, periodic => true)"),
    ] {
        statements.push((name.to_owned(), sql.to_owned()));
    }
    statements
}

/// The optimised plan of a query, as the engine itself makes it.
fn plan(db: &Db, sql: &str) -> LogicalPlan {
    db.run(&format!("CREATE OR REPLACE VIEW written AS {sql}"));
    let view = db.engine.block_on(db.session.context().table_provider("written")).unwrap();
    let plan = view.get_logical_plan().expect("a view has a plan").into_owned();
    db.session.context().state().optimize(&plan).unwrap()
}

fn physical(db: &Db, state: &SessionState, plan: &LogicalPlan) -> Arc<dyn ExecutionPlan> {
    db.engine.block_on(state.query_planner().create_physical_plan(plan, state)).unwrap()
}

/// The rows of a plan in an order of their own.
fn rows(db: &Db, plan: Arc<dyn ExecutionPlan>) -> Vec<Vec<String>> {
    let mut rows = texts(&db.engine.block_on(collect(plan, db.session.context().task_ctx())).unwrap());
    rows.sort();
    rows
}

fn codec(db: &Db) -> FunctionCodec {
    let state = db.session.context().state();
    FunctionCodec::new(Arc::clone(db.engine.registry()), Arc::new(SessionGraphs::new(&state)))
}

#[test]
fn every_function_of_from_has_a_statement_here() {
    let db = Db::with_karate();
    let statements = statements(&db);
    for function in db.engine.registry().iter().filter(|function| function.kind().in_from()) {
        let own: Vec<_> = statements.iter().filter(|(name, _)| name == function.name).collect();
        assert!(!own.is_empty(), "{}", function.name);
        for (name, sql) in own {
            let mut found = 0;
            let plan = plan(&db, sql);
            plan.apply_with_subqueries(|plan| {
                if let LogicalPlan::Extension(extension) = plan
                    && let Some(node) = extension.node.as_any().downcast_ref::<RelationNode>()
                {
                    // Its inputs may be calls of others.
                    found += usize::from(node.function().name == name);
                }
                Ok(TreeNodeRecursion::Continue)
            })
            .unwrap();
            assert!(found > 0, "{sql}\n{}", plan.display_indent());
        }
    }
}

#[test]
fn a_logical_call_that_is_written_and_read_answers_the_same() {
    // The copy is read in another engine, which has the same graphs.
    let (here, there) = (Db::with_karate(), Db::with_karate());
    let (writer, reader) = (codec(&here), codec(&there));
    for (name, sql) in statements(&here) {
        let original = plan(&here, &sql);
        let task = there.session.context().task_ctx();
        let copy = original.clone().transform_up_with_subqueries(|plan| {
            let LogicalPlan::Extension(extension) = &plan else { return Ok(Transformed::no(plan)) };
            let mut bytes = Vec::new();
            LogicalExtensionCodec::try_encode(&writer, extension, &mut bytes)?;
            let inputs: Vec<LogicalPlan> = extension.node.inputs().into_iter().cloned().collect();
            let copy = LogicalExtensionCodec::try_decode(&reader, &bytes, &inputs, &task)?;
            assert!(copy.node.dyn_eq(extension.node.as_ref()), "{name}: the copy is another call");
            Ok(Transformed::yes(LogicalPlan::Extension(copy)))
        });
        let copy = copy.data().unwrap();
        assert_eq!(copy.schema(), original.schema(), "{sql}");
        let expected = rows(&here, physical(&here, &here.session.context().state(), &original));
        let found = rows(&there, physical(&there, &there.session.context().state(), &copy));
        assert!(!expected.is_empty(), "{sql}");
        assert_eq!(found, expected, "{sql}");
    }
}

#[test]
fn a_physical_call_that_is_written_and_read_answers_the_same() {
    let (here, there) = (Db::with_karate(), Db::with_karate());
    let (writer, reader) = (codec(&here), codec(&there));
    let converter = DefaultPhysicalProtoConverter {};
    for (name, sql) in statements(&here) {
        // Made twice: a sort that keeps the first rows hands on what it has seen to a plan made of it.
        let make = || physical(&here, &here.session.context().state(), &plan(&here, &sql));
        let (original, template) = (make(), make());
        let task = there.session.context().task_ctx();
        let mut written = 0;
        let copy = template.transform_up(|plan| {
            if plan.downcast_ref::<RelationExec>().is_none() {
                return Ok(Transformed::no(plan));
            }
            let mut bytes = Vec::new();
            PhysicalExtensionCodec::try_encode(&writer, Arc::clone(&plan), &mut bytes, &converter)?;
            let inputs: Vec<_> = plan.children().into_iter().cloned().collect();
            let copy = PhysicalExtensionCodec::try_decode(&reader, &bytes, &inputs, &task, &converter)?;
            assert_eq!(copy.schema(), plan.schema(), "{name}");
            written += 1;
            Ok(Transformed::yes(copy))
        });
        let copy = copy.data().unwrap();
        assert!(written > 0, "{sql}");
        let expected = rows(&here, original);
        assert!(!expected.is_empty(), "{sql}");
        assert_eq!(rows(&there, copy), expected, "{sql}");
    }
}

#[test]
fn a_whole_plan_becomes_bytes_and_a_plan_again() {
    // Plans over rows of their own: a table of this process cannot be shipped.
    let (here, there) = (Db::new(), Db::new());
    for sql in [
        "SELECT count(*) AS edges, max(dst) AS last FROM cycle(7)",
        "SELECT src, dst, forman_ricci FROM forman_ricci((SELECT * FROM complete(5)))",
        "SELECT node, curvature FROM midpoint_curvature((SELECT * FROM star(6)), relative => false) WHERE curvature <> 0",
        "SELECT component, count(*) FROM connected_components((SELECT * FROM path(4))) GROUP BY component",
    ] {
        let original = physical(&here, &here.session.context().state(), &plan(&here, sql));
        let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&original), &codec(&here)).unwrap();
        let task = there.session.context().task_ctx();
        let copy = physical_plan_from_bytes_with_extension_codec(&bytes, &task, &codec(&there)).unwrap();
        let expected = rows(&here, original);
        assert!(!expected.is_empty(), "{sql}");
        assert_eq!(rows(&there, copy), expected, "{sql}");
    }
}

#[test]
fn a_plan_over_other_graphs_is_refused() {
    let (here, there) = (Db::with_karate(), Db::new());
    let original = physical(
        &here,
        &here.session.context().state(),
        &plan(&here, "SELECT graph, nodes FROM graph_profile(karate)"),
    );
    let bytes = physical_plan_to_bytes_with_extension_codec(original, &codec(&here)).unwrap();
    let task = there.session.context().task_ctx();
    let error = physical_plan_from_bytes_with_extension_codec(&bytes, &task, &codec(&there)).unwrap_err().to_string();
    assert!(error.contains("karate") && error.contains("missing here"), "{error}");
}
