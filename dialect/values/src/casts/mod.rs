//! Casts: numbers that are rounded, strings of numbers, timestamps and nested values, and back.

pub(crate) mod float_range;
pub(crate) mod nested_syntax;
pub(crate) mod nested_texts;
pub(crate) mod nested_types;
pub(crate) mod parts_of_texts;
pub(crate) mod rounded_casts;
pub(crate) mod rounded_parts;
pub(crate) mod text_casts;
pub(crate) mod times_as_texts;
