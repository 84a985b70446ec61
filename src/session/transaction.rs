//! BEGIN, COMMIT and ROLLBACK around one change: every statement is a transaction of its own.

use std::sync::{Arc, Mutex, PoisonError};

use bonnet_common::raise;
use datafusion::sql::parser::Statement as SqlStatement;
use datafusion::sql::sqlparser::ast;

use crate::{Answer, Result};
use bonnet_dialect::syntax::statements::statement::Statement;

/// A session's open transaction: what it has changed, if anything.
#[derive(Clone, Default)]
pub(crate) struct Transaction(Arc<Mutex<Option<Option<String>>>>);

impl Transaction {
    /// Whether a transaction has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether the open transaction has changed something.
    pub(crate) fn has_changed(&self) -> bool {
        matches!(&*self.0.lock().unwrap_or_else(PoisonError::into_inner), Some(Some(_)))
    }

    /// Answers a statement that begins or ends a transaction, and refuses a second change within one.
    ///
    /// # Errors
    /// If the statement asks for what a transaction of one statement cannot do.
    pub(crate) fn admit(&self, statement: &Statement) -> Result<Option<Answer>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let done = |tag: &str| Ok(Some(Answer::Done(tag.to_owned())));
        match (control(statement), &mut *open) {
            (Some(Control::Begin), None) => {
                *open = Some(None);
                done("BEGIN")
            }
            (Some(Control::Begin), Some(_)) => raise!(TransactionOpen, "a transaction is open already: COMMIT first"),
            (Some(_), None) => raise!(NoTransaction, "no transaction is open: BEGIN begins one"),
            (Some(Control::Commit), Some(_)) => {
                *open = None;
                done("COMMIT")
            }
            (Some(Control::Rollback), Some(changed)) => match changed.take() {
                None => {
                    *open = None;
                    done("ROLLBACK")
                }
                Some(tag) => {
                    *open = None;
                    raise!(
                        NotSupported,
                        "ROLLBACK cannot undo {tag}: every statement is a transaction of its own, and is committed when \
                         it ends"
                    )
                }
            },
            (None, Some(Some(tag))) if changes(statement) => raise!(
                NotSupported,
                "a transaction of several changes is not supported: every statement is a transaction of its own, and \
                 {tag} is committed already; COMMIT, then go on"
            ),
            (None, _) => Ok(None),
        }
    }

    /// Takes note of a statement that has run.
    pub(crate) fn ran(&self, statement: Option<String>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(changed @ None), Some(tag)) = (&mut *open, statement) {
            *changed = Some(tag);
        }
    }
}

enum Control {
    Begin,
    Commit,
    Rollback,
}

fn control(statement: &Statement) -> Option<Control> {
    let Statement::Sql(statement) = statement else { return None };
    let SqlStatement::Statement(statement) = statement.as_ref() else { return None };
    match statement.as_ref() {
        ast::Statement::StartTransaction { .. } => Some(Control::Begin),
        ast::Statement::Commit { .. } => Some(Control::Commit),
        ast::Statement::Rollback { .. } => Some(Control::Rollback),
        _ => None,
    }
}

/// Whether a statement changes tables, schemas or files.
fn changes(statement: &Statement) -> bool {
    match statement {
        Statement::Use { .. }
        | Statement::Summarize { .. }
        | Statement::Set { .. }
        | Statement::Show { .. }
        | Statement::Reset { .. } => false,
        Statement::Sql(statement) => match statement.as_ref() {
            SqlStatement::Statement(statement) => matches!(
                statement.as_ref(),
                ast::Statement::Insert(_)
                    | ast::Statement::Update { .. }
                    | ast::Statement::Delete(_)
                    | ast::Statement::CreateTable(_)
                    | ast::Statement::CreateView { .. }
                    | ast::Statement::CreateSchema { .. }
                    | ast::Statement::Drop { .. }
                    | ast::Statement::AlterTable { .. }
            ),
            SqlStatement::CopyTo(_) | SqlStatement::CreateExternalTable(_) => true,
            _ => false,
        },
        _ => true,
    }
}

/// The name of a change, where the statement is one.
pub(crate) fn change(statement: &Statement) -> Option<String> {
    if !changes(statement) {
        return None;
    }
    Some(match statement {
        Statement::Sql(statement) => {
            let text = statement.to_string();
            text.split_whitespace().next().unwrap_or_default().to_owned()
        }
        other => other.tag().to_owned(),
    })
}
