//! Error bars and ribbons: the span of each row from `YMIN` to `YMAX`.

use crate::chart::Canvas;
use crate::error::PictureError;
use crate::plan::Plan;
use crate::scale::TINY;

/// The spans of rows.
pub(super) struct Spans<'a> {
    low: &'a [f64],
    high: &'a [f64],
}

impl<'a> Spans<'a> {
    /// The spans of these rows; `None` where the request has none.
    ///
    /// # Errors
    /// [`PictureError::Rows`] where a lower end is above the upper one.
    pub(super) fn new(plan: &Plan<'a>, rows: &[usize], notes: &mut Vec<String>) -> Result<Option<Self>, PictureError> {
        let (Some(ymin), Some(ymax)) = (plan.ymin, plan.ymax) else { return Ok(None) };
        let (Some(low), Some(high)) = (ymin.numbers(), ymax.numbers()) else { return Ok(None) };
        let spans = Self { low, high };
        if let Some(&row) = rows.iter().find(|&&row| low[row] > high[row]) {
            let what = format!("{} {} is above {} {}", ymin.name, low[row], ymax.name, high[row]);
            return Err(PictureError::Rows { kind: plan.kind, what });
        }
        let (mut without, mut cut) = (0, 0);
        for &row in rows {
            match spans.of(row) {
                None => without += 1,
                Some((low, _)) if plan.request.y_log && low < TINY => cut += 1,
                Some(_) => {}
            }
        }
        let counted = |rows: usize| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        if without > 0 {
            let rows = counted(without);
            notes.push(format!("Without an error bar: {rows} without {} or {}.", ymin.name, ymax.name));
        }
        if cut > 0 {
            let rows = counted(cut);
            notes.push(format!("{rows} whose {} is zero or less: the span reaches to the axis.", ymin.name));
        }
        Ok(Some(spans))
    }

    /// The ends of a row's span.
    pub(super) fn of(&self, row: usize) -> Option<(f64, f64)> {
        let (low, high) = (self.low[row], self.high[row]);
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }
}

/// Draws an error bar between two positions along an axis, with caps that reach so far to both sides.
pub(super) fn error_bar(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), cap: f64, color: &str) {
    let look = format!("class=\"span\" stroke=\"{color}\" stroke-width=\"1.3\"");
    canvas.svg.line(from, to, &look);
    let (x, y) = if from.0 == to.0 { (cap, 0.0) } else { (0.0, cap) };
    for end in [from, to] {
        canvas.svg.line((end.0 - x, end.1 - y), (end.0 + x, end.1 + y), &look);
    }
}
