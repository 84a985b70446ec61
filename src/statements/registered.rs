//! `ATTACH 'registry:name'`: a published data set by its name, from the folder of data sets. Every file is compared with the
//! published one by its SHA-256.

use std::path::{Path, PathBuf};

use bonnet_datasets::{Fault, RegisteredFile, RegisteredSet, registered};
use bonnet_dialect::syntax::statements::statement::Attach;

use crate::{Error, ErrorKind, Raised, Result, Session};

/// The place and the format of a data set, once all of its files are there as they were published.
///
/// # Errors
/// If there is no such data set, files are missing and cannot be had, or differ from the published ones.
pub(super) async fn found(session: &Session, name: &str, attach: &Attach) -> Result<(String, Option<String>)> {
    let set = registered(name).map_err(|error| Error::statement(error.to_string()))?;
    if let Some(format) = attach.format.as_deref().filter(|format| !format.eq_ignore_ascii_case(set.format)) {
        return Err(Error::statement(format!(
            "registry:{} is of TYPE {}, not {format}: leave TYPE out",
            set.name, set.format
        )));
    }
    let no_home = || Error::statement("there is no home folder for data sets: SET bonnet.data = 'folder'");
    let data = session.settings()?.data().ok_or_else(no_home)?;
    let data = std::path::absolute(&data).unwrap_or(data);
    let at_first = faults(set, set.files.iter().collect(), data.clone()).await?;
    refuse_differing(set, &data, &at_first)?;
    if !at_first.is_empty() {
        fetch(session, set, &data, &at_first).await?;
        let missing = at_first.iter().map(|(file, _)| *file).collect();
        let left = faults(set, missing, data.clone()).await?;
        set_aside(set, &data, &left)?;
        let missing: Vec<&RegisteredFile> = left.iter().map(|(file, _)| *file).collect();
        if !missing.is_empty() {
            return Err(lacking(set, &data, &missing));
        }
    }
    Ok((set.place(&data).display().to_string(), Some(set.format.to_owned())))
}

type Faults = Vec<(&'static RegisteredFile, Fault)>;

/// What is wrong with the files, read on a thread that may wait.
async fn faults(set: &'static RegisteredSet, files: Vec<&'static RegisteredFile>, data: PathBuf) -> Result<Faults> {
    let read = tokio::task::spawn_blocking(move || set.faults_of(files, &data, &|| true)).await;
    let read =
        read.map_err(|error| Error::statement(format!("the reader failed by a defect, please report it: {error}")))?;
    Ok(read.map_err(|error| Raised::new(ErrorKind::Files, error.to_string()))?)
}

/// Refuses files that are there and are not the published ones.
fn refuse_differing(set: &RegisteredSet, data: &Path, faults: &Faults) -> Result<()> {
    let differing = faults.iter().find_map(|(file, fault)| match fault {
        Fault::Differs(sum) => Some((file, sum)),
        Fault::Missing => None,
    });
    let Some((file, sum)) = differing else { return Ok(()) };
    let text = format!(
        "registry:{}: '{}' is not the file that was published: its SHA-256 is {sum}, that of the published one {}",
        set.name,
        set.file(data, file).display(),
        file.sha256
    );
    let place = set.place(data);
    let advice = format!("move it away, or ATTACH '{}' as it is", place.display());
    Err(Raised::new(ErrorKind::Files, text).advise(advice).into())
}

/// Fetches files that are not there, of which it is known where they are.
#[cfg(feature = "remote")]
async fn fetch(session: &Session, set: &RegisteredSet, data: &Path, faults: &Faults) -> Result<()> {
    bonnet_sql::outside_databases(data).map_err(Error::statement)?;
    let settings = session.settings()?;
    for (file, _) in faults {
        let address = match (settings.data_mirror(), file.url) {
            (Some(mirror), _) if file.path.is_empty() => format!("{mirror}/{}", set.folder),
            (Some(mirror), _) => format!("{mirror}/{}/{}", set.folder, file.path),
            (None, Some(url)) => url.to_owned(),
            (None, None) => continue,
        };
        // Blanks are all that a name of a file has to be rid of.
        let address = address.replace(' ', "%20");
        let fetched = bonnet_catalogs::download(&address, &set.file(data, file), file.bytes).await;
        fetched.map_err(|error| {
            let error = Error::from(error);
            Raised::new(error.kind(), format!("registry:{}: {error}", set.name))
        })?;
    }
    Ok(())
}

#[cfg(not(feature = "remote"))]
async fn fetch(session: &Session, set: &RegisteredSet, _: &Path, _: &Faults) -> Result<()> {
    match session.settings()?.data_mirror() {
        Some(_) => Err(Error::statement(format!(
            "registry:{}: this engine was built without files of other machines: build it with the feature remote",
            set.name
        ))),
        None => Ok(()),
    }
}

/// Moves a file that has come and is not the published one out of the way.
fn set_aside(set: &RegisteredSet, data: &Path, faults: &Faults) -> Result<()> {
    for (file, fault) in faults {
        let Fault::Differs(sum) = fault else { continue };
        let path = set.file(data, file);
        let aside = PathBuf::from(format!("{}.differs", path.display()));
        std::fs::rename(&path, &aside).map_err(|error| Raised::new(ErrorKind::Files, error.to_string()))?;
        let text = format!(
            "registry:{}: what came of {} is not the file that was published: its SHA-256 is {sum}, that of the published one \
             {}; it is kept as '{}'",
            set.name,
            file.path,
            file.sha256,
            aside.display()
        );
        return Err(Raised::new(ErrorKind::Files, text).into());
    }
    Ok(())
}

/// The error of files that are not there.
fn lacking(set: &RegisteredSet, data: &Path, missing: &[&RegisteredFile]) -> Error {
    let files = if missing.len() == 1 { "1 file is".to_owned() } else { format!("{} files are", missing.len()) };
    let first = missing.first().map(|file| set.file(data, file).display().to_string()).unwrap_or_default();
    let text = format!("registry:{}: {files} not in the folder of data sets, such as '{first}'", set.name);
    let advice = format!(
        "SET bonnet.data names another folder; {} publishes the files, which SELECT unnest(files) FROM bonnet.datasets WHERE \
         name = '{}' lists",
        set.source, set.name
    );
    Raised::new(ErrorKind::Files, text).advise(advice).into()
}
