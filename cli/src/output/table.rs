//! Aligned tables as psql draws them: numbers to the right, a count of rows below.
//!
//! The first rows give the widths; what comes after them is written as it comes, and a value that is wider than its
//! column moves the rest of its line. On a terminal of which only the ends are shown, only those rows are buffered, and
//! all of them give the widths.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringBuilder};
use arrow::datatypes::SchemaRef;

use super::layout::{Hidden, Layout};
use super::screen::Screen;
use super::writer::Writer;

/// The rows, and bytes of rows, that give the widths where all rows are written.
const LOOK_AHEAD: usize = 10_000;
const LOOK_AHEAD_BYTES: usize = 16 << 20;

/// Writes an aligned table.
pub(super) struct Table {
    schema: SchemaRef,
    screen: Option<Screen>,
    rows: usize,
    head: Vec<RecordBatch>,
    head_rows: usize,
    head_bytes: usize,
    /// The last rows after the head, where a screen leaves out the middle.
    tail: VecDeque<RecordBatch>,
    tail_rows: usize,
    /// The columns that have been NULL in every row.
    nulls: Vec<bool>,
    /// The widths, once the head is written.
    layout: Option<Layout>,
}

impl Table {
    pub(super) fn new(schema: SchemaRef, screen: Option<Screen>) -> Self {
        Self {
            schema,
            screen,
            rows: 0,
            head: Vec::new(),
            head_rows: 0,
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_rows: 0,
            nulls: Vec::new(),
            layout: None,
        }
    }

    /// Buffers the rows that a screen shows of a result: the first half of them, and the last.
    fn buffer_ends(&mut self, batch: &RecordBatch, most: usize) {
        let rows = batch.num_rows();
        let into_head = rows.min(most.div_ceil(2).saturating_sub(self.head_rows));
        if into_head > 0 {
            self.head.push(batch.slice(0, into_head));
            self.head_rows += into_head;
        }
        if into_head == rows {
            return;
        }
        self.tail.push_back(batch.slice(into_head, rows - into_head));
        self.tail_rows += rows - into_head;
        while self.tail_rows > most / 2 {
            let Some(first) = self.tail.pop_front() else { break };
            let surplus = self.tail_rows - most / 2;
            if first.num_rows() > surplus {
                self.tail.push_front(first.slice(surplus, first.num_rows() - surplus));
                self.tail_rows -= surplus;
            } else {
                self.tail_rows -= first.num_rows();
            }
        }
    }

    /// Writes the head of the table with the rows that are buffered for it, if that is still to be done. `ended` says that no
    /// row comes after those.
    fn write_head(&mut self, out: &mut dyn Write, ended: bool) -> io::Result<&Layout> {
        let layout = match self.layout.take() {
            Some(layout) => layout,
            None => {
                // A column that has been NULL so far may still have something to say.
                let nulls = if ended { self.nulls.as_slice() } else { &[] };
                let layout = Layout::new(&self.schema, self.head.iter().chain(&self.tail), nulls, self.screen)?;
                layout.write_head(out)?;
                for batch in self.head.drain(..) {
                    layout.write_rows(&batch, out)?;
                }
                layout
            }
        };
        Ok(self.layout.insert(layout))
    }
}

impl Writer for Table {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let lines = plan_lines(batch);
        let batch = lines.as_ref().unwrap_or(batch);
        self.rows += batch.num_rows();
        if self.screen.is_some() && batch.num_rows() > 0 {
            let is_null = |column: &ArrayRef| column.logical_null_count() == column.len();
            self.nulls.resize(batch.num_columns(), true);
            self.nulls.iter_mut().zip(batch.columns()).for_each(|(null, column)| *null = *null && is_null(column));
        }
        match self.screen {
            Some(Screen { rows, .. }) if rows < usize::MAX => self.buffer_ends(batch, rows),
            _ if self.layout.is_some() => self.write_head(out, false)?.write_rows(batch, out)?,
            _ => {
                self.head.push(batch.clone());
                self.head_rows += batch.num_rows();
                self.head_bytes += batch.get_array_memory_size();
                if self.head_rows >= LOOK_AHEAD || self.head_bytes >= LOOK_AHEAD_BYTES {
                    self.write_head(out, false)?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let hidden = match self.screen {
            Some(Screen { rows, .. }) if rows < usize::MAX => self.rows - self.head_rows - self.tail_rows,
            _ => 0,
        };
        let tail = self.tail.clone();
        let layout = self.write_head(out, true)?;
        if hidden > 0 {
            layout.write_gap(out)?;
        }
        for batch in &tail {
            layout.write_rows(batch, out)?;
        }
        let columns = layout.hidden().map(left_out);
        let s = if self.rows == 1 { "" } else { "s" };
        let rows = match hidden {
            0 => format!("{} row{s}", self.rows),
            _ => format!("{} row{s}, of which {hidden} in the middle are not shown", self.rows),
        };
        match columns {
            None => writeln!(out, "({rows})"),
            Some(columns) => writeln!(out, "({rows}; {columns}: \\x shows a column a line)"),
        }
    }
}

/// The columns that a table leaves out, in words.
fn left_out(hidden: &Hidden) -> String {
    let one = |count: usize, one: &str, several: &str| match count {
        1 => format!("1 column {one}"),
        _ => format!("{count} columns {several}"),
    };
    let nulls = || one(hidden.nulls, "is NULL", "are NULL");
    let unfit = || one(hidden.unfit, "does not fit", "do not fit");
    match (hidden.nulls, hidden.unfit) {
        (0, _) => unfit(),
        (_, 0) => nulls(),
        _ => format!("{}, {}", nulls(), unfit()),
    }
}

/// The answer of EXPLAIN, with a row for each line of a plan; `None` for any other batch.
fn plan_lines(batch: &RecordBatch) -> Option<RecordBatch> {
    let schema = batch.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if names != ["plan_type", "plan"] {
        return None;
    }
    let (kinds, plans) = (batch.column(0).as_string_opt::<i32>()?, batch.column(1).as_string_opt::<i32>()?);
    let (mut kind_rows, mut plan_rows) = (StringBuilder::new(), StringBuilder::new());
    for (kind, plan) in kinds.iter().zip(plans) {
        for (i, line) in plan.unwrap_or_default().lines().enumerate() {
            kind_rows.append_value(if i == 0 { kind.unwrap_or_default() } else { "" });
            plan_rows.append_value(line);
        }
    }
    RecordBatch::try_new(schema, vec![Arc::new(kind_rows.finish()), Arc::new(plan_rows.finish())]).ok()
}

#[cfg(test)]
mod tests {
    use std::slice;

    use arrow::array::{
        Float64Array, Int64Array, ListArray, NullArray, StringArray, StructArray, TimestampMicrosecondArray,
    };
    use arrow::datatypes::{DataType, Field, Int64Type, Schema};

    use super::super::tests::written;
    use super::*;
    use crate::width::width;

    fn screen(columns: usize, rows: usize) -> Option<Screen> {
        Some(Screen { columns, rows, digits: None, colour: false })
    }

    fn numbers(n: i64) -> RecordBatch {
        RecordBatch::try_from_iter([("i", Arc::new(Int64Array::from_iter_values(0..n)) as ArrayRef)]).unwrap()
    }

    #[test]
    fn a_plan_has_a_row_for_each_line() {
        let batch = RecordBatch::try_from_iter([
            ("plan_type", Arc::new(StringArray::from(vec!["logical_plan", "physical_plan"])) as ArrayRef),
            ("plan", Arc::new(StringArray::from(vec!["Sort: x\n  Scan: t", "ScanExec\n"])) as ArrayRef),
        ])
        .unwrap();
        let expected = concat!(
            " plan_type     | plan\n",
            "---------------+-----------\n",
            " logical_plan  | Sort: x\n",
            "               |   Scan: t\n",
            " physical_plan | ScanExec\n",
            "(3 rows)\n",
        );
        assert_eq!(written(Table::new(batch.schema(), None), &[batch]), expected);
    }

    #[test]
    fn numbers_stand_right_and_texts_left() {
        let batch = RecordBatch::try_from_iter([
            ("node", Arc::new(Int64Array::from(vec![Some(1), None, Some(1234567)])) as ArrayRef),
            ("name", Arc::new(StringArray::from(vec![Some("a"), Some("日本"), None])) as ArrayRef),
            ("curvature", Arc::new(Float64Array::from(vec![0.5, 0.1 + 0.2, -1.0])) as ArrayRef),
            ("note", Arc::new(StringArray::from(vec!["", "two\nlines\t\u{1b}", "x"])) as ArrayRef),
        ])
        .unwrap();
        let expected = concat!(
            "    node | name |           curvature | note\n",
            "---------+------+---------------------+------------------------\n",
            "       1 | a    |                 0.5 | \n",
            "    NULL | 日本 | 0.30000000000000004 | two\\nlines\\t\\u{1b}\n",
            " 1234567 | NULL |                -1.0 | x\n",
            "(3 rows)\n",
        );
        let expected = expected.replace("+------------------------\n", &format!("+{}\n", "-".repeat(20)));
        assert_eq!(written(Table::new(batch.schema(), None), &[batch.slice(0, 2), batch.slice(2, 1)]), expected);
    }

    #[test]
    fn nested_values_are_readable() {
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None])]));
        let pair: ArrayRef = Arc::new(StructArray::from(vec![
            (Arc::new(Field::new("dim", DataType::Int64, true)), Arc::new(Int64Array::from(vec![0])) as ArrayRef),
            (
                Arc::new(Field::new("death", DataType::Float64, true)),
                Arc::new(Float64Array::from(vec![f64::INFINITY])) as ArrayRef,
            ),
        ]));
        let batch = RecordBatch::try_from_iter([("l", list), ("s", pair)]).unwrap();
        let text = written(Table::new(batch.schema(), None), &[batch]);
        assert_eq!(text.lines().nth(2), Some(" [1, NULL] | {dim: 0, death: inf}"));
    }

    #[test]
    fn a_result_without_rows_has_its_head() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Utf8, true)]));
        assert_eq!(written(Table::new(schema, None), &[]), " a\n---\n(0 rows)\n");
    }

    #[test]
    fn a_screen_leaves_out_the_middle() {
        let batch = numbers(1000);
        let batches: Vec<_> = (0..250).map(|i| batch.slice(4 * i, 4)).collect();
        let expected = "   i\n-----\n   0\n   1\n   2\n   …\n 998\n 999\n\
            (1000 rows, of which 995 in the middle are not shown)\n";
        assert_eq!(written(Table::new(batch.schema(), screen(80, 5)), &batches), expected);
        assert_eq!(written(Table::new(batch.schema(), screen(80, 5)), &[batch]), expected);
    }

    #[test]
    fn a_long_result_is_written_before_it_ends() {
        let batch = numbers(LOOK_AHEAD as i64);
        for screen in [None, screen(80, usize::MAX)] {
            let mut table = Table::new(batch.schema(), screen);
            let mut out = Vec::new();
            table.write(&batch.slice(1, 10), &mut out).unwrap();
            assert!(out.is_empty());
            table.write(&batch, &mut out).unwrap();
            assert_eq!(String::from_utf8_lossy(&out).lines().count(), 2 + 10 + LOOK_AHEAD);
            table.write(&batch.slice(0, 1), &mut out).unwrap();
            table.finish(&mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.ends_with("\n 9999\n    0\n(10011 rows)\n"), "{}", &text[text.len() - 60..]);
        }
    }

    #[test]
    fn a_value_wider_than_the_look_ahead_is_whole_in_a_file_and_cut_on_a_screen() {
        let long = "x".repeat(30);
        let texts = |text: &str, rows| {
            let texts: ArrayRef = Arc::new(StringArray::from(vec![text; rows]));
            RecordBatch::try_from_iter([("a", Arc::clone(&texts)), ("b", texts)]).unwrap()
        };
        let batches = [texts("ab", LOOK_AHEAD), texts(&long, 1), texts("cd", 1)];
        let text = written(Table::new(batches[0].schema(), None), &batches);
        assert!(text.ends_with(&format!("\n ab | ab\n {long} | {long}\n cd | cd\n(10002 rows)\n")));
        let text = written(Table::new(batches[0].schema(), screen(80, usize::MAX)), &batches);
        assert!(text.ends_with("\n ab | ab\n x… | x…\n cd | cd\n(10002 rows)\n"));
    }

    #[test]
    fn nothing_is_left_out_where_it_fits_or_where_there_is_no_screen() {
        for (rows, screen) in [(5, screen(80, 5)), (4, screen(80, 5)), (0, screen(80, 5)), (1000, None)] {
            let text = written(Table::new(numbers(rows).schema(), screen), &[numbers(rows)]);
            assert_eq!(text.lines().count(), rows as usize + 3);
            assert!(!text.contains('…'));
        }
    }

    #[test]
    fn long_texts_are_cut_to_a_screen_and_numbers_are_not() {
        let batch = RecordBatch::try_from_iter([
            ("n", Arc::new(Int64Array::from(vec![1234567890123])) as ArrayRef),
            ("short", Arc::new(StringArray::from(vec!["abcdefgh"])) as ArrayRef),
            ("long", Arc::new(StringArray::from(vec!["日".repeat(100_000)])) as ArrayRef),
        ])
        .unwrap();
        let text = written(Table::new(batch.schema(), screen(50, 40)), slice::from_ref(&batch));
        assert_eq!(text.lines().nth(2), Some(" 1234567890123 | abcdefgh | 日日日日日日日日日日…"));
        assert!(text.lines().take(3).all(|line| width(line) <= 50), "{text}");
        let text = written(Table::new(batch.schema(), screen(20, 40)), slice::from_ref(&batch));
        assert_eq!(text.lines().nth(2), Some(" 1234567890123 | …"));
        let text = written(Table::new(batch.schema(), None), &[batch]);
        assert!(text.contains(&"日".repeat(100_000)));
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_in_the_middle() {
        let columns = (0..12).map(|i| {
            let name = format!("column_{i}");
            (name, Arc::new(Int64Array::from(vec![i, 10 * i])) as ArrayRef)
        });
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let expected = concat!(
            " column_0 | column_1 | … | column_10 | column_11\n",
            "----------+----------+---+-----------+-----------\n",
            "        0 |        1 | … |        10 |        11\n",
            "        0 |       10 | … |       100 |       110\n",
            "(2 rows; 8 columns do not fit: \\x shows a column a line)\n",
        );
        assert_eq!(written(Table::new(batch.schema(), screen(52, 40)), slice::from_ref(&batch)), expected);
        let narrow = written(Table::new(batch.schema(), screen(5, 40)), slice::from_ref(&batch));
        assert_eq!(narrow.lines().next(), Some(" column_0 | …"));
        let all = written(Table::new(batch.schema(), screen(1000, 40)), slice::from_ref(&batch));
        assert_eq!(all, written(Table::new(batch.schema(), None), &[batch]));
        let batch = numbers(1);
        assert!(written(Table::new(batch.schema(), screen(1, 40)), &[batch]).ends_with("(1 row)\n"));
    }

    #[test]
    fn columns_without_a_value_are_left_out_first_and_a_text_has_the_room_that_there_is() {
        let text = |value: &str| Arc::new(StringArray::from(vec![value])) as ArrayRef;
        let null = || Arc::new(Float64Array::from(vec![None])) as ArrayRef;
        let reason = "the graph's nodes have no column label: name one with label => '...'; there are: node, club";
        let nulls = (0..6).map(|i| (format!("test_figure_{i}"), null()));
        let job = [("graph", "karate"), ("model", "gcn"), ("status", "error"), ("error", reason)];
        let started = TimestampMicrosecondArray::from(vec![1_795_757_336_123_456]).with_timezone("UTC");
        let started: ArrayRef = Arc::new(started);
        let origin =
            [("engine_version", text("0.1.0")), ("started_at", started), ("graph_hash", text("0123456789abcdef"))];
        let failed = job.map(|(name, value)| (name.to_owned(), text(value))).into_iter().chain(nulls);
        let failed = failed.chain(origin.map(|(name, column)| (name.to_owned(), column)));
        let failed = RecordBatch::try_from_iter(failed.collect::<Vec<_>>()).unwrap();
        let expected = concat!(
            " graph  | model | status | error                         | … | graph_hash\n",
            "--------+-------+--------+-------------------------------+---+------------------\n",
            " karate | gcn   | error  | the graph's nodes have no co… | … | 0123456789abcdef\n",
            "(1 row; 6 columns are NULL, 2 columns do not fit: \\x shows a column a line)\n",
        );
        assert_eq!(written(Table::new(failed.schema(), screen(80, 40)), slice::from_ref(&failed)), expected);
        // As wide as the reason: it stands there whole.
        let wide = written(Table::new(failed.schema(), screen(200, 40)), &[failed]);
        assert!(
            wide.contains(reason) && wide.ends_with("(1 row; 6 columns are NULL: \\x shows a column a line)\n"),
            "{wide}"
        );

        // With room for all nothing is left out, and a column with one value says something.
        let few = RecordBatch::try_from_iter([("a", null()), ("b", text("x"))]).unwrap();
        let text_of = |screen, batches: &[RecordBatch]| written(Table::new(few.schema(), screen), batches);
        assert_eq!(text_of(screen(80, 40), slice::from_ref(&few)), text_of(None, slice::from_ref(&few)));
        let one = RecordBatch::try_from_iter([
            ("a", Arc::new(Float64Array::from(vec![1.5])) as ArrayRef),
            ("b", text(&"y".repeat(99))),
        ])
        .unwrap();
        assert!(text_of(screen(40, 40), &[few.clone(), one]).contains("a | b"));
        let nothing =
            RecordBatch::try_from_iter([("long_name_of_a_column", null()), ("another_long_name", null())]).unwrap();
        assert!(
            written(Table::new(nothing.schema(), screen(30, 40)), &[nothing]).starts_with(" long_name_of_a_column | …")
        );
    }

    #[test]
    fn numbers_are_short_and_their_points_stand_in_line_on_a_screen() {
        let values = vec![Some(0.1 + 0.2), None, Some(-12.5), Some(2.0 / 3.0), Some(1.25e-9), Some(f64::NAN)];
        let batch = RecordBatch::try_from_iter([
            ("x", Arc::new(Float64Array::from(values)) as ArrayRef),
            ("name", Arc::new(StringArray::from(vec!["a"; 6])) as ArrayRef),
        ])
        .unwrap();
        let screen = Some(Screen { columns: 80, rows: 40, digits: Some(6), colour: false });
        let expected = concat!(
            "          x | name\n",
            "------------+------\n",
            "   0.3      | a\n",
            "       NULL | a\n",
            " -12.5      | a\n",
            "   0.666667 | a\n",
            "    1.25e-9 | a\n",
            "        NaN | a\n",
            "(6 rows)\n",
        );
        assert_eq!(written(Table::new(batch.schema(), screen), &[batch]), expected);
    }

    #[test]
    fn null_is_set_apart_in_colour() {
        let batch = RecordBatch::try_from_iter([
            ("a", Arc::new(StringArray::from(vec![None, Some("NULL")])) as ArrayRef),
            ("b", Arc::new(Int64Array::from(vec![None, Some(1)])) as ArrayRef),
            ("c", Arc::new(NullArray::new(2)) as ArrayRef),
        ])
        .unwrap();
        let screen = Some(Screen { columns: 80, rows: 40, digits: None, colour: true });
        let text = written(Table::new(batch.schema(), screen), &[batch]);
        let null = "\x1b[2mNULL\x1b[0m";
        assert!(text.contains(&format!(" {null} | {null} | {null}\n NULL |    1 | {null}\n")), "{text}");
    }
}
