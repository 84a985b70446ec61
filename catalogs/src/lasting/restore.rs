//! Rows of an earlier version put back: what ROLLBACK does to a table that its transaction has changed.

use std::collections::HashSet;

use bonnet_common::{Version, raise};
use datafusion::common::Result;
use deltalake::kernel::{Action, Add, LogicalFileView};

use super::removal_lock::RemovalLock;
use super::table::LastingTable;
use super::{history, store};

impl LastingTable {
    /// Gives the table the rows of version `before` again, in one commit after its own version; the version that has them. Reads the
    /// lists of files of both versions, and no file.
    ///
    /// # Errors
    /// If its own version is not the latest, the table cannot be changed, or files of `before` were removed by VACUUM.
    pub(crate) async fn restore(&self, before: u64) -> Result<u64> {
        let after = self.number();
        self.writable()?;
        let _turn = RemovalLock::wait(&self.location()?).await?;
        let now = self.now().await?;
        if now.version() != Some(after) {
            return overtaken();
        }
        let was = history::load(&now, self.name(), &Version::Number(before)).await?;
        let (was, is) = (store::files(&was, self.name()).await?, store::files(&now, self.name()).await?);
        let paths = |files: &[LogicalFileView]| files.iter().map(|file| file.path().into_owned()).collect();
        let (had, has): (HashSet<String>, HashSet<String>) = (paths(&was), paths(&is));
        let new = is.iter().filter(|file| !had.contains(&*file.path()));
        let mut actions: Vec<Action> = new.map(|file| Action::Remove(file.remove_action(true))).collect();
        actions.extend(was.iter().filter(|file| !has.contains(&*file.path())).map(|file| Action::Add(add(file))));
        match store::commit_next(&now, self.name(), actions, "RESTORE").await? {
            true => Ok(after + 1),
            false => overtaken(),
        }
    }
}

/// The error of a table that is not as the transaction left it.
pub(crate) fn overtaken<T>() -> Result<T> {
    raise!(
        Statement,
        "its rows have changed otherwise meanwhile, by another session or run by run by train, so they stay as they are"
    )
}

/// The action that names a file again.
#[expect(deprecated, reason = "the arrays that are advised instead have no statistics as a log keeps them")]
fn add(file: &LogicalFileView) -> Add {
    file.add_action()
}
