//! What an address says.

use bonnet_common::FileExtension;
use datafusion::common::{Result, plan_err};
use glob::{MatchOptions, Pattern};
use object_store::path::Path;
use url::Url;

/// The address of a file that can be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Address {
    /// Of a web server.
    Web(Url),
    /// Of a store that speaks S3.
    S3 {
        bucket: String,
        /// The name of the object, or a pattern of names.
        key: String,
    },
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// If it is none, of a scheme that is not read, or holds a login.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => {
                let Ok(url) = Url::parse(text) else { return plan_err!("'{text}' is no address of a file") };
                if !url.username().is_empty() || url.password().is_some() {
                    return plan_err!(
                        "'{}': an address with a login is not read; download the file and name its path",
                        Self::Web(url).shown()
                    );
                }
                let address = Self::Web(url);
                match address.name().is_empty() {
                    true => plan_err!("'{}' names no file", address.shown()),
                    false => Ok(address),
                }
            }
            "s3" => match rest.split_once('/') {
                Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() && !key.ends_with('/') => {
                    Ok(Self::S3 { bucket: bucket.to_owned(), key: key.to_owned() })
                }
                _ => plan_err!(
                    "'{text}' names no file: s3://bucket/folder/file.parquet is expected, or a pattern of files"
                ),
            },
            scheme => plan_err!(
                "'{text}': {scheme}:// addresses are not read, but https://, http:// and s3://; download the file and name its path"
            ),
        }
    }

    /// Whether the file lies in S3.
    pub(super) fn is_s3(&self) -> bool {
        matches!(self, Self::S3 { .. })
    }

    /// The address for errors, without what may be secret: a login, and what stands behind a question mark.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Web(url) => {
                let mut url = url.clone();
                // Neither fails for an address that has a host.
                let _ = url.set_username("").and_then(|()| url.set_password(None));
                url.set_fragment(None);
                match url.query() {
                    Some(_) => {
                        url.set_query(None);
                        format!("{url}?...")
                    }
                    None => url.to_string(),
                }
            }
            Self::S3 { bucket, key } => format!("s3://{bucket}/{key}"),
        }
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Web(url) => {
                let last = url.path().rsplit('/').next().unwrap_or_default();
                percent_encoding::percent_decode_str(last).decode_utf8_lossy().into_owned()
            }
            Self::S3 { key, .. } => key.rsplit('/').next().unwrap_or_default().to_owned(),
        }
    }

    /// What the file's name ends with, if like a table.
    pub(crate) fn extension(&self) -> Option<FileExtension> {
        FileExtension::of(&self.name())
    }

    /// The pattern of an address of S3, and the folder that holds all it may match.
    pub(super) fn pattern(&self) -> Result<Option<(Pattern, Path)>> {
        let Self::S3 { key, .. } = self else { return Ok(None) };
        let Some(sign) = key.find(['*', '?', '[']) else { return Ok(None) };
        let folder = key[..sign].rsplit_once('/').map_or("", |(folder, _)| folder);
        match (Pattern::new(key), Path::parse(folder)) {
            (Ok(pattern), Ok(folder)) => Ok(Some((pattern, folder))),
            (Err(error), _) => plan_err!("'{}': {error}", self.shown()),
            (_, Err(error)) => plan_err!("'{}': {error}", self.shown()),
        }
    }
}

/// How names match patterns: as those of files of this machine.
pub(super) const MATCHING: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        let shown = |text: &str| Address::parse(text).unwrap().shown();
        assert_eq!(shown("https://h:8/a%20b/x.csv?token=1#part"), "https://h:8/a%20b/x.csv?...");
        assert_eq!(shown("s3://b/a b/x.csv"), "s3://b/a b/x.csv");
        let refused = Address::parse("https://me:secret@h/x.csv").unwrap_err().strip_backtrace();
        assert!(refused.contains("login") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn names_are_those_of_files() {
        let name = |text: &str| Address::parse(text).unwrap().name();
        assert_eq!(name("https://h/a/b%20c.csv?x=/y.parquet"), "b c.csv");
        assert_eq!(name("s3://b/k?ey.parquet"), "k?ey.parquet");
        let extension = Address::parse("https://h/x.CSV.gz?y").unwrap().extension().unwrap();
        assert_eq!((extension.format, extension.compression), ("csv", Some("gz")));
        for wrong in ["https://h", "https://h/", "s3://b", "s3://b/", "s3://b/folder/", "gs://b/k", "hf://x/y"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns_are_those_of_stores() {
        let of = |text: &str| Address::parse(text).unwrap().pattern().unwrap();
        assert!(of("https://h/*.csv").is_none() && of("s3://b/a.csv").is_none());
        let (pattern, folder) = of("s3://b/p/q*/x-?.csv").unwrap();
        assert_eq!(folder.as_ref(), "p");
        assert!(pattern.matches_with("p/q1/x-2.csv", MATCHING) && !pattern.matches_with("p/q1/r/x-2.csv", MATCHING));
        assert_eq!(of("s3://b/*.csv").unwrap().1.as_ref(), "");
    }
}
