//! Products with an operator, and polynomials of it.

pub mod polynomial;
pub mod propagate;
pub mod propagate_beside;
