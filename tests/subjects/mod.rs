//! Subjects in SQL, against figures from elsewhere.

mod foundation;
mod homophily;
mod items;
mod learning;
mod manifold_types;
mod relational;
mod triangulations;
