//! The values that every floor above is made of: axes and layouts of parameters, matrices, points, random numbers, errors.

mod error;
mod layout;
mod matrix;
mod points;
pub mod radial;
pub mod random;

pub use error::{BuildError, DataError, OptionError, SaveError, Status, TrainError};
pub use layout::{Axis, Block, Initial, Layout};
pub use matrix::Matrix;
pub use points::PointSpace;
pub use radial::Radial;

/// The columns in which a width is stored: the next multiple of 8.
pub const fn padded(width: usize) -> usize {
    width.next_multiple_of(8)
}
