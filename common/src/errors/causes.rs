//! The errors beneath an error.

use std::error::Error;
use std::io;

/// An error, that which it wraps, and so on; also those within errors of input and output, which name only the source of
/// what they wrap.
pub(super) fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>() {
        Some(wrapper) => wrapper.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    })
}
