//! Sparse matrices as scipy's `save_npz` writes them: by rows (csr), by columns (csc) or in coordinates (coo).

use crate::array::Npz;
use crate::matrix::Matrix;
use crate::{Error, Result};

/// The members that hold the entries, of whatever layout.
pub(crate) const MEMBERS: [&str; 5] = ["indptr", "indices", "row", "col", "data"];

/// The layout by the member `format`; old files have none, and are told by their other members.
fn layout(npz: &mut Npz) -> Result<String> {
    if !npz.has("format") {
        return Ok(if npz.has("indptr") { "csr" } else { "coo" }.to_owned());
    }
    let names = npz.array("format")?.texts().map_err(|what| npz.fault("format", what))?;
    match names.as_slice() {
        [name] if ["csr", "csc", "coo"].contains(&name.as_str()) => Ok(name.clone()),
        names => {
            let what = format!(
                "the matrix is stored as {}; csr, csc and coo are read: scipy.sparse.save_npz(file, matrix.tocsr()) writes one",
                names.join(", ")
            );
            Err(npz.fault("format", what))
        }
    }
}

/// The number of entries that are stored.
pub(crate) fn stored(npz: &mut Npz) -> Result<usize> {
    Ok(npz.header("data")?.len().unwrap_or(0))
}

/// The matrix.
pub(crate) fn read(npz: &mut Npz, rows: usize, width: usize) -> Result<Matrix> {
    let layout = layout(npz)?;
    let mut integers = |name: &str| -> Result<Vec<i64>> {
        let array = npz.array(name)?;
        array.integers().map_err(|what| npz.fault(name, what))
    };
    let (one, other) = match layout.as_str() {
        "coo" => (integers("row")?, integers("col")?),
        _ => (integers("indptr")?, integers("indices")?),
    };
    let data = npz.array("data")?.floats().map_err(|what| npz.fault("data", what))?;
    let matrix = match layout.as_str() {
        "csr" => Matrix::from_csr(width, &one, &other, &data, rows),
        "csc" => Matrix::from_csc(width, &one, &other, &data, rows),
        _ => Matrix::from_coo(width, &one, &other, &data, rows),
    };
    matrix.map_err(|what| Error::file(npz.path(), what))
}
