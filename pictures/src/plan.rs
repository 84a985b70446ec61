//! The choice of the kind and the columns, where the request leaves them open.

use crate::error::{PictureError, nearest};
use crate::names::{Kind, OF_KINDS};
use crate::request::Request;
use crate::scale::TINY;
use crate::table::{Column, MISSING, Table, Values};

/// More colours than this are not taken unless they are named.
const MOST_COLORS: usize = 12;

/// A picture whose kind and columns are known.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) kind: Kind,
    pub(crate) x: Option<&'a Column>,
    pub(crate) y: Option<&'a Column>,
    pub(crate) color: Option<&'a Column>,
    pub(crate) node_color: Option<&'a Column>,
    pub(crate) ymin: Option<&'a Column>,
    pub(crate) ymax: Option<&'a Column>,
    pub(crate) facet: Option<&'a Column>,
    pub(crate) rows: usize,
    pub(crate) request: &'a Request,
}

/// The type that a column needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Number,
    Text,
    Any,
}

impl Need {
    fn fits(self, column: &Column) -> bool {
        match self {
            Self::Number => !column.is_text(),
            Self::Text => column.is_text(),
            Self::Any => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Text => "text",
            Self::Any => "a column",
        }
    }
}

/// The kind and the columns of a picture.
///
/// # Errors
/// [`PictureError`] for a column that is not there, is of the wrong type or is missing, or if no kind fits.
pub(crate) fn plan<'a>(table: &'a Table, request: &'a Request) -> Result<Plan<'a>, PictureError> {
    let named = |name: &Option<String>| name.as_deref().map(|name| find(table, name)).transpose();
    let (x, y, color) = (named(&request.x)?, named(&request.y)?, named(&request.color)?);
    let (ymin, ymax, facet) = (named(&request.ymin)?, named(&request.ymax)?, named(&request.facet)?);
    let taken: Vec<&Column> = [ymin, ymax, facet].into_iter().flatten().collect();
    let kind = match request.kind {
        Some(kind) => kind,
        None => default_kind(table, x, y, &taken).ok_or(PictureError::NoKind)?,
    };
    let node_color = named(&request.node_color)?;
    let mut plan = Plan { kind, x, y, color, node_color, ymin, ymax, facet, rows: table.rows(), request };
    plan.check_options()?;
    plan.fill(table)?;
    plan.check_axes()?;
    Ok(plan)
}

/// The column of this name; else in any case.
///
/// # Errors
/// [`PictureError::NoColumn`] if there is none.
pub(crate) fn find<'a>(table: &'a Table, name: &str) -> Result<&'a Column, PictureError> {
    let exact = table.columns.iter().find(|column| column.name == name);
    let found = exact.or_else(|| table.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)));
    found.ok_or_else(|| {
        let known = || table.columns.iter().map(|column| column.name.as_str());
        let nearest = nearest(name, known());
        PictureError::NoColumn { name: name.to_owned(), nearest, known: known().map(str::to_owned).collect() }
    })
}

/// The kind that the types of the columns, and the repetitions of the strings, ask for. Those that are `taken` have parts that
/// say nothing of it.
fn default_kind(table: &Table, x: Option<&Column>, y: Option<&Column>, taken: &[&Column]) -> Option<Kind> {
    if let (Some(x), Some(y)) = (x, y) {
        return Some(match (x.is_text(), y.is_text()) {
            _ if x.is_time() => Kind::Lines,
            (false, false) => Kind::Points,
            (true, true) => Kind::Heatmap,
            _ if is_unique(&[x, y]) || is_unique(&[x]) => Kind::Bars,
            _ => Kind::Boxes,
        });
    }
    if let Some(kind) = kind_by_names(table) {
        return Some(kind);
    }
    let free = || table.columns.iter().filter(|column| !taken.iter().any(|other| std::ptr::eq(*other, *column)));
    let texts: Vec<&Column> = free().filter(|column| column.is_text()).collect();
    let numbers: Vec<&Column> = free().filter(|column| !column.is_text()).collect();
    let ranked = numbers.iter().any(|column| is_rank(column));
    match (texts.as_slice(), numbers.as_slice()) {
        ([], []) => None,
        ([], [one]) if one.is_time() => Some(Kind::Points),
        ([], [one]) if is_curvature(one) => Some(Kind::Curvature),
        ([], [_]) => Some(Kind::Histogram),
        ([], [first, ..]) => Some(if first.is_time() { Kind::Lines } else { Kind::Points }),
        ([_, ..], numbers) if numbers.iter().any(|column| column.is_time()) => Some(Kind::Lines),
        ([_, ..], []) => Some(Kind::Bars),
        ([a, b, ..], _) if ranked && is_unique(&[a, b]) => Some(Kind::Bump),
        ([a, ..], _) if is_unique(&[a]) => Some(Kind::Bars),
        ([a, b, ..], _) if is_unique(&[a, b]) => Some(Kind::Heatmap),
        _ => Some(Kind::Boxes),
    }
}

/// The kind that the names of columns ask for, as the engine's functions answer with them.
fn kind_by_names(table: &Table) -> Option<Kind> {
    let number = |name: &str| table.columns.iter().any(|column| column.name == name && !column.is_text());
    let any = |name: &str| table.columns.iter().any(|column| column.name == name);
    let is_complex = |column: &Column| column.is_text() && column.name == "facets";
    match () {
        () if number("birth") && number("death") => Some(Kind::PersistenceDiagram),
        () if number("k") && number("x") && number("y") => Some(Kind::Landscape),
        () if any("src") && any("dst") => Some(Kind::Graph),
        () if table.columns.iter().any(is_complex) => Some(Kind::Surface),
        () => None,
    }
}

fn is_curvature(column: &Column) -> bool {
    let name = column.name.to_lowercase();
    ["curvature", "ricci"].iter().any(|word| name.contains(word))
}

fn is_rank(column: &Column) -> bool {
    let name = column.name.to_lowercase();
    !column.is_fractional() && (name == "rank" || name.ends_with("_rank"))
}

/// Whether no two rows agree in all of these columns.
pub(crate) fn is_unique(columns: &[&Column]) -> bool {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut keys: Vec<Vec<u64>> =
        (0..rows).map(|row| columns.iter().map(|column| key(column, row)).collect()).collect();
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair[0] != pair[1])
}

fn key(column: &Column, row: usize) -> u64 {
    match &column.values {
        Values::Numbers(values) | Values::Times(values) => values[row].to_bits(),
        Values::Texts { codes, .. } => u64::from(codes[row]),
    }
}

impl<'a> Plan<'a> {
    /// Checks the columns that are named, and chooses the others.
    fn fill(&mut self, table: &'a Table) -> Result<(), PictureError> {
        match self.kind {
            Kind::Bars => {
                self.x = Some(self.choose(table, "x", Need::Any, self.x, true)?);
                let numbers = table.columns.iter().any(|column| !column.is_text() && !self.has(column));
                if self.y.is_some() || numbers {
                    self.y = Some(self.choose(table, "y", Need::Number, self.y, false)?);
                }
                // One bar a row: another text tells rows of one name apart.
                let names: Vec<&Column> = [self.x, self.facet].into_iter().flatten().collect();
                if !is_unique(&names) && self.y.is_some() {
                    self.color = self.optional_color(table);
                }
            }
            Kind::Points => {
                // Two columns of numbers, in their order.
                if self.x.is_none() {
                    self.x = Some(self.first_number(table, "x")?);
                }
                if self.y.is_none() {
                    self.y = Some(self.first_number(table, "y")?);
                }
                self.check("y", Need::Number, self.y)?;
                self.color = self.optional_color(table);
            }
            Kind::Lines => {
                if self.x.is_none() {
                    let time = self.free(table).find(|column| column.is_time());
                    let number = self.free(table).find(|column| !column.is_text());
                    let several = self.free(table).filter(|column| !column.is_text()).count() > 1 || self.y.is_some();
                    self.x = time.or(number.filter(|_| several)).or_else(|| self.free(table).next());
                }
                self.x = Some(self.choose(table, "x", Need::Any, self.x, true)?);
                self.y = Some(self.choose(table, "y", Need::Number, self.y, false)?);
                self.color = self.optional_color(table);
            }
            Kind::Boxes => {
                let texts = self.free(table).any(|column| column.is_text());
                if self.x.is_some() || texts {
                    self.x = Some(self.choose(table, "x", Need::Any, self.x, true)?);
                }
                self.y = Some(self.choose(table, "y", Need::Number, self.y, false)?);
                self.color = self.color.or_else(|| self.optional_color(table).filter(|_| self.request.x.is_none()));
                self.check("color", Need::Text, self.color)?;
            }
            Kind::Curvature => {
                let named = self.free(table).find(|column| !column.is_text() && is_curvature(column));
                self.x = Some(self.choose(table, "x", Need::Number, self.x.or(named), false)?);
            }
            Kind::CriticalDifference => {
                self.x = Some(self.choose(table, "x", Need::Any, self.x, true)?);
                self.y = Some(self.choose(table, "y", Need::Number, self.y, false)?);
                self.color = Some(self.choose(table, "color", Need::Text, self.color, true)?);
            }
            Kind::PersistenceDiagram | Kind::Barcode => {
                self.x = Some(self.named_number(table, "x", self.x, "birth")?);
                self.y = Some(self.named_number(table, "y", self.y, "death")?);
                self.color = self.color.or_else(|| self.free(table).find(|column| column.name == "dim"));
            }
            Kind::Landscape => {
                self.x = Some(self.named_number(table, "x", self.x, "x")?);
                self.y = Some(self.named_number(table, "y", self.y, "y")?);
                self.color = self.color.or_else(|| self.free(table).find(|column| column.name == "k"));
            }
            Kind::Graph => {
                let end = |name: &str| table.columns.iter().find(|column| column.name == name);
                self.x = Some(self.choose(table, "x", Need::Any, self.x.or(end("src")), true)?);
                self.y = Some(self.choose(table, "y", Need::Any, self.y.or(end("dst")), true)?);
            }
            Kind::Disk => {
                self.x = Some(self.named_number(table, "x", self.x, "x")?);
                self.y = Some(self.named_number(table, "y", self.y, "y")?);
                self.color = self.optional_color(table);
            }
            Kind::Surface => {
                let facets = table.columns.iter().find(|column| column.name == "facets");
                self.x = Some(self.choose(table, "x", Need::Text, self.x.or(facets), true)?);
            }
            Kind::Histogram => {
                self.x = Some(self.choose(table, "x", Need::Number, self.x, false)?);
                self.check("color", Need::Text, self.color)?;
            }
            Kind::Heatmap => {
                self.x = Some(self.choose(table, "x", Need::Any, self.x, true)?);
                self.y = Some(self.choose(table, "y", Need::Any, self.y, true)?);
                self.color = Some(self.choose(table, "color", Need::Number, self.color, false)?);
            }
            Kind::Bump => {
                self.x = Some(self.choose(table, "x", Need::Any, self.x, true)?);
                let rank = self.free(table).find(|column| is_rank(column));
                self.y = Some(self.choose(table, "y", Need::Number, self.y.or(rank), false)?);
                self.color = Some(self.choose(table, "color", Need::Text, self.color, true)?);
            }
        }
        Ok(())
    }

    /// Refuses what is asked for and the kind does not have.
    fn check_options(&self) -> Result<(), PictureError> {
        let Request { x_label, y_label, x_log, y_log, x_lines, y_lines, .. } = self.request;
        for &(option, kinds) in OF_KINDS {
            let is_given = match option {
                "YERR" => self.request.yerr.is_some(),
                "YMIN" => self.ymin.is_some(),
                "YMAX" => self.ymax.is_some(),
                "FACET" => self.facet.is_some(),
                "X_SCALE" => *x_log,
                "Y_SCALE" => *y_log,
                "XLABEL" => x_label.is_some(),
                "YLABEL" => y_label.is_some(),
                "XLINE" => !x_lines.is_empty(),
                _ => !y_lines.is_empty(),
            };
            if is_given && !kinds.contains(&self.kind) {
                return Err(PictureError::NotOfKind { kind: self.kind, option, kinds });
            }
        }
        if self.ymin.is_some() != self.ymax.is_some() {
            let (given, other) = if self.ymin.is_some() { ("YMIN", "YMAX") } else { ("YMAX", "YMIN") };
            let what = format!("{given} is given without {other}: name the columns of both ends");
            return Err(PictureError::Rows { kind: self.kind, what });
        }
        self.check("ymin", Need::Number, self.ymin)?;
        self.check("ymax", Need::Number, self.ymax)
    }

    /// Refuses logarithms and reference lines of an axis that has no numbers.
    fn check_axes(&self) -> Result<(), PictureError> {
        let Request { x_log, y_log, x_lines, y_lines, .. } = self.request;
        let refuse = |what: String| Err(PictureError::Rows { kind: self.kind, what });
        if self.ymin.is_some() && self.y.is_none() {
            return refuse("YMIN and YMAX are about a number: name its column by Y".to_owned());
        }
        for (axis, column, is_log, lines) in [("X", self.x, *x_log, x_lines), ("Y", self.y, *y_log, y_lines)] {
            let option = if is_log { format!("{axis}_SCALE log") } else { format!("{axis}LINE") };
            let found = column.and_then(|column| match &column.values {
                Values::Texts { .. } => Some((column, "text")),
                Values::Times(_) => Some((column, "times")),
                Values::Numbers(_) => None,
            });
            if let Some((column, found)) = found.filter(|_| is_log || !lines.is_empty()) {
                return refuse(format!("{option} is of an axis of numbers, and `{}` has {found}", column.name));
            }
            if let Some(line) = lines.iter().find(|line| is_log && **line < TINY) {
                return refuse(format!("{axis}LINE {line} has no place on a logarithmic axis: give numbers above 0"));
            }
        }
        Ok(())
    }

    fn has(&self, column: &Column) -> bool {
        let parts = [self.x, self.y, self.color, self.ymin, self.ymax, self.facet];
        parts.into_iter().flatten().any(|other| std::ptr::eq(other, column))
    }

    fn free(&self, table: &'a Table) -> impl Iterator<Item = &'a Column> {
        table.columns.iter().filter(|column| !self.has(column))
    }

    fn check(&self, role: &'static str, need: Need, column: Option<&Column>) -> Result<(), PictureError> {
        match column.filter(|column| !need.fits(column)) {
            None => Ok(()),
            Some(column) => Err(PictureError::Type {
                kind: self.kind,
                role,
                need: need.name(),
                column: column.name.clone(),
                found: if column.is_text() { "text" } else { "numbers" },
            }),
        }
    }

    /// The column of a part: the one that is given if it fits, else the best of those that are free. `prefer_text` is
    /// for parts that take anything. Of numbers, those with a part behind the point are rather measured than counted.
    fn choose(
        &self,
        table: &'a Table,
        role: &'static str,
        need: Need,
        given: Option<&'a Column>,
        prefer_text: bool,
    ) -> Result<&'a Column, PictureError> {
        if let Some(given) = given {
            self.check(role, need, Some(given))?;
            return Ok(given);
        }
        let fits = || self.free(table).filter(|column| need.fits(column));
        let best = if prefer_text {
            fits().find(|column| column.is_text())
        } else {
            fits().find(|column| column.is_fractional()).or_else(|| fits().last())
        };
        let missing = || PictureError::Missing { kind: self.kind, role, need: need.name() };
        best.or_else(|| fits().next()).ok_or_else(missing)
    }

    /// The column of numbers that is given, else the one of this name, else the first that is free.
    fn named_number(
        &self,
        table: &'a Table,
        role: &'static str,
        given: Option<&'a Column>,
        name: &str,
    ) -> Result<&'a Column, PictureError> {
        let named = self.free(table).find(|column| column.name == name && !column.is_text());
        match given.or(named) {
            Some(column) => self.check(role, Need::Number, Some(column)).map(|()| column),
            None => self.first_number(table, role),
        }
    }

    fn first_number(&self, table: &'a Table, role: &'static str) -> Result<&'a Column, PictureError> {
        let missing = PictureError::Missing { kind: self.kind, role, need: Need::Number.name() };
        self.free(table).find(|column| !column.is_text()).ok_or(missing)
    }

    /// The column of colours that is named, else a string with few values.
    fn optional_color(&self, table: &'a Table) -> Option<&'a Column> {
        self.color.or_else(|| {
            self.free(table)
                .find(|column| matches!(&column.values, Values::Texts { names, .. } if names.len() <= MOST_COLORS))
        })
    }

    /// The most rows of a colour in a panel.
    pub(crate) fn longest_group(&self) -> usize {
        let rows: Vec<usize> = (0..self.rows).collect();
        let (colors, panels) = (Groups::new(self.color, &rows), Groups::new(self.facet, &rows));
        let mut counts = vec![0; colors.names.len() * panels.names.len()];
        colors.of.iter().zip(&panels.of).for_each(|(color, panel)| counts[panel * colors.names.len() + color] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    /// The rows in which all of these columns have a value that their axes have, and sentences on the others.
    pub(crate) fn complete_rows(&self, columns: &[&Column]) -> (Vec<usize>, Vec<String>) {
        let mut rows: Vec<usize> =
            (0..self.rows).filter(|&row| columns.iter().all(|column| column.is_there(row))).collect();
        let mut notes = Vec::new();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let left = self.rows - rows.len();
        if left > 0 {
            let names = names.join(" or ");
            notes.push(format!("Left out: {} without a value of {names} that can be drawn.", counted(left)));
        }
        for (column, is_log) in [(self.x, self.request.x_log), (self.y, self.request.y_log)] {
            let Some((column, values)) = column.filter(|_| is_log).and_then(|column| Some((column, column.numbers()?)))
            else {
                continue;
            };
            let before = rows.len();
            rows.retain(|&row| values[row] >= TINY);
            if rows.len() < before {
                let left = counted(before - rows.len());
                let why = "which a logarithmic axis does not have";
                notes.push(format!("Left out: {left} whose {} is zero or less, {why}.", column.name));
            }
        }
        (rows, notes)
    }
}

fn counted(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

/// The groups of rows that a column makes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Groups {
    /// In the order of their first row, numbers in their own.
    pub(crate) names: Vec<String>,
    /// The group of each of the rows.
    pub(crate) of: Vec<usize>,
}

impl Groups {
    /// The groups of these rows; all in one without a column. A missing value is a group of its own, `NULL`, at the end.
    pub(crate) fn new(column: Option<&Column>, rows: &[usize]) -> Self {
        let Some(column) = column else { return Self { names: vec![String::new()], of: vec![0; rows.len()] } };
        let (names, codes): (Vec<String>, Vec<usize>) = match &column.values {
            Values::Texts { names, codes } => {
                let code = |&row: &usize| if codes[row] == MISSING { names.len() } else { codes[row] as usize };
                (names.iter().cloned().chain(["NULL".to_owned()]).collect(), rows.iter().map(code).collect())
            }
            Values::Numbers(values) | Values::Times(values) => {
                let mut distinct: Vec<(f64, usize)> = rows.iter().map(|&row| (values[row], row)).collect();
                distinct.sort_by(|a, b| a.0.total_cmp(&b.0));
                distinct.dedup_by(|a, b| a.0.to_bits() == b.0.to_bits());
                let code = |&row: &usize| distinct.partition_point(|(v, _)| v.total_cmp(&values[row]).is_lt());
                (distinct.iter().map(|&(_, row)| column.text(row)).collect(), rows.iter().map(code).collect())
            }
        };
        // Only those that have a row.
        let mut places = vec![usize::MAX; names.len()];
        codes.iter().for_each(|&code| places[code] = 0);
        let mut used = Vec::new();
        for (code, name) in names.into_iter().enumerate().filter(|(code, _)| places[*code] == 0).collect::<Vec<_>>() {
            places[code] = used.len();
            used.push(name);
        }
        Self { names: used, of: codes.into_iter().map(|code| places[code]).collect() }
    }

    /// Puts all groups beyond so many in one, and says so.
    pub(crate) fn folded(mut self, most: usize) -> (Self, Option<String>) {
        if self.names.len() <= most {
            return (self, None);
        }
        let others = self.names.len() - (most - 1);
        self.names.truncate(most - 1);
        self.names.push(format!("{others} others"));
        self.of.iter_mut().for_each(|group| *group = (*group).min(most - 1));
        (self, Some(format!("Of {} colours {others} share the last.", others + most - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, values: &[&str]) -> Column {
        Column::new(name, Values::texts(values.iter().map(|v| Some(*v))))
    }

    fn numbers(name: &str, values: &[f64]) -> Column {
        Column::new(name, Values::Numbers(values.to_vec()))
    }

    #[track_caller]
    fn chosen(columns: Vec<Column>, expected: &str) {
        let table = Table { columns };
        let request = Request::default();
        let plan = plan(&table, &request).unwrap();
        let name = |column: Option<&Column>| column.map_or("-".to_owned(), |column| column.name.clone());
        let found = format!("{} {} {} {}", plan.kind, name(plan.x), name(plan.y), name(plan.color));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_types_of_the_columns_choose_the_kind() {
        let (a, b) = (texts("a", &["x", "y", "z"]), texts("b", &["p", "p", "q"]));
        let repeated = texts("r", &["x", "x", "y"]);
        let (n, f) = (numbers("n", &[1.0, 2.0, 3.0]), numbers("f", &[0.5, 1.5, 0.1]));
        let rank = numbers("rank", &[1.0, 2.0, 1.0]);
        let time = Column::new("t", Values::Times(vec![0.0, 1.0, 2.0]));
        chosen(vec![a.clone(), n.clone()], "bars a n -");
        chosen(vec![a.clone(), n.clone(), f.clone()], "bars a f -");
        chosen(vec![a.clone()], "bars a - -");
        chosen(vec![n.clone(), f.clone()], "points n f -");
        chosen(vec![f.clone()], "histogram f - -");
        chosen(vec![repeated.clone(), f.clone()], "boxes r f -");
        chosen(vec![repeated.clone(), texts("c", &["p", "q", "q"]), f.clone()], "heatmap r c f");
        chosen(vec![repeated.clone(), texts("c", &["p", "q", "q"]), rank, f.clone()], "bump r rank c");
        chosen(vec![repeated, b, f.clone()], "boxes r f b");
        chosen(vec![time, f], "lines t f -");
    }

    #[test]
    fn a_wrong_column_is_named_with_its_nearest() {
        let table = Table { columns: vec![texts("model", &["a"]), numbers("accuracy", &[1.0])] };
        let error = |text: &str| plan(&table, &Request::parse(text).unwrap()).unwrap_err().to_string();
        assert_eq!(
            error("bars model acuracy"),
            "there is no column `acuracy`, did you mean `accuracy`?; the columns are model, accuracy"
        );
        assert_eq!(error("points accuracy model"), "points needs numbers for y, and the column `model` has text");
        assert_eq!(
            error("heatmap model accuracy"),
            "heatmap needs numbers for color, and the result has no such column; name one by COLOR"
        );
    }

    #[test]
    fn what_a_kind_does_not_have_is_refused() {
        let table = Table {
            columns: vec![
                texts("model", &["a", "b"]),
                numbers("accuracy", &[1.5, 2.5]),
                numbers("low", &[0.5, 1.0]),
                numbers("high", &[1.5, 3.0]),
                Column::new("day", Values::Times(vec![0.0, 1.0])),
            ],
        };
        for (text, what) in [
            ("histogram accuracy ymin=low ymax=high", "histogram has no YMIN; bars, points, lines have it"),
            ("bars model accuracy ymin=low", "bars: YMIN is given without YMAX: name the columns of both ends"),
            ("bars model accuracy ymax=high", "bars: YMAX is given without YMIN: name the columns of both ends"),
            ("bars ymin=model ymax=high", "bars needs numbers for ymin, and the column `model` has text"),
            ("bars y=accuracy y_scale=log", "bars has no Y_SCALE; points, lines, boxes have it"),
            ("bars xline=1", "bars has no XLINE; points, lines, histogram, landscape, curvature have it"),
            ("surface ylabel=a", "surface has no YLABEL; bars, points"),
            ("points model accuracy xline=1", "points: XLINE is of an axis of numbers, and `model` has text"),
            ("lines day accuracy x_scale=log", "lines: X_SCALE log is of an axis of numbers, and `day` has times"),
            ("points accuracy low y_scale=log yline=0", "YLINE 0 has no place on a logarithmic axis"),
            ("bars facet=modell", "there is no column `modell`, did you mean `model`?"),
        ] {
            let error = plan(&table, &Request::parse(text).unwrap()).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
        // Columns that have a part are not taken for another one.
        let request = Request::parse("ymin=low ymax=high").unwrap();
        let request = Request { kind: Some(Kind::Bars), ..request };
        let plan = plan(&table, &request).unwrap();
        assert_eq!((plan.x.unwrap().name.as_str(), plan.y.unwrap().name.as_str()), ("model", "accuracy"));
    }

    #[test]
    fn groups_are_those_of_the_rows() {
        let groups = Groups::new(Some(&numbers("n", &[3.0, 1.0, 3.0, 2.0])), &[0, 1, 2]);
        assert_eq!((groups.names, groups.of), (vec!["1".to_owned(), "3".into()], vec![1, 0, 1]));
        let column = Column::new("t", Values::texts([Some("b"), None, Some("a"), Some("b")]));
        let groups = Groups::new(Some(&column), &[1, 2, 3]);
        assert_eq!((groups.names, groups.of), (vec!["b".to_owned(), "a".into(), "NULL".into()], vec![2, 1, 0]));
        let (folded, note) = Groups::new(Some(&column), &[0, 1, 2]).folded(2);
        assert_eq!((folded.names, folded.of), (vec!["b".to_owned(), "2 others".into()], vec![0, 1, 1]));
        assert_eq!(note.as_deref(), Some("Of 3 colours 2 share the last."));
    }
}
