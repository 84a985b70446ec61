//! Texts as vectors: the mean of word vectors, or hashed n-grams where there are none.

use std::collections::HashMap;

/// The encoding of a row's strings as numbers.
#[derive(Debug, Clone, Copy)]
pub enum Text<'a> {
    /// Hashed trigrams in a vector of this many numbers: a stand-in that knows spelling, not meaning.
    Hashed(u32),
    /// The mean of the vectors of the words that are known.
    Vectors(&'a WordVectors),
}

/// Vectors of words, all of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordVectors {
    width: usize,
    values: Vec<f32>,
    positions: HashMap<Box<str>, u32>,
}

impl WordVectors {
    /// Words with their vectors, in order; of a word that comes twice, the first counts.
    ///
    /// # Errors
    /// If vectors differ in length, or hold what is no finite number; the text names the word.
    pub fn new<'a>(words: impl Iterator<Item = (&'a str, Vec<f32>)>) -> Result<Self, String> {
        let mut vectors = Self::default();
        for (word, vector) in words {
            if vectors.positions.is_empty() {
                vectors.width = vector.len();
            }
            if vector.len() != vectors.width || vector.is_empty() {
                return Err(format!(
                    "the vector of '{word}' has {} numbers where others have {}",
                    vector.len(),
                    vectors.width
                ));
            }
            if vector.iter().any(|value| !value.is_finite()) {
                return Err(format!("the vector of '{word}' holds a number that is not finite"));
            }
            let next = vectors.positions.len() as u32;
            if let std::collections::hash_map::Entry::Vacant(entry) = vectors.positions.entry(word.into()) {
                entry.insert(next);
                vectors.values.extend(vector);
            }
        }
        Ok(vectors)
    }

    /// The numbers of a vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The vector of a word: as it is written, else in lower case.
    fn get(&self, word: &str) -> Option<&[f32]> {
        let position = self.positions.get(word).or_else(|| self.positions.get(word.to_lowercase().as_str()))?;
        Some(&self.values[*position as usize * self.width..][..self.width])
    }
}

impl Text<'_> {
    /// The numbers that a row's strings become.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Hashed(width) => *width as usize,
            Self::Vectors(vectors) => vectors.width,
        }
    }

    /// The vector of a row's strings into `vector`, which holds zeros; they stay where nothing is known.
    ///
    /// Hashed: each run of three characters of a lower-case string, which has a blank before and behind it, adds 1 or -1 at a
    /// position that its hash gives; then the vector is scaled to length 1. (Weinberger et al., Feature hashing for large scale
    /// multitask learning, ICML 2009, with the n-grams of Joulin et al., Bag of tricks for efficient text classification,
    /// EACL 2017.)
    pub(crate) fn add<'t>(&self, texts: impl Iterator<Item = &'t str>, vector: &mut [f32]) {
        match self {
            Self::Hashed(width) => {
                let mut window = ['\0'; 3];
                for text in texts {
                    let padded = std::iter::once(' ').chain(text.chars().flat_map(char::to_lowercase)).chain([' ']);
                    for (length, c) in padded.enumerate() {
                        window = [window[1], window[2], c];
                        if length >= 2 {
                            let hash = hash(window);
                            let sign = if hash >> 63 == 1 { 1.0 } else { -1.0 };
                            vector[(hash as u32 % width) as usize] += sign;
                        }
                    }
                }
                let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
                if length > 0.0 {
                    vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
                }
            }
            Self::Vectors(vectors) => {
                let mut known = 0u32;
                let mut sums = vec![0.0f64; vectors.width];
                let words =
                    texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()));
                for found in words.filter_map(|word| vectors.get(word)) {
                    known += 1;
                    sums.iter_mut().zip(found).for_each(|(sum, value)| *sum += f64::from(*value));
                }
                for (value, sum) in vector.iter_mut().zip(sums) {
                    *value = if known > 0 { (sum / f64::from(known)) as f32 } else { 0.0 };
                }
            }
        }
    }
}

/// FNV-1a of three characters, mixed so that all bits count (Steele, Lea and Flood 2014: the finaliser of SplitMix64).
fn hash(window: [char; 3]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in window.iter().flat_map(|c| u32::from(*c).to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(text: Text<'_>, texts: &[&str]) -> Vec<f32> {
        let mut vector = vec![0.0; text.width()];
        text.add(texts.iter().copied(), &mut vector);
        vector
    }

    #[test]
    fn trigrams_are_counted_with_signs_and_scaled() {
        // " ab", "ab ": two positions (or one, twice); 1 / sqrt 2 each.
        let found = vector(Text::Hashed(1 << 20), &["Ab"]);
        let there: Vec<f32> = found.iter().copied().filter(|value| *value != 0.0).collect();
        assert_eq!(there.len(), 2);
        assert!(there.iter().all(|value| (value.abs() - 0.5f32.sqrt()).abs() < 1e-7));
        assert_eq!(found, vector(Text::Hashed(1 << 20), &["aB"]));
        assert_eq!(vector(Text::Hashed(4), &[]), [0.0; 4]);
        // No text runs into the next one.
        assert_ne!(vector(Text::Hashed(64), &["ab", "cd"]), vector(Text::Hashed(64), &["abcd"]));
        let near = |a: &str, b: &str| {
            let (a, b) = (vector(Text::Hashed(256), &[a]), vector(Text::Hashed(256), &[b]));
            a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>()
        };
        assert!(near("constructor", "constructors") > 0.7 && near("constructor", "qualifying").abs() < 0.3);
    }

    #[test]
    fn signs_and_places_are_spread_evenly() {
        let width = 64u32;
        let mut counts = vec![[0u32; 2]; width as usize];
        let letters = || 'a'..='z';
        for window in letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| [a, b, c]))) {
            let hash = hash(window);
            counts[(hash as u32 % width) as usize][(hash >> 63) as usize] += 1;
        }
        let expected = 26f64.powi(3) / (2.0 * f64::from(width));
        let chi_square: f64 = counts.iter().flatten().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(chi_square < 181.0, "{chi_square}: the 99.9 % point of 127 degrees of freedom is 181");
    }

    #[test]
    fn word_vectors_are_averaged_over_the_known_words() {
        let words = [
            ("grand", vec![1.0, 0.0]),
            ("prix", vec![0.0, 4.0]),
            ("Monaco", vec![2.0, 2.0]),
            ("grand", vec![9.0, 9.0]),
        ];
        let vectors = WordVectors::new(words.into_iter()).unwrap();
        assert_eq!(vector(Text::Vectors(&vectors), &["Grand Prix, 1950"]), [0.5, 2.0]);
        assert_eq!(vector(Text::Vectors(&vectors), &["Monaco", "GRAND"]), [1.5, 1.0]);
        assert_eq!(vector(Text::Vectors(&vectors), &["monaco"]), [0.0, 0.0]);
        let error = |words: Vec<(&'static str, Vec<f32>)>| WordVectors::new(words.into_iter()).unwrap_err();
        assert_eq!(error(vec![("a", vec![1.0]), ("b", vec![])]), "the vector of 'b' has 0 numbers where others have 1");
        assert_eq!(error(vec![("a", vec![f32::NAN])]), "the vector of 'a' holds a number that is not finite");
    }
}
