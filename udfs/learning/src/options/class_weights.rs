//! The weights of the classes in the training loss: the option `class_weights`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::choices::text_serde;
use crate::ground::OptionError;

/// The weights of the classes in the training loss, which is the weighted mean over the items of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ClassWeights {
    /// Every class has weight 1.
    #[default]
    None,
    /// Training items / (classes among them * training items of the class): `class_weight='balanced'` of scikit-learn.
    Balanced,
    /// One of each class, in the order of the classes.
    Given(Vec<f64>),
}

impl ClassWeights {
    /// The strings that are valid, in words.
    pub(crate) const FORMS: &'static str =
        "none, balanced, or a weight of 0 or more for each class between commas, such as 1,5; NULL is none";
}

impl fmt::Display for ClassWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Balanced => f.write_str("balanced"),
            Self::Given(weights) => {
                let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
                f.write_str(&weights.join(","))
            }
        }
    }
}

impl FromStr for ClassWeights {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let weight = |part: &str| part.trim().parse::<f64>().ok().filter(|weight| *weight >= 0.0 && weight.is_finite());
        match text {
            "none" => Ok(Self::None),
            "balanced" => Ok(Self::Balanced),
            _ => {
                let weights: Option<Vec<f64>> = text.split(',').map(weight).collect();
                let weights = weights.filter(|weights| weights.iter().any(|&weight| weight > 0.0));
                weights.map(Self::Given).ok_or_else(|| OptionError::invalid("class_weights", text, Self::FORMS))
            }
        }
    }
}
text_serde!(ClassWeights);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_as_they_are_written() {
        for text in ["none", "balanced", "1,5", "0.5,0,2"] {
            assert_eq!(text.parse::<ClassWeights>().unwrap().to_string(), text);
        }
        assert_eq!("1, 5.0".parse::<ClassWeights>().unwrap(), ClassWeights::Given(vec![1.0, 5.0]));
        for text in ["", "even", "1,,5", "1,-5", "0,0", "1,inf", "nan"] {
            let error = text.parse::<ClassWeights>().unwrap_err().to_string();
            assert!(error.contains("none, balanced, or a weight"), "{text}: {error}");
        }
    }
}
