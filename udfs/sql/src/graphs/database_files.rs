//! The files of databases, which only their own statements write.

use std::path::Path;

/// Refuses a path that lies in the folder of a lasting database or of a Delta table, whether it is open or not, itself or by
/// symbolic links.
///
/// # Errors
/// The text of the refusal, which names the folder.
pub fn outside_databases(path: &Path) -> Result<(), String> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = absolute.ancestors().find_map(|folder| folder.canonicalize().ok());
    let around = there.iter().flat_map(|folder| folder.ancestors()).chain(absolute.ancestors());
    for folder in around {
        let what = match () {
            () if folder.join("bonnet.json").exists() => "database",
            () if folder.join("_delta_log").exists() => "Delta table",
            () => continue,
        };
        return Err(format!(
            "'{}' is a {what}, whose files only its own statements change; use INSERT or CREATE TABLE, or another folder",
            folder.display()
        ));
    }
    Ok(())
}
