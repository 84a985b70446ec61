//! What plans claim of their rows, held to the rows: every order and every constant of every node, as its rows pass. An
//! optimizer leaves out sorts by these claims, and a wrong one shows in the answer only where a query happens to ask for it.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::row::{OwnedRow, RowConverter, SortField};
use bonnetdb::Session;
use datafusion::catalog::MemTable;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, exec_err, internal_err};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::col;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt;

use super::super::Db;

/// Has the plans of a session checked.
pub(super) fn check(session: &Session) {
    let state = session.context().state_ref();
    let mut state = state.write();
    let checked = SessionStateBuilder::new_from_existing(state.clone());
    *state = checked.with_physical_optimizer_rule(Arc::new(Claims)).build();
}

/// Puts a check above every node that claims something.
#[derive(Debug)]
struct Claims;

impl PhysicalOptimizerRule for Claims {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|plan| {
            let claims = CheckExec::claims(&plan);
            Ok(match claims.is_empty() {
                true => Transformed::no(plan),
                false => Transformed::yes(Arc::new(CheckExec { input: plan, claims }) as Arc<dyn ExecutionPlan>),
            })
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "claims"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A claim about the rows of each partition.
#[derive(Debug, Clone)]
enum Claim {
    Sorted(LexOrdering),
    Constant(Arc<dyn PhysicalExpr>),
}

impl Claim {
    fn keys(&self) -> Vec<PhysicalSortExpr> {
        match self {
            Self::Sorted(ordering) => ordering.iter().cloned().collect(),
            Self::Constant(expr) => vec![PhysicalSortExpr::new_default(Arc::clone(expr))],
        }
    }
}

/// The rows of a node, as they are.
#[derive(Debug)]
struct CheckExec {
    input: Arc<dyn ExecutionPlan>,
    claims: Vec<Claim>,
}

impl CheckExec {
    fn claims(plan: &Arc<dyn ExecutionPlan>) -> Vec<Claim> {
        let known = plan.equivalence_properties();
        let orderings = known.oeq_class().iter().cloned().map(Claim::Sorted);
        let constants = known.constants().into_iter().map(|constant| Claim::Constant(constant.expr));
        orderings.chain(constants).collect()
    }
}

/// A claim beside the last row that it was held to.
struct Check {
    claim: Claim,
    keys: Vec<PhysicalSortExpr>,
    converter: RowConverter,
    last: Option<OwnedRow>,
}

impl Check {
    fn new(claim: Claim, input: &Arc<dyn ExecutionPlan>) -> Result<Self> {
        let keys = claim.keys();
        let schema = input.schema();
        let fields = keys.iter().map(|key| Ok(SortField::new_with_options(key.expr.data_type(&schema)?, key.options)));
        let converter = RowConverter::new(fields.collect::<Result<_>>()?)?;
        Ok(Self { claim, keys, converter, last: None })
    }

    fn hold(&mut self, batch: &RecordBatch, plan: &str) -> Result<()> {
        let column = |key: &PhysicalSortExpr| key.expr.evaluate(batch)?.into_array(batch.num_rows());
        let columns: Vec<ArrayRef> = self.keys.iter().map(column).collect::<Result<_>>()?;
        let rows = self.converter.convert_columns(&columns)?;
        for row in rows.iter() {
            let fits = self.last.as_ref().is_none_or(|last| match self.claim {
                Claim::Sorted(_) => last.row() <= row,
                Claim::Constant(_) => last.row() == row,
            });
            if !fits {
                // Errors leave structures with braces out.
                let claim = format!("{:?}", self.claim).replace('{', "<").replace('}', ">");
                return exec_err!("a plan claims {claim}, which its rows are not: {plan}");
            }
            self.last = Some(row.owned());
        }
        Ok(())
    }
}

impl DisplayAs for CheckExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CheckExec")
    }
}

impl ExecutionPlan for CheckExec {
    fn name(&self) -> &str {
        "CheckExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), None) = (children.pop(), children.pop()) else {
            return internal_err!("CheckExec has one child");
        };
        Ok(Arc::new(Self { claims: Self::claims(&input), input }))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let checks = self.claims.iter().map(|claim| Check::new(claim.clone(), &self.input));
        let mut checks = checks.collect::<Result<Vec<_>>>()?;
        let plan = self.input.name().to_owned();
        let rows = self.input.execute(partition, context)?.map(move |batch| {
            let batch = batch?;
            for check in &mut checks {
                check.hold(&batch, &plan)?;
            }
            Ok::<_, DataFusionError>(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.input.schema(), rows)))
    }
}

#[test]
fn a_claim_that_does_not_hold_is_found() {
    let db = Db::new();
    check(&db.session);
    let rows = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![2, 1])) as ArrayRef)]).unwrap();
    let table = MemTable::try_new(rows.schema(), vec![vec![rows]]).unwrap();
    let claimed = table.with_sort_order(vec![vec![col("a").sort(true, false)]]);
    db.session.context().register_table("mixed", Arc::new(claimed)).unwrap();
    db.refuses("SELECT a FROM mixed ORDER BY a", &["a plan claims Sorted", "which its rows are not"]);
    assert_eq!(db.rows("SELECT a FROM (VALUES (2), (1)) AS v(a) ORDER BY a"), [["1"], ["2"]]);
}
