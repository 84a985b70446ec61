//! The request for a report to DataFusion, which ends its internal errors.

use std::borrow::Cow;

/// A text without the request for a report to DataFusion, which ends its internal errors and stands within errors that
/// quote one.
pub fn without_report_request(text: &str) -> Cow<'_, str> {
    const START: &str = ".\nThis issue was likely caused by a bug in DataFusion's code.";
    const END: &str = "https://github.com/apache/datafusion/issues";
    let Some((before, mut rest)) = text.split_once(START) else { return Cow::Borrowed(text) };
    let mut kept = before.to_owned();
    loop {
        let behind = rest.split_once(END).map_or("", |(_, behind)| behind);
        let Some((before, next)) = behind.split_once(START) else { return Cow::Owned(kept + behind) };
        kept.push_str(before);
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use datafusion::common::DataFusionError;

    use super::*;

    #[test]
    fn no_text_asks_for_a_report_to_datafusion() {
        let internal = |text: &str| DataFusionError::Internal(text.to_owned()).strip_backtrace();
        assert!(internal("lost").contains("likely caused"), "DataFusion words it in another way");
        assert_eq!(without_report_request(&internal("lost")), "Internal error: lost");
        let quoted = format!("{}. First, and {}. Last", internal("a"), internal("b"));
        assert_eq!(without_report_request(&quoted), "Internal error: a. First, and Internal error: b. Last");
        assert_eq!(without_report_request("no nodes.\nThis issue"), "no nodes.\nThis issue");
    }
}
