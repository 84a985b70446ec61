//! The keys of nodes: integers, or text.

use std::collections::{BTreeSet, HashSet};

use crate::columns::Values;

/// An integer in its usual spelling: `7`, but neither `07` nor `+7`, which are other keys as text.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let usual = !digits.starts_with('+') && (digits == "0" || !digits.starts_with('0'));
    if usual { text.parse().ok() } else { None }
}

/// The key columns of the lines: their values as integers or as text.
pub(super) enum Keys {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Keys {
    pub(super) fn new(text: bool) -> Self {
        if text { Self::Texts(Vec::new()) } else { Self::Integers(Vec::new()) }
    }

    pub(super) fn push(&mut self, field: &str) -> Result<(), String> {
        match self {
            Self::Texts(keys) => keys.push(field.to_owned()),
            Self::Integers(keys) => keys.push(integer(field).ok_or_else(|| {
                format!(
                    "the key '{field}' is no integer, as the keys before it are; attach with the option keys 'text'"
                )
            })?),
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(keys) => keys.len(),
            Self::Texts(keys) => keys.len(),
        }
    }

    pub(super) fn values(self) -> Values {
        match self {
            Self::Integers(keys) => Values::Integers(keys),
            Self::Texts(keys) => Values::Texts(keys),
        }
    }

    /// Appends the distinct keys of the edges that are not among these, in ascending order.
    pub(super) fn complete(&mut self, src: Self, dst: Self) {
        match (self, src, dst) {
            (Self::Integers(keys), Self::Integers(src), Self::Integers(dst)) => {
                let known: HashSet<i64> = keys.iter().copied().collect();
                let mut new: Vec<i64> = src.into_iter().chain(dst).filter(|key| !known.contains(key)).collect();
                new.sort_unstable();
                new.dedup();
                keys.extend(new);
            }
            (Self::Texts(keys), Self::Texts(src), Self::Texts(dst)) => {
                let known: HashSet<&String> = keys.iter().collect();
                let new: BTreeSet<String> = src.into_iter().chain(dst).filter(|key| !known.contains(key)).collect();
                drop(known);
                keys.extend(new);
            }
            _ => {}
        }
    }
}
