//! Constants that the optimizer leaves to the execution: the long ones. In a plan each rule would copy them and write them
//! into the names of columns, which takes seconds for 100 MB, and no statement ends meanwhile.
//!
//! Upstream: none known
//! Shows: no statement: of a constant of 100 MB the answer is right, but planning takes seconds and does not stop.

use std::cell::Cell;

use bonnet_sql::execution_error;
use datafusion::common::Result;

thread_local! {
    static SHORT: Cell<bool> = const { Cell::new(false) };
}

/// Does some work on plans, in which functions that would give a long value fail instead: their calls stay as they are.
pub fn with_short_constants<T>(work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            SHORT.set(self.0);
        }
    }
    let _before = Before(SHORT.replace(true));
    work()
}

/// Fails inside [`with_short_constants`].
pub(crate) fn leave_long_constant(function: &str, bytes: usize) -> Result<()> {
    match SHORT.get() {
        true => Err(execution_error(format!("{function}: a constant of {bytes} bytes is not computed beforehand"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inside_and_after_a_panic_too() {
        assert!(leave_long_constant("repeat", 1).is_ok());
        with_short_constants(|| {
            with_short_constants(|| assert!(leave_long_constant("repeat", 1).is_err()));
            assert!(leave_long_constant("repeat", 1).is_err());
        });
        assert!(std::panic::catch_unwind(|| with_short_constants(|| panic!("on purpose"))).is_err());
        assert!(leave_long_constant("repeat", 1).is_ok());
    }
}
