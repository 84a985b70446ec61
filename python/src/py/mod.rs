//! The module `bonnetdb._bonnetdb`: sessions and rows, without comfort. Its users are the Python files of the package.

mod both_ways;
mod edges;
mod errors;
mod frames;
mod fresh;
mod numbers;
mod rows;
mod session;
mod stream;
mod table;
mod values;
mod wait;

use pyo3::prelude::*;

#[pymodule]
mod _bonnetdb {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::edges::both_ways;
    #[pymodule_export]
    use super::rows::Rows;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::errors::add_to(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
