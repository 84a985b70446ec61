//! The small data that the project ships: `builtin:karate`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use crate::columns::{self, Values};
use crate::reader::{BUILTIN, GraphFile};
use crate::scan::Scan;
use crate::types::Features;
use crate::{Dataset, Error, Format, Options, Result};

/// The names that exist.
const NAMES: [&str; 1] = ["karate"];

pub(super) static FORMAT: Format = Format {
    name: "builtin",
    description: "builtin:karate, the small data that comes with the program",
    options: &[],
    recognises: |path| {
        path.to_str().and_then(|path| path.strip_prefix(BUILTIN)).is_some_and(|name| NAMES.contains(&name))
    },
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    if FORMAT.recognises(path) {
        return Ok(FORMAT.dataset(path, options, Karate));
    }
    let known: Vec<String> = NAMES.iter().map(|name| format!("{BUILTIN}{name}")).collect();
    Err(Error::Missing { path: path.to_owned(), hint: format!("; there is {}", known.join(", ")) })
}

/// Zachary's karate club: who met whom outside the club, and whom each followed when it split (W. W. Zachary, An
/// information flow model for conflict and fission in small groups, Journal of Anthropological Research 33, 1977). The
/// members 1 to 34 of the paper are the nodes 0 to 33.
#[derive(Debug)]
struct Karate;

/// The friends of each member among those with a larger number.
const FRIENDS: [&[u8]; 33] = [
    &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    &[2, 3, 7, 13, 17, 19, 21, 30],
    &[3, 7, 8, 9, 13, 27, 28, 32],
    &[7, 12, 13],
    &[6, 10],
    &[6, 10, 16],
    &[16],
    &[],
    &[30, 32, 33],
    &[33],
    &[],
    &[],
    &[],
    &[33],
    &[32, 33],
    &[32, 33],
    &[],
    &[],
    &[32, 33],
    &[33],
    &[32, 33],
    &[],
    &[32, 33],
    &[25, 27, 29, 32, 33],
    &[25, 27, 31],
    &[31],
    &[29, 33],
    &[33],
    &[31, 33],
    &[32, 33],
    &[32, 33],
    &[32, 33],
    &[33],
];

/// Those who followed the instructor; the others followed the officers.
const WITH_MR_HI: [usize; 17] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21];

impl GraphFile for Karate {
    fn nodes_schema(&self) -> Result<SchemaRef> {
        Ok(columns::nodes_schema(DataType::Int64, DataType::Utf8, Features::none()))
    }

    fn nodes(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let faction = |node| if WITH_MR_HI.contains(&node) { "Mr. Hi" } else { "Officer" };
        scan.batches(34, |name| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => Values::Words((0..34).map(faction).collect()),
                _ => Values::Nulls,
            })
        })
    }

    fn edges(&self, scan: &Scan<'_>) -> Result<Vec<RecordBatch>> {
        let pairs = FRIENDS.iter().enumerate();
        scan.edges(pairs.flat_map(|(u, friends)| friends.iter().map(move |&v| (u as i64, i64::from(v)))).unzip())
    }

    fn expected_bytes(&self, _table: &str, _features: bool) -> usize {
        8 * 1024
    }

    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
