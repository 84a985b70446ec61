//! CTEs within a query that has one of the same name around it: `WITH x AS (...) SELECT ... (WITH x AS (...) ...)`.
//!
//! In SQL the inner one hides the other. DataFusion 55 takes them for two of one WITH and refuses; so the inner one gets a
//! name of its own.
//!
//! Upstream: <https://github.com/apache/datafusion/pull/18956>
//! Shows: `WITH x AS (SELECT 1 AS a) SELECT (WITH x AS (SELECT 9 AS a) SELECT a FROM x), a FROM x` gives `9 | 1`

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query, TableAlias, TableFactor};

use crate::syntax::tree::ast;

/// The names of the CTEs of the queries around the place that a visitor has come to.
#[derive(Default)]
pub(crate) struct CteNames {
    around: Vec<Scope>,
    renamed: usize,
}

/// The CTEs of a query.
struct Scope {
    /// Their names, and those that they got.
    names: Vec<(String, Option<String>)>,
    /// The addresses of their queries, to know them when they are visited.
    queries: Vec<*const Query>,
    is_recursive: bool,
    /// The number of those that the place may name.
    visible: usize,
}

impl CteNames {
    /// The query's place among the CTEs of the query around.
    fn place(&self, query: &Query) -> Option<usize> {
        self.around.last()?.queries.iter().position(|other| std::ptr::eq(*other, query))
    }

    fn show(&mut self, visible: usize) {
        if let Some(scope) = self.around.last_mut() {
            scope.visible = visible;
        }
    }

    /// Before a query is visited: its CTEs get names of their own, where they need them.
    pub(crate) fn enter(&mut self, query: &mut Query) {
        if let Some(at) = self.place(query)
            && self.around.last().is_some_and(|scope| scope.is_recursive)
        {
            self.show(at + 1);
        }
        let is_recursive = query.with.as_ref().is_some_and(|with| with.recursive);
        let mut scope = Scope { names: Vec::new(), queries: Vec::new(), is_recursive, visible: 0 };
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            let name = ast::normalized(&cte.alias.name);
            let mut hidden = self.around.iter().flat_map(|scope| &scope.names);
            let other = hidden.any(|(other, _)| *other == name).then(|| {
                self.renamed += 1;
                format!("{name} ({})", self.renamed)
            });
            if let Some(other) = &other {
                cte.alias.name = Ident { span: cte.alias.name.span, ..ast::quoted(other.clone()) };
            }
            scope.names.push((name, other));
            scope.queries.push(std::ptr::from_ref(cte.query.as_ref()));
        }
        self.around.push(scope);
    }

    /// After a query was visited.
    pub(crate) fn leave(&mut self, query: &Query) {
        self.around.pop();
        if let Some(at) = self.place(query) {
            self.show(at + 1);
        }
    }

    /// Gives a table in FROM the name of its CTE. Whether it is one.
    pub(crate) fn rename(&self, factor: &mut TableFactor) -> bool {
        let TableFactor::Table { name, alias, args: None, version: None, .. } = factor else { return false };
        let [part] = name.0.as_slice() else { return false };
        let Some(written) = part.as_ident().cloned() else { return false };
        let wanted = ast::normalized(&written);
        let mut scopes = self.around.iter().rev();
        let found = scopes.find_map(|scope| scope.names[..scope.visible].iter().rfind(|(name, _)| *name == wanted));
        if let Some((_, Some(other))) = found {
            *name = ObjectName::from(vec![Ident { span: written.span, ..ast::quoted(other.clone()) }]);
            alias.get_or_insert(TableAlias { explicit: true, name: written, columns: vec![], at: None });
        }
        found.is_some()
    }
}
