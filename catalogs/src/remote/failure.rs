//! What a server answered instead of a file, in words.

use std::error::Error as _;
use std::time::Duration;

use bonnet_common::{ErrorKind, Raised};
use datafusion::common::DataFusionError;
use object_store::Error;

use super::address::Address;

/// What a file is that is not what it was when it was opened.
pub(super) const CHANGED: &str = "was changed while it was read: run the statement again";

/// What a server is that keeps silent.
pub(super) fn silent(after: Duration) -> String {
    format!("does not come: the server has been silent for {} s", after.as_secs_f32())
}

/// The error of a file; `what` is the end of a sentence that begins with its address.
pub(super) fn raised(address: &Address, what: &str) -> DataFusionError {
    Raised::new(ErrorKind::Files, format!("'{}' {what}", address.shown())).into()
}

/// The error of a file that a server did not give.
pub(super) fn refused(address: &Address, error: &Error) -> DataFusionError {
    raised(address, &words(error, address.is_s3()))
}

/// What is wrong, as the end of a sentence that begins with the address.
pub(super) fn words(error: &Error, is_s3: bool) -> String {
    let advice = match is_s3 {
        true => {
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL say who asks, and where"
        }
        false => "an address that is open to all is read, or one that is signed",
    };
    match error {
        Error::NotFound { .. } => "is not there (404)".to_owned(),
        Error::PermissionDenied { .. } => format!("is refused by the server (403): {advice}"),
        Error::Unauthenticated { .. } => format!("is refused by the server (401): {advice}"),
        Error::Precondition { .. } => CHANGED.to_owned(),
        error => {
            let causes = causes(error);
            let text = causes.join(": ");
            let last = causes.last().map(String::as_str).unwrap_or_default();
            if text.contains("too many redirects") {
                "redirects more than ten times, or in a circle".to_owned()
            } else if text.contains("error following redirect") {
                format!("redirects to an address that is not followed: {last}")
            } else if text.contains("Content-Length Header missing") {
                "comes without its length (Content-Length): download it and name its path".to_owned()
            } else if let Some(status) = status(error) {
                format!("is refused: the server answers {status}")
            } else {
                format!("cannot be reached: {last}")
            }
        }
    }
}

/// The texts of an error and of its causes, the deepest last.
fn causes(error: &Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    texts
}

/// The status of an answer, `503 Service Unavailable`, in the words of the package that asks.
pub(super) fn status(error: &Error) -> Option<String> {
    let text = causes(error).join(": ");
    let (_, rest) = text.split_once("status code: ")?;
    Some(rest.split([':', '\n']).next()?.trim().to_owned())
}
