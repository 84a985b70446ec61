//! The positional encodings that a run appends to its features: the option `encodings`.

use std::fmt;
use std::str::FromStr;

use bonnet_encodings::Encoding;
use serde::{Deserialize, Serialize};

use super::choices::text_serde;
use super::forms::parts;
use crate::ground::OptionError;

/// The most numbers of an encoding.
const MOST: usize = 4096;

/// Positional encodings, each with its dimension, in the order of their columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Encodings(Vec<(Encoding, usize)>);

impl Encodings {
    /// The strings that are valid, in words.
    pub(crate) const FORMS: &'static str =
        "laplacian:k, random_walk:k, degree, or several of them in a list; k up to 4096, or NULL";

    /// The encodings with their dimensions.
    pub fn iter(&self) -> impl Iterator<Item = (Encoding, usize)> + '_ {
        self.0.iter().copied()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The columns that they append.
    pub fn columns(&self) -> usize {
        self.0.iter().map(|encoding| encoding.1).sum()
    }
}

impl fmt::Display for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (encoding, dimension)) in self.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "" } else { "," }, encoding.name())?;
            if encoding != Encoding::Degree {
                write!(f, ":{dimension}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Encodings {
    type Err = OptionError;

    /// `laplacian:8,degree`; the empty string is none.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let one = |part: &str| {
            let (name, argument) = parts(part.trim());
            let encoding = Encoding::of_name(name)?;
            let dimension = match argument {
                None => encoding.usual_dimension(),
                Some(_) if encoding == Encoding::Degree => return None,
                Some(argument) => argument.trim().parse().ok().filter(|k| (1..=MOST).contains(k))?,
            };
            Some((encoding, dimension))
        };
        if text.is_empty() {
            return Ok(Self::default());
        }
        let all: Option<Vec<_>> = text.split(',').map(one).collect();
        let invalid = || OptionError::invalid("encodings", text, Self::FORMS);
        let all = all.ok_or_else(invalid)?;
        let mut kinds: Vec<&str> = all.iter().map(|(encoding, _)| encoding.name()).collect();
        kinds.sort_unstable();
        if kinds.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(OptionError::invalid("encodings", text, "each kind once"));
        }
        Ok(Self(all))
    }
}

text_serde!(Encodings);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_and_written() {
        let all: Encodings = "laplacian:3, random_walk,degree".parse().unwrap();
        let expected = [(Encoding::Laplacian, 3), (Encoding::RandomWalk, 20), (Encoding::Degree, 1)];
        assert_eq!((all.iter().collect::<Vec<_>>(), all.columns()), (expected.to_vec(), 24));
        assert_eq!(all.to_string(), "laplacian:3,random_walk:20,degree");
        assert_eq!(serde_json::from_str::<Encodings>(&serde_json::to_string(&all).unwrap()).unwrap(), all);
        assert!("".parse::<Encodings>().unwrap().is_empty());
        for wrong in ["laplace:3", "laplacian:0", "laplacian:5000", "degree:2", "laplacian:", ",", "degree,,degree"] {
            let error = wrong.parse::<Encodings>().unwrap_err().to_string();
            assert!(error.contains("laplacian:k, random_walk:k, degree"), "{error}");
        }
        assert!("degree,degree".parse::<Encodings>().unwrap_err().to_string().contains("each kind once"));
    }
}
