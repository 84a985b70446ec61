//! MUSAE's folders: `NAME_edges.csv`, `NAME_target.csv`, and features by number, `NAME.json`. Twitch's are alike.
//!
//! A node that the target file lists twice, as two of Twitch FR, is one node: its first row counts.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};

use super::{DIRECTED, not_this};
use crate::columns::{self, Values};
use crate::matrix::{Matrix, Row, sort_row};
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result, csv, files, linkx_splits};

pub(super) static FORMAT: Format = Format {
    name: "musae",
    description: "NAME_edges.csv, NAME_target.csv, NAME.json (benedekrozemberczki/MUSAE)",
    options: &[DIRECTED],
    recognises: |path| Tables::find(path, ".json").is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let Some((edges, target, features)) = Tables::find(path, ".json") else {
        return Err(not_this(path, "NAME_edges.csv, NAME_target.csv and NAME.json are expected"));
    };
    let set = Tables { edges, target, features, id: "id", labels: &["page_type", "target"], others: &[], splits: None };
    Ok(FORMAT.dataset(path, options, set))
}

/// A folder of edges, targets and lists of features.
#[derive(Debug)]
pub(super) struct Tables {
    pub edges: PathBuf,
    pub target: PathBuf,
    pub features: PathBuf,
    /// The column of the target file that edges and features name.
    pub id: &'static str,
    /// The column that is the label: the first of these that there is.
    pub labels: &'static [&'static str],
    /// The other columns that are BIGINT or TEXT; without them, all are TEXT.
    pub others: &'static [(&'static str, DataType)],
    /// The file of splits, where the publisher gives some.
    pub splits: Option<PathBuf>,
}

impl Tables {
    /// The files of a folder whose features end with `suffix`, or of the folder of one of them.
    pub fn find(path: &Path, suffix: &str) -> Option<(PathBuf, PathBuf, PathBuf)> {
        let folder = if path.is_dir() { path } else { path.parent()? };
        let names = files::names(folder);
        let mut found = names.iter().filter_map(|name| {
            let stem = name.strip_suffix("_edges.csv")?;
            let [target, features] =
                [format!("{stem}_target.csv"), format!("{stem}{suffix}")].map(|name| folder.join(name));
            let ours = path.is_dir() || [&folder.join(name), &target, &features].contains(&&path.to_owned());
            (ours && files::is_file(&target) && files::is_file(&features))
                .then(|| (folder.join(name), target, features))
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// The columns of the target file.
    fn header(&self) -> Result<Vec<String>> {
        let head = files::head(&self.target, files::SAMPLE_BYTES)?;
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let row = csv::rows(&self.target, line, &|| true)?.into_iter().next().map(|(_, row)| row).unwrap_or_default();
        if !row.iter().any(|name| name == self.id) || self.label(&row).is_none() {
            let what = format!(
                "columns {} and {} are expected, there are: {}",
                self.id,
                self.labels.join(" or "),
                row.join(", ")
            );
            return Err(Error::line(&self.target, 1, what));
        }
        Ok(row)
    }

    fn label(&self, header: &[String]) -> Option<&'static str> {
        self.labels.iter().copied().find(|label| header.iter().any(|name| name == label))
    }

    /// Integers where the first rows are, else text.
    fn label_type(&self, header: &[String]) -> Result<DataType> {
        let head = files::head(&self.target, files::SAMPLE_BYTES)?;
        let rows = csv::rows(&self.target, files::whole_lines(&head, files::SAMPLE_BYTES), &|| true)?;
        let label = self.label(header).unwrap_or_default();
        let position = header.iter().position(|name| name == label).unwrap_or(0);
        let whole = rows
            .iter()
            .skip(1)
            .all(|(_, row)| row.get(position).is_some_and(|text| text.trim().parse::<i64>().is_ok()));
        Ok(if whole { DataType::Int64 } else { DataType::Utf8 })
    }

    fn other_type(&self, name: &str) -> DataType {
        self.others.iter().find(|(other, _)| *other == name).map_or(DataType::Utf8, |(_, data_type)| data_type.clone())
    }

    /// The features of every node that the file names, by node.
    fn features(&self) -> Result<BTreeMap<i64, Vec<i32>>> {
        let bytes = files::read(&self.features)?;
        let lists: BTreeMap<String, Vec<i32>> =
            serde_json::from_slice(&bytes).map_err(|error| Error::line(&self.features, error.line(), error))?;
        lists
            .into_iter()
            .map(|(node, features)| match node.trim().parse() {
                Ok(node) if features.iter().all(|feature| *feature >= 0) => Ok((node, features)),
                Ok(_) => Err(Error::file(&self.features, format!("node {node} has a feature below 0"))),
                Err(_) => Err(Error::file(&self.features, format!("'{node}' is no node number"))),
            })
            .collect()
    }

    /// The features of these nodes; nodes that the file leaves out have NULL.
    fn feature_values(&self, nodes: &[i64]) -> Result<Values> {
        let lists = self.features()?;
        let (mut offsets, mut entries, mut at) = (vec![0], Vec::new(), Vec::new());
        for node in nodes {
            let list = lists.get(node);
            at.push(list.map_or(Row::Absent, |_| Row::At(at.len())));
            let first = entries.len();
            entries.extend(list.into_iter().flatten().map(|feature| (*feature, 1.0)));
            sort_row(&mut entries, first);
            // A feature that is listed twice is still only there.
            entries[first..].iter_mut().for_each(|entry| entry.1 = 1.0);
            offsets.push(entries.len());
        }
        let width = entries.iter().map(|entry| entry.0 as usize + 1).max().unwrap_or(0);
        Ok(Values::Features(Matrix::Sparse { width, offsets, entries }, Box::new(move |row| at[row])))
    }

    fn integer(&self, line: usize, text: &str, what: &str) -> Result<i64> {
        text.trim()
            .parse()
            .map_err(|_| Error::line(&self.target, line, format!("'{text}' is no whole number ({what})")))
    }
}

impl GraphFile for Tables {
    fn has_splits(&self) -> bool {
        self.splits.is_some()
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let header = self.header()?;
        let label = self.label(&header);
        // The number of features is that of the whole family, which no file of one set says.
        let features = Features { sparse: true, width: None };
        let nodes = columns::nodes_schema(DataType::Int64, self.label_type(&header)?, features);
        let others = header.iter().filter(|name| *name != self.id && Some(name.as_str()) != label);
        Ok(columns::extended(&nodes, others.map(|name| Field::new(name, self.other_type(name), true))))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let header = self.header()?;
        let mut rows = csv::rows(&self.target, &files::read(&self.target)?, scan.keep_going)?;
        rows.remove(0);
        if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != header.len()) {
            let what = format!("{} fields where the header has {}", row.len(), header.len());
            return Err(Error::line(&self.target, *line, what));
        }
        let position = |name: &str| header.iter().position(|other| other == name).unwrap_or(0);
        let id = position(self.id);
        let mut nodes = Vec::with_capacity(rows.len());
        let mut first = Vec::with_capacity(rows.len());
        let mut known = HashSet::new();
        for (line, row) in rows {
            let node = self.integer(line, &row[id], self.id)?;
            if known.insert(node) {
                nodes.push(node);
                first.push((line, row));
            }
        }
        let rows = first;
        scan.batches(rows.len(), |name| {
            let at = match name {
                "node" => return Ok(Values::Integers(nodes.clone())),
                "features" => return self.feature_values(&nodes),
                "label" => position(self.label(&header).unwrap_or_default()),
                name => position(name),
            };
            Ok(match scan.schema.field_with_name(name).map(Field::data_type) {
                Ok(DataType::Int64) => {
                    let integers = rows.iter().map(|(line, row)| self.integer(*line, &row[at], name).map(Some));
                    Values::Labels(integers.collect::<Result<_>>()?)
                }
                _ => Values::Texts(rows.iter().map(|(_, row)| row[at].clone()).collect()),
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let rows = csv::rows(&self.edges, &files::read(&self.edges)?, scan.keep_going)?;
        let ends = rows.iter().skip(1).map(|(line, row)| match row.as_slice() {
            [src, dst] => match (src.trim().parse::<i64>(), dst.trim().parse::<i64>()) {
                (Ok(src), Ok(dst)) => Ok((src, dst)),
                _ => Err(Error::line(&self.edges, *line, format!("'{src},{dst}' are not two node numbers"))),
            },
            other => Err(Error::line(&self.edges, *line, format!("{} fields, two are expected", other.len()))),
        });
        scan.edges(ends.collect::<Result<Vec<_>>>()?.into_iter().unzip())
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        linkx_splits::scan(self.splits.as_deref(), scan)
    }

    fn expected_bytes(&self, table: &str, features: bool) -> usize {
        match table {
            "edges" => 12 * files::size(&self.edges),
            "splits" => linkx_splits::expected_bytes(self.splits.as_deref()),
            _ if features => 8 * files::size(&self.target) + 6 * files::size(&self.features),
            _ => 8 * files::size(&self.target),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.edges, &self.target, &self.features].into_iter().chain(&self.splits).cloned().collect()
    }
}
