//! Strings: concatenation and functions of long strings within the memory limit, patterns, digits, and bars of
//! characters.

pub(crate) mod bar;
pub(crate) mod bounded_functions;
pub(crate) mod concatenation;
pub(crate) mod hex;
pub(crate) mod long_texts;
pub(crate) mod null_texts;
pub(crate) mod octet_length;
pub(crate) mod regexp_extract;
pub(crate) mod regexp_lists;
pub(crate) mod similar_to;
pub(crate) mod sparkline;
pub(crate) mod unicode;
