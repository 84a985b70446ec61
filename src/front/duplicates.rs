//! Columns that are selected twice. DataFusion wants every column of a SELECT to have a name of its own, but gives the same
//! name to the same expression: `SELECT a, a` and `SELECT *, a` would be refused. The later ones become `a_1`, `a_2`.

use std::collections::HashSet;

use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem, WildcardAdditionalOptions};

use super::ast::{normalized, quoted};

/// Gives names to what is selected again without a name of its own.
pub(super) fn name_duplicates(items: &mut [SelectItem]) {
    let mut taken: HashSet<String> = items.iter().filter_map(own_name).collect();
    let mut seen = HashSet::new();
    // The columns among them by their last names, those with a table's name apart.
    let mut columns = [HashSet::new(), HashSet::new()];
    let mut all = false;
    for item in items {
        match item {
            SelectItem::Wildcard(options) => all |= *options == WildcardAdditionalOptions::default(),
            SelectItem::UnnamedExpr(expr) => {
                let name = column(expr).map(normalized);
                let mut again = !seen.insert(normal_text(expr));
                if let Some(name) = &name {
                    // `a` beside `t.a` is likely the same; `t.a` beside `u.a` is not.
                    let qualified = usize::from(matches!(expr, Expr::CompoundIdentifier(_)));
                    columns[qualified].insert(name.clone());
                    again |= all || columns[1 - qualified].contains(name);
                }
                if !again {
                    continue;
                }
                let name = name.unwrap_or_else(|| expr.to_string());
                let free = (1..).map(|i| format!("{name}_{i}")).find(|name| taken.insert(name.clone()));
                let alias = quoted(free.expect("there are names enough"));
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
            }
            _ => {}
        }
    }
}

/// The name that an item is given, or has as a column.
fn own_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(expr) => column(expr).map(normalized),
        SelectItem::ExprWithAlias { alias, .. } => Some(normalized(alias)),
        _ => None,
    }
}

/// The column's name, where an expression is nothing but a column.
fn column(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    }
}

fn normal_text(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => normalized(name),
        Expr::CompoundIdentifier(names) => names.iter().map(normalized).collect::<Vec<_>>().join("."),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{rows, session};

    #[tokio::test]
    async fn what_is_selected_again_gets_a_name() {
        let context = session().await;
        for (text, expected) in [
            ("SELECT id, ID, nested.id FROM nested WHERE id = 1", "id,id_1,id_2"),
            ("SELECT *, id FROM nested WHERE id = 1", "id,xs,id_1"),
            ("SELECT id, id AS id_1, id FROM nested WHERE id = 1", "id,id_1,id_2"),
            ("SELECT id + 1, id + 1 FROM nested WHERE id = 1", "nested.id + Int64(1),id + 1_1"),
            ("SELECT count(*), sum(id), count(*) FROM nested", "count(*),sum(nested.id),count(*)_1"),
            ("SELECT id FROM nested WHERE id = 1 UNION SELECT id, id FROM nested", ""),
        ] {
            match rows(&context, text).await {
                Ok(rows) => assert_eq!(rows[0].replace(" | ", ","), expected, "{text}"),
                Err(error) => assert!(expected.is_empty(), "{text}: {error}"),
            }
        }
        let rows =
            rows(&context, "SELECT id, id + 0 FROM nested UNION SELECT id, id FROM nested ORDER BY 1").await.unwrap();
        assert_eq!(rows.len(), 3, "{rows:?}");
    }
}
