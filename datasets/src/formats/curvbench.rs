//! CurvBench's one-row Parquet: a graph in the columns `x`, `edge_index`, `y`, `train_mask`, `val_mask`, `test_mask`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float32Array, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type, SchemaRef};
use parquet::arrow::ProjectionMask;

use super::{DIRECTED, class, not_this};
use crate::columns::{self, Splits, Values};
use crate::guard::caught;
use crate::matrix::{Matrix, Row};
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::{Features, dense_features_type};
use crate::{Dataset, Error, Format, Options, Result, files, parquet_file};

/// The names that a column goes by; the first is CurvBench's, the others are of graphs published the same way.
const X: &[&str] = &["x", "node_feat"];
const Y: &[&str] = &["y", "label", "labels"];
const EDGES: &[&str] = &["edge_index"];
const N: &[&str] = &["num_nodes"];
const MASKS: [(&str, &str); 3] = [("train_mask", "train"), ("val_mask", "val"), ("test_mask", "test")];

pub(super) static FORMAT: Format = Format {
    name: "curvbench",
    description: "a Parquet file of one row: x, edge_index, y, train_mask, val_mask, test_mask (CurvBench)",
    options: &[DIRECTED],
    recognises: |path| find(path).is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let file = match find(path) {
        Some(file) => file,
        None if path.is_file() => {
            let schema = Arc::clone(parquet_file::reader(path)?.schema());
            let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            let what = format!("has no column edge_index with x, y or masks but: {}", files::few(&names));
            return Err(Error::file(path, what));
        }
        None => {
            return Err(not_this(path, "one Parquet file with the columns edge_index and x, y or masks is expected"));
        }
    };
    Ok(FORMAT.dataset(path, options, OneRow { file }))
}

/// The file itself, or the one of this kind in a folder or its subfolder `data`.
fn find(path: &Path) -> Option<PathBuf> {
    files::only(path, is_ours).or_else(|| files::only(&path.join("data"), is_ours))
}

fn is_ours(file: &Path) -> bool {
    if !files::name(file).ends_with(".parquet") || !files::is_file(file) {
        return false;
    }
    parquet_file::reader(file).is_ok_and(|builder| {
        let has = |name: &str| builder.schema().column_with_name(name).is_some();
        has(EDGES[0]) && (X.iter().chain(Y).any(|name| has(name)) || has(MASKS[0].0))
    })
}

#[derive(Debug)]
struct OneRow {
    file: PathBuf,
}

/// A list's items, whatever kind of list it is.
fn items(list: &ArrayRef, row: usize) -> Option<ArrayRef> {
    match list.data_type() {
        DataType::List(_) => Some(list.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(list.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => Some(list.as_fixed_size_list().value(row)),
        _ => None,
    }
}

fn is_list(array: &ArrayRef) -> bool {
    matches!(array.data_type(), DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

fn numbers(array: &ArrayRef) -> Result<Float32Array, String> {
    Ok(cast(array, &DataType::Float32).map_err(|error| error.to_string())?.as_primitive::<Float32Type>().clone())
}

fn integers(array: &ArrayRef) -> Result<Int64Array, String> {
    let whole = cast(array, &DataType::Int64).map_err(|error| error.to_string())?;
    if whole.null_count() != array.null_count() {
        return Err("a value does not fit into BIGINT".to_owned());
    }
    Ok(whole.as_primitive::<Int64Type>().clone())
}

/// A column of labels, as it will be published.
enum Labels {
    Classes(Vec<Option<i64>>),
    Targets(Vec<Option<f64>>),
    Names(Vec<Option<String>>),
    /// Several real targets a node.
    Vectors(Matrix, Vec<bool>),
}

impl OneRow {
    fn fault(&self, column: &str, what: impl ToString) -> Error {
        Error::member(&self.file, &format!("column {column}"), what)
    }

    /// The first of some names that the file has.
    fn name<'a>(&self, names: &[&'a str]) -> Result<Option<&'a str>> {
        let schema = Arc::clone(parquet_file::reader(&self.file)?.schema());
        Ok(names.iter().find(|name| schema.column_with_name(name).is_some()).copied())
    }

    /// The value of a column in the file's only row; `None` if there is no such column or it is NULL.
    fn column(&self, name: &str) -> Result<Option<ArrayRef>> {
        let builder = parquet_file::reader(&self.file)?;
        let rows = builder.metadata().file_metadata().num_rows();
        if rows != 1 {
            let what = format!("has {rows} rows; a graph is one row (read other tables with FROM 'file.parquet')");
            return Err(Error::file(&self.file, what));
        }
        let Some((position, _)) = builder.schema().column_with_name(name) else { return Ok(None) };
        let mask = ProjectionMask::roots(builder.parquet_schema(), [position]);
        let read = || builder.with_projection(mask).build().map(|mut reader| reader.next());
        let batch = match caught(&self.file, read)?.map_err(|error| self.fault(name, error))? {
            Some(batch) => batch.map_err(|error| self.fault(name, error))?,
            None => return Err(self.fault(name, "has no row")),
        };
        let column = batch.column(0);
        if column.is_null(0) {
            return Ok(None);
        }
        Ok(Some(items(column, 0).unwrap_or_else(|| Arc::clone(column))))
    }

    /// The number of values of a column in all its nested lists, from the file's footer.
    fn values_of(&self, names: &[&str]) -> Result<Option<usize>> {
        let builder = parquet_file::reader(&self.file)?;
        let schema = builder.parquet_schema();
        let leaf = (0..schema.num_columns()).find(|leaf| names.contains(&schema.get_column_root(*leaf).name()));
        Ok(leaf.map(|leaf| {
            let groups = builder.metadata().row_groups();
            groups.iter().map(|group| group.column(leaf).num_values().max(0) as usize).sum()
        }))
    }

    fn n_nodes(&self) -> Result<usize> {
        if let Some(column) = self.column(N[0])? {
            let counts = integers(&column).map_err(|what| self.fault(N[0], what))?;
            if let Some(n) = counts.iter().next().flatten().and_then(|n| usize::try_from(n).ok()) {
                return self.check_nodes(n);
            }
        }
        for names in [Y, &[MASKS[0].0], X] {
            if let Some(name) = self.name(names)?
                && let Some(column) = self.column(name)?
            {
                // A mask of several splits may have a row a split; the nodes are then in its columns.
                let rows = column.len();
                return Ok(match items_of_first(&column) {
                    Some(inner) if name == MASKS[0].0 && inner > rows => inner,
                    _ => rows,
                });
            }
        }
        let (src, dst) = self.arcs()?;
        self.check_nodes(src.iter().chain(&dst).max().map_or(0, |last| last.saturating_add(1).max(0) as usize))
    }

    /// A number of nodes that no column has as many values for.
    fn check_nodes(&self, n: usize) -> Result<usize> {
        // Columns are packed: a byte may hold several endpoints of edges.
        files::check_nodes(&self.file, n, files::size(&self.file).saturating_mul(16))?;
        Ok(n)
    }

    /// `[2][edges]`, or `[edges][2]`.
    fn arcs(&self) -> Result<(Vec<i64>, Vec<i64>)> {
        let name = EDGES[0];
        let column = self.column(name)?.ok_or_else(|| self.fault(name, "is NULL; a list of lists is expected"))?;
        let fault = |what: String| self.fault(name, what);
        if column.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        if !is_list(&column) {
            return Err(fault(format!(
                "has the type {}; a list of lists of node numbers is expected",
                column.data_type()
            )));
        }
        let row = |i: usize| {
            let list = items(&column, i).filter(|_| column.is_valid(i)).ok_or("a row is NULL".to_owned())?;
            let list = integers(&list)?;
            if list.null_count() > 0 { Err("a node number is NULL".to_owned()) } else { Ok(list.values().to_vec()) }
        };
        if column.len() == 2 {
            let (src, dst) = (row(0).map_err(fault)?, row(1).map_err(fault)?);
            if src.len() == dst.len() {
                return Ok((src, dst));
            }
            return Err(fault(format!("{} sources and {} targets", src.len(), dst.len())));
        }
        let (mut src, mut dst) = (Vec::with_capacity(column.len()), Vec::with_capacity(column.len()));
        for i in 0..column.len() {
            match row(i).map_err(fault)?[..] {
                [from, to] => {
                    src.push(from);
                    dst.push(to);
                }
                ref other => {
                    return Err(fault(format!("row {i} has {} numbers; shape [2][edges] is expected", other.len())));
                }
            }
        }
        Ok((src, dst))
    }

    fn labels(&self, n: usize) -> Result<Labels> {
        let Some(name) = self.name(Y)? else { return Ok(Labels::Classes(vec![None; n])) };
        let Some(column) = self.column(name)? else { return Ok(Labels::Classes(vec![None; n])) };
        let fault = |what: String| self.fault(name, what);
        if column.len() != n {
            return Err(fault(format!("{} labels for {n} nodes", column.len())));
        }
        let flat = if is_list(&column) {
            let (matrix, valid) = matrix(&column, n).map_err(fault)?;
            match &matrix {
                // One label in a list of its own is a label.
                Matrix::Dense { width: 1, .. } => leaf(&column).map_err(fault)?,
                _ => return Ok(Labels::Vectors(matrix, valid)),
            }
        } else {
            column
        };
        if flat.len() != n {
            return Err(fault(format!("{} labels for {n} nodes", flat.len())));
        }
        Ok(match flat.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                let texts = cast(&flat, &DataType::Utf8).map_err(|error| fault(error.to_string()))?;
                Labels::Names(texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect())
            }
            DataType::Float16 | DataType::Float32 | DataType::Float64 => {
                let reals = cast(&flat, &DataType::Float64).map_err(|error| fault(error.to_string()))?;
                let reals: Vec<Option<f64>> = reals.as_primitive::<Float64Type>().iter().collect();
                if reals.iter().flatten().all(|value| value.fract() == 0.0 && value.abs() < 9e15) {
                    Labels::Classes(
                        reals.into_iter().map(|value| value.and_then(|value| class(value as i64))).collect(),
                    )
                } else {
                    Labels::Targets(reals)
                }
            }
            _ => Labels::Classes(integers(&flat).map_err(fault)?.iter().map(|label| label.and_then(class)).collect()),
        })
    }
}

/// The length of the first inner list.
fn items_of_first(column: &ArrayRef) -> Option<usize> {
    if column.is_empty() { None } else { items(column, 0).map(|inner| inner.len()) }
}

/// All inner lists' items, one after the other.
fn leaf(column: &ArrayRef) -> Result<ArrayRef, String> {
    let lists: Vec<ArrayRef> = (0..column.len()).filter_map(|i| items(column, i)).collect();
    let lists: Vec<&dyn Array> = lists.iter().map(AsRef::as_ref).collect();
    if lists.is_empty() {
        return Err("is empty".to_owned());
    }
    arrow::compute::concat(&lists).map_err(|error| error.to_string())
}

/// `n` rows of one width; NULL rows are marked as not valid. A flat column is a matrix of width 1.
fn matrix(column: &ArrayRef, n: usize) -> Result<(Matrix, Vec<bool>), String> {
    if column.len() != n {
        return Err(format!("{} rows for {n} nodes", column.len()));
    }
    let valid: Vec<bool> = (0..n).map(|row| column.is_valid(row)).collect();
    if !is_list(column) {
        let values = numbers(column)?;
        let values = (0..n).map(|row| if valid[row] { values.value(row) } else { 0.0 }).collect();
        return Ok((Matrix::Dense { rows: n, width: 1, values }, valid));
    }
    let mut width = None;
    let mut values = Vec::new();
    for (row, valid) in valid.iter().enumerate() {
        let Some(list) = items(column, row).filter(|_| *valid) else {
            continue;
        };
        let list = numbers(&list)?;
        if list.null_count() > 0 {
            return Err(format!("row {row} has a NULL among its values"));
        }
        match width {
            None => {
                width = Some(list.len());
                values = vec![0.0; list.len() * row];
            }
            Some(width) if width == list.len() => {}
            Some(width) => return Err(format!("row {row} has {} values, the rows before {width}", list.len())),
        }
        let width = width.unwrap_or_default();
        values.resize(row * width, 0.0);
        values.extend_from_slice(list.values());
    }
    let width = width.unwrap_or_default();
    values.resize(n * width, 0.0);
    Ok((Matrix::Dense { rows: n, width, values }, valid))
}

/// One mask a split: `[nodes]`, `[splits][nodes]` or `[nodes][splits]`.
fn mask(column: &ArrayRef, n: usize) -> Result<Vec<Vec<bool>>, String> {
    let flags = |array: &ArrayRef| -> Result<Vec<bool>, String> {
        integers(array)?
            .iter()
            .map(|flag| match flag {
                Some(0) => Ok(false),
                Some(1) => Ok(true),
                other => Err(format!("a mask has {other:?}; it may have true, false, 0 and 1")),
            })
            .collect()
    };
    if !is_list(column) {
        let mask = flags(column)?;
        return if mask.len() == n { Ok(vec![mask]) } else { Err(format!("{} marks for {n} nodes", mask.len())) };
    }
    let rows: Vec<Vec<bool>> =
        (0..column.len()).filter_map(|row| items(column, row)).map(|row| flags(&row)).collect::<Result<_, _>>()?;
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width) {
        return Err("the rows of a mask have unequal lengths".to_owned());
    }
    if rows.len() == n {
        return Ok((0..width).map(|split| rows.iter().map(|row| row[split]).collect()).collect());
    }
    if width == n { Ok(rows) } else { Err(format!("a mask of {} by {width} for {n} nodes", rows.len())) }
}

impl GraphFile for OneRow {
    fn has_splits(&self) -> bool {
        MASKS.iter().any(|(mask, _)| self.name(&[mask]).is_ok_and(|name| name.is_some()))
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let n = self.n_nodes()?;
        let features = match self.name(X)? {
            Some(_) => {
                let width = self.values_of(X)?.filter(|_| n > 0).map(|values| values / n);
                Features { sparse: false, width }
            }
            None => Features::none(),
        };
        let label = match self.labels(n)? {
            Labels::Classes(_) => DataType::Int64,
            Labels::Targets(_) => DataType::Float64,
            Labels::Names(_) => DataType::Utf8,
            Labels::Vectors(..) => dense_features_type(),
        };
        Ok(columns::nodes_schema(DataType::Int64, label, features))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let n = self.n_nodes()?;
        let rows = |matrix, valid: Vec<bool>| {
            let row = move |node: usize| if valid[node] { Row::At(node) } else { Row::Absent };
            Values::Features(matrix, Box::new(row))
        };
        scan.batches(n, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => match self.labels(n)? {
                    Labels::Classes(labels) => Values::Labels(labels),
                    Labels::Targets(targets) => Values::OptionalReals(targets),
                    Labels::Names(names) => Values::OptionalTexts(names),
                    Labels::Vectors(matrix, valid) => rows(matrix, valid),
                },
                _ => {
                    let Some(x) = self.name(X)? else { return Ok(Values::Nulls) };
                    let Some(column) = self.column(x)? else { return Ok(Values::Nulls) };
                    let (matrix, valid) = matrix(&column, n).map_err(|what| self.fault(x, what))?;
                    rows(matrix, valid)
                }
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        scan.edges(self.arcs()?)
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let n = self.n_nodes()?;
        let mut masks = Vec::new();
        for (name, part) in MASKS {
            if let Some(column) = self.column(name)? {
                masks.push((mask(&column, n).map_err(|what| self.fault(name, what))?, part));
            }
        }
        scan.splits(Splits::from_masks(&masks))
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        let values = |names: &[&str]| self.values_of(names).ok().flatten().unwrap_or(0);
        match table {
            "edges" => values(EDGES).saturating_mul(40),
            "splits" => MASKS.iter().map(|(mask, _)| values(&[mask])).sum::<usize>().saturating_mul(48),
            _ => {
                let features = if features { values(X) } else { 0 };
                values(Y).saturating_mul(48).saturating_add(features.saturating_mul(24))
            }
        }
    }

    fn missing_features(&self) -> Option<String> {
        let name = self.name(X).ok()?;
        name.is_none().then(|| format!("{} (column x)", files::name(&self.file)))
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
