//! Geom-GCN's folders: `out1_graph_edges.txt`, `out1_node_feature_label.txt`, `splits/NAME_split_0.6_0.2_K.npz`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{DIRECTED, class, not_this};
use crate::array;
use crate::columns::{self, Splits, Values};
use crate::files::{self, Lines};
use crate::matrix::sort_row;
use crate::reader::GraphFile;
use crate::scan::{Scan, check};
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

const EDGES: &str = "out1_graph_edges.txt";
const NODES: &str = "out1_node_feature_label.txt";

/// The masks of a split file and the part of each.
const MASKS: [(&str, &str); 3] = [("train_mask", "train"), ("val_mask", "val"), ("test_mask", "test")];

pub(super) static FORMAT: Format = Format {
    name: "geom_gcn",
    description: "out1_graph_edges.txt, out1_node_feature_label.txt, splits/*_split_0.6_0.2_K.npz (graphdml-uiuc-jlu/geom-gcn)",
    options: &[DIRECTED, ("splits", "the folder of the split files; default: splits, in the set's folder")],
    recognises: |path| match folder_of(path) {
        Some(folder) => files::is_file(&folder.join(EDGES)) || !split_files(&folder.join("splits"), folder).is_empty(),
        None => false,
    },
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let expected = "is no geom_gcn set: out1_graph_edges.txt or splits/*_split_*_K.npz is expected";
    let folder = folder_of(path).ok_or_else(|| not_this(path, expected))?;
    let splits = match options.get("splits") {
        None => folder.join("splits"),
        Some(splits) if Path::new(splits).is_dir() => PathBuf::from(splits),
        Some(splits) => return Err(Error::Option(format!("option splits: there is no folder '{splits}'"))),
    };
    let splits = split_files(&splits, folder);
    let set = Geom { folder: folder.to_owned(), splits };
    if set.tables().is_empty() {
        return Err(not_this(path, expected));
    }
    Ok(FORMAT.dataset(folder, options, set))
}

/// The folder itself, or that of one of its files.
fn folder_of(path: &Path) -> Option<&Path> {
    if path.is_dir() {
        return Some(path);
    }
    [EDGES, NODES].contains(&files::name(path)).then(|| path.parent()).flatten()
}

/// The split files with their numbers. Where the folder has those of several sets, those named after `set` count.
fn split_files(splits: &Path, set: &Path) -> Vec<(i64, PathBuf)> {
    let mut found: Vec<(String, i64, PathBuf)> = Vec::new();
    for file in files::names(splits) {
        let Some(stem) = file.strip_suffix(".npz") else { continue };
        let (Some((name, _)), Some((_, number))) = (stem.split_once("_split_"), stem.rsplit_once('_')) else {
            continue;
        };
        if let Ok(number) = number.parse() {
            found.push((name.to_owned(), number, splits.join(&file)));
        }
    }
    let several = found.windows(2).any(|pair| pair[0].0 != pair[1].0);
    let set = std::path::absolute(set).unwrap_or_else(|_| set.to_owned());
    let mut own: Vec<(i64, PathBuf)> = found
        .into_iter()
        .filter(|(name, ..)| !several || name == files::name(&set))
        .map(|(_, number, file)| (number, file))
        .collect();
    own.sort();
    own
}

#[derive(Debug)]
struct Geom {
    folder: PathBuf,
    splits: Vec<(i64, PathBuf)>,
}

/// The spelling of features in the second column of the nodes' file.
#[derive(Clone, Copy)]
enum Spelling {
    /// One value a feature.
    Values { width: usize },
    /// The numbers of the active features (film).
    Active { width: usize },
}

/// The nodes' file, column by column; features only where they are wanted.
#[derive(Default)]
struct Nodes {
    node: Vec<i64>,
    label: Vec<Option<i64>>,
    offsets: Vec<usize>,
    entries: Vec<(i32, f32)>,
}

impl Geom {
    fn edges_file(&self) -> PathBuf {
        self.folder.join(EDGES)
    }

    fn nodes_file(&self) -> Option<PathBuf> {
        Some(self.folder.join(NODES)).filter(|file| files::is_file(file))
    }

    /// From the header, or from the first row. The header of film says its number of features, `feature_amount:931`,
    /// and counts them from 0 to that number.
    fn spelling(&self, file: &Path) -> Result<Spelling> {
        let head = files::head(file, files::SAMPLE_BYTES)?;
        let always = || true;
        let mut lines = Lines::new(file, &head, &always);
        let header = lines.next_line()?.map(|(_, line)| line).unwrap_or_default();
        if let Some((_, amount)) = header.split_once("feature_amount:") {
            let digits: String = amount.chars().take_while(char::is_ascii_digit).collect();
            let amount: usize = digits
                .parse()
                .ok()
                .filter(|amount| *amount < i32::MAX as usize)
                .ok_or_else(|| Error::line(file, 1, "feature_amount has no number"))?;
            return Ok(Spelling::Active { width: amount + 1 });
        }
        let first = lines.next_line()?.map(|(_, line)| line).unwrap_or_default();
        let width = first.split('\t').nth(1).map_or(0, |features| features.split(',').count());
        Ok(Spelling::Values { width })
    }

    fn rows(&self, file: &Path, features: bool, keep_going: &dyn Fn() -> bool) -> Result<Nodes> {
        let spelling = self.spelling(file)?;
        let bytes = files::read(file)?;
        let mut lines = Lines::new(file, &bytes, keep_going);
        let mut nodes = Nodes { offsets: vec![0], ..Nodes::default() };
        lines.next_line()?;
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            // A row of a thousand features takes longer than a line of an edge list.
            if number % 64 == 0 {
                check(keep_going)?;
            }
            let fault = |what: String| Error::line(file, number, what);
            let mut parts = line.split('\t');
            let (Some(node), Some(list), Some(label), None) = (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(fault("node, features and label are expected, separated by tabs".to_owned()));
            };
            nodes.node.push(node.trim().parse().map_err(|_| fault(format!("'{node}' is no node number")))?);
            let label: i64 = label.trim().parse().map_err(|_| fault(format!("'{label}' is no class number")))?;
            nodes.label.push(class(label));
            if features {
                let first = nodes.entries.len();
                parse_features(list, spelling, &mut nodes.entries).map_err(fault)?;
                sort_row(&mut nodes.entries, first);
                if let Spelling::Active { .. } = spelling {
                    // A feature that is listed twice is still only active.
                    nodes.entries[first..].iter_mut().for_each(|entry| entry.1 = 1.0);
                }
                nodes.offsets.push(nodes.entries.len());
            }
        }
        Ok(nodes)
    }

    fn arcs(&self, keep_going: &dyn Fn() -> bool) -> Result<(Vec<i64>, Vec<i64>)> {
        files::node_pairs(&self.edges_file(), '\t', true, keep_going)
    }

    /// The number of nodes where their own file is missing: the length of a mask, else one past the largest end of an
    /// edge.
    fn count(&self, keep_going: &dyn Fn() -> bool) -> Result<usize> {
        if let Some((_, file)) = self.splits.first() {
            return Ok(array::Npz::open(file)?.array(MASKS[0].0)?.rows());
        }
        let (src, dst) = self.arcs(keep_going)?;
        let n = src.iter().chain(&dst).max().map_or(0, |last| last.saturating_add(1).max(0));
        if n > 1_000_000 && n as usize > 16 * src.len() {
            let what = format!("the nodes' file is missing, and node {} in {} edges gives no count", n - 1, src.len());
            return Err(Error::file(&self.edges_file(), what));
        }
        Ok(n as usize)
    }
}

fn parse_features(list: &str, spelling: Spelling, entries: &mut Vec<(i32, f32)>) -> Result<(), String> {
    if list.trim().is_empty() {
        return Ok(());
    }
    match spelling {
        Spelling::Active { width } => {
            for text in list.split(',') {
                match text.trim().parse::<usize>() {
                    Ok(feature) if feature < width => entries.push((feature as i32, 1.0)),
                    _ => return Err(format!("'{text}' is no feature number below {width}")),
                }
            }
        }
        Spelling::Values { width } => {
            let mut count = 0;
            for (feature, text) in list.split(',').enumerate() {
                let value: f32 = text.trim().parse().map_err(|_| format!("'{text}' is no feature value"))?;
                if value != 0.0 {
                    entries.push((feature as i32, value));
                }
                count += 1;
            }
            if count != width {
                return Err(format!("{count} features, where the first row has {width}"));
            }
        }
    }
    Ok(())
}

impl GraphFile for Geom {
    fn tables(&self) -> Vec<&'static str> {
        let graph = if files::is_file(&self.edges_file()) { &["nodes", "edges"][..] } else { &[] };
        graph.iter().copied().chain((!self.splits.is_empty()).then_some("splits")).collect()
    }

    fn nodes_schema(&self) -> Result<SchemaRef> {
        let width = self.nodes_file().map(|file| self.spelling(&file)).transpose()?.map(|spelling| match spelling {
            Spelling::Active { width } | Spelling::Values { width } => width,
        });
        Ok(columns::nodes_schema(DataType::Int64, DataType::Int64, Features { sparse: true, width }))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let Some(file) = self.nodes_file() else {
            let n = self.count(scan.keep_going)?;
            return scan.batches(n, |name| Ok(if name == "node" { Values::Numbers } else { Values::Nulls }));
        };
        let width = crate::features_width(scan.schema.field(2)).unwrap_or(0);
        let mut nodes = self.rows(&file, scan.wants("features"), scan.keep_going)?;
        scan.batches(nodes.node.len(), |name| {
            Ok(match name {
                "node" => Values::Integers(std::mem::take(&mut nodes.node)),
                "label" => Values::Labels(std::mem::take(&mut nodes.label)),
                _ => Values::sparse(width, std::mem::take(&mut nodes.offsets), std::mem::take(&mut nodes.entries)),
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        scan.edges(self.arcs(scan.keep_going)?)
    }

    fn splits(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let mut splits = Splits::default();
        for (number, file) in &self.splits {
            let mut npz = array::Npz::open(file)?;
            for (member, part) in MASKS {
                let mask = npz.array(member)?.flags().map_err(|what| npz.fault(member, what))?;
                splits.push_mask(*number, &mask, part);
            }
            scan.check()?;
        }
        scan.splits(splits)
    }

    fn expected_bytes(&self, table: &str, _features: bool) -> usize {
        match table {
            "edges" => 4 * files::size(&self.edges_file()),
            "splits" => self.splits.len().saturating_mul(64 * 1024),
            // Lists of active features take more room as entries than as text; 0/1 values less.
            _ => 4 * self.nodes_file().map_or(0, |file| files::size(&file)),
        }
    }

    fn missing_features(&self) -> Option<String> {
        self.nodes_file().is_none().then(|| NODES.to_owned())
    }

    fn directed(&self) -> bool {
        true
    }

    fn files(&self) -> Vec<PathBuf> {
        let own = [self.edges_file(), self.folder.join(NODES)];
        own.into_iter().chain(self.splits.iter().map(|(_, file)| file.clone())).collect()
    }
}
