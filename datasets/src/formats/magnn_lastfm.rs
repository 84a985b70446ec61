//! MAGNN's LastFM folder: `user_artist.dat`, `artist_tag.dat`, `user_user(original).dat`, nearest neighbours, and the
//! division of the user-artist rows, `train_val_test_idx.npz`.
//!
//! Nodes are numbered from 0 on: users, artists, tags. The column `id` holds the publisher's number within the type, which
//! counts from 1. The publisher divides links, not nodes: the column `part` of edges says which are for what.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::{DIRECTED, not_this};
use crate::array::Npz;
use crate::columns::{self, Values};
use crate::files::{self, Lines};
use crate::reader::GraphFile;
use crate::scan::Scan;
use crate::{Dataset, Error, Format, Options, Result};

const TYPES: [&str; 3] = ["user", "artist", "tag"];

/// The files, their types of edges, and the types of nodes that they join.
const FILES: [(&str, &str, usize, usize); 5] = [
    ("user_artist.dat", "user-artist", 0, 1),
    ("artist_tag.dat", "artist-tag", 1, 2),
    ("user_user(original).dat", "user-user", 0, 0),
    ("user_user(knn).dat", "user-user-knn", 0, 0),
    ("artist_artist(knn).dat", "artist-artist-knn", 1, 1),
];

const SPLIT: &str = "train_val_test_idx.npz";
const PARTS: [(&str, &str); 3] = [("train_idx", "train"), ("val_idx", "val"), ("test_idx", "test")];

pub(super) static FORMAT: Format = Format {
    name: "magnn_lastfm",
    description: "user_artist.dat, artist_tag.dat, user_user(original).dat: users, artists and tags of LastFM (cynricfu/MAGNN)",
    options: &[DIRECTED],
    recognises: |path| FILES[..3].iter().all(|file| files::is_file(&path.join(file.0))),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    if !FORMAT.recognises(path) {
        return Err(not_this(path, "user_artist.dat, artist_tag.dat and user_user(original).dat are expected"));
    }
    Ok(FORMAT.dataset(path, options, LastFm { folder: path.to_owned() }))
}

#[derive(Debug)]
struct LastFm {
    folder: PathBuf,
}

/// A row of a file: the publisher's numbers less one, and the weight where there is one.
type Link = (i64, i64, Option<f64>);

impl LastFm {
    /// The rows of a file; a file of nearest neighbours may be missing.
    fn links(&self, name: &str, keep_going: &dyn Fn() -> bool) -> Result<Vec<Link>> {
        let file = self.folder.join(name);
        if !files::is_file(&file) {
            return Ok(Vec::new());
        }
        let bytes = files::read(&file)?;
        let most = FILES.iter().map(|file| files::size(&self.folder.join(file.0))).sum::<usize>().max(files::FEW_NODES);
        let mut lines = Lines::new(&file, &bytes, keep_going);
        let mut links = Vec::new();
        while let Some((number, line)) = lines.next_line()? {
            if line.trim().is_empty() {
                continue;
            }
            let fault = || Error::line(&file, number, format!("'{line}' are not two numbers from 1 on and a weight"));
            let mut fields = line.split_whitespace();
            let mut end = || fields.next().and_then(|text| text.parse::<u32>().ok()).filter(|end| *end > 0);
            let (Some(x), Some(y)) = (end(), end()) else { return Err(fault()) };
            // Every node has a line, so there are fewer of them than bytes; a part of a set is read, too.
            if let Some(node) = [x, y].into_iter().find(|node| *node as usize > most) {
                let what = format!(
                    "node {node}, but there cannot be more than {most} in files of this size: the number is damaged"
                );
                return Err(Error::line(&file, number, what));
            }
            let weight = fields.next().map(|text| text.parse::<f64>().map_err(|_| fault())).transpose()?;
            links.push((i64::from(x) - 1, i64::from(y) - 1, weight));
        }
        Ok(links)
    }

    fn all(&self, keep_going: &dyn Fn() -> bool) -> Result<Vec<Vec<Link>>> {
        FILES.iter().map(|file| self.links(file.0, keep_going)).collect()
    }

    /// The numbers of nodes of each type.
    fn counts(links: &[Vec<Link>]) -> [usize; 3] {
        let mut counts = [0; 3];
        for (links, (.., from, to)) in links.iter().zip(FILES) {
            for (x, y, _) in links {
                counts[from] = counts[from].max(*x as usize + 1);
                counts[to] = counts[to].max(*y as usize + 1);
            }
        }
        counts
    }

    /// The part of each row of user_artist.dat.
    fn parts(&self, rows: usize) -> Result<Vec<Option<String>>> {
        let file = self.folder.join(SPLIT);
        let mut parts = vec![None; rows];
        if files::is_file(&file) {
            let mut npz = Npz::open(&file)?;
            for (member, part) in PARTS {
                for row in npz.array(member)?.integers().map_err(|what| npz.fault(member, what))? {
                    match parts.get_mut(row as usize) {
                        Some(slot) => *slot = Some(part.to_owned()),
                        None => return Err(npz.fault(member, format!("row {row} of {rows} rows of {}", FILES[0].0))),
                    }
                }
            }
        }
        Ok(parts)
    }
}

impl GraphFile for LastFm {
    fn nodes_schema(&self) -> Result<SchemaRef> {
        Ok(Arc::new(Schema::new(vec![
            Field::new("node", DataType::Int64, false),
            Field::new("type", DataType::Utf8, true),
            Field::new("id", DataType::Int64, true),
        ])))
    }

    fn edges_schema(&self) -> Result<SchemaRef> {
        let others = [("type", DataType::Utf8), ("weight", DataType::Float64), ("part", DataType::Utf8)];
        let others = others.map(|(name, data_type)| Field::new(name, data_type, true));
        Ok(columns::extended(&columns::edges_schema(DataType::Int64), others))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let counts = Self::counts(&self.all(scan.keep_going)?);
        scan.batches(counts.iter().sum(), |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "type" => {
                    let types = TYPES.iter().zip(counts);
                    Values::Words(types.flat_map(|(name, n)| std::iter::repeat_n(*name, n)).collect())
                }
                _ => Values::Integers(counts.iter().flat_map(|&count| 1..=count as i64).collect()),
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let links = self.all(scan.keep_going)?;
        let counts = Self::counts(&links);
        let first = [0, counts[0] as i64, (counts[0] + counts[1]) as i64];
        let rows = links.iter().map(Vec::len).sum();
        let files = || links.iter().zip(FILES);
        scan.batches(rows, |name| {
            Ok(match name {
                "src" => Values::Integers(
                    files()
                        .flat_map(|(links, (.., from, _))| links.iter().map(move |link| link.0 + first[from]))
                        .collect(),
                ),
                "dst" => Values::Integers(
                    files().flat_map(|(links, (.., to))| links.iter().map(move |link| link.1 + first[to])).collect(),
                ),
                "type" => Values::Words(
                    files().flat_map(|(links, (_, name, ..))| std::iter::repeat_n(name, links.len())).collect(),
                ),
                "weight" => Values::OptionalReals(links.iter().flatten().map(|link| link.2).collect()),
                _ => {
                    let mut parts = self.parts(links[0].len())?;
                    parts.resize(rows, None);
                    Values::OptionalTexts(parts)
                }
            })
        })
    }

    fn expected_bytes(&self, _table: &str, _features: bool) -> usize {
        FILES.iter().map(|file| 6 * files::size(&self.folder.join(file.0))).sum()
    }

    fn files(&self) -> Vec<PathBuf> {
        FILES.iter().map(|file| file.0).chain([SPLIT]).map(|name| self.folder.join(name)).collect()
    }
}
