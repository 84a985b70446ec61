//! The methods that every plan without inputs has.

/// The methods of an `ExecutionPlan` that has neither inputs nor expressions of its own.
macro_rules! leaf_plan_methods {
    () => {
        fn children(&self) -> Vec<&::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>> {
            Vec::new()
        }

        fn apply_expressions(
            &self,
            _: &mut dyn FnMut(
                &::std::sync::Arc<dyn ::datafusion::physical_plan::PhysicalExpr>,
            ) -> ::datafusion::common::Result<::datafusion::common::tree_node::TreeNodeRecursion>,
        ) -> ::datafusion::common::Result<::datafusion::common::tree_node::TreeNodeRecursion> {
            Ok(::datafusion::common::tree_node::TreeNodeRecursion::Continue)
        }

        fn replace_children(
            self: ::std::sync::Arc<Self>,
            children: Vec<::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>>,
            _: ::datafusion::physical_plan::ReplaceChildrenOptions,
        ) -> ::datafusion::common::Result<::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>> {
            match children.is_empty() {
                true => Ok(self),
                false => ::datafusion::common::internal_err!("{} has no children", Self::static_name()),
            }
        }

        // Deprecated, but required of every plan.
        fn with_new_children(
            self: ::std::sync::Arc<Self>,
            children: Vec<::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>>,
        ) -> ::datafusion::common::Result<::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>> {
            let options = ::datafusion::physical_plan::ReplaceChildrenOptions::new(
                ::datafusion::physical_plan::ChildrenPropertiesMode::Recompute,
            );
            self.replace_children(children, options)
        }
    };
}
pub(crate) use leaf_plan_methods;
