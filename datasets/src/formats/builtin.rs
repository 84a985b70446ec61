//! The small data that the project ships: `builtin:karate`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};

use super::{Published, Reader};
use crate::columns::{self, Features, Values};
use crate::{Dataset, Error, Format, Options, Result};

/// What a location of this format starts with.
pub(crate) const PREFIX: &str = "builtin:";

/// The names that exist.
const NAMES: [&str; 1] = ["karate"];

pub(crate) struct Builtin;

impl Format for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn description(&self) -> &'static str {
        "builtin:karate, the small data that comes with the program"
    }

    fn recognises(&self, path: &Path) -> bool {
        path.to_str().and_then(|path| path.strip_prefix(PREFIX)).is_some_and(|name| NAMES.contains(&name))
    }

    fn open(&self, path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
        if self.recognises(path) {
            let location = path.to_string_lossy().into_owned();
            return Ok(Arc::new(Published { format: self.name(), location, options: options.clone(), reader: Karate }));
        }
        let known: Vec<String> = NAMES.iter().map(|name| format!("{PREFIX}{name}")).collect();
        Err(Error::Missing { path: path.to_owned(), hint: format!("; there is {}", known.join(", ")) })
    }
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

impl Reader for Karate {
    fn tables(&self) -> Vec<&'static str> {
        vec!["nodes", "edges"]
    }

    fn schema(&self, table: &str) -> Result<SchemaRef> {
        Ok(match table {
            "nodes" => columns::nodes_schema(DataType::Int64, DataType::Utf8, Features::none()),
            _ => columns::edges_schema(DataType::Int64),
        })
    }

    fn read(
        &self,
        table: &str,
        schema: &SchemaRef,
        columns: &[usize],
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<RecordBatch>> {
        if table == "edges" {
            let pairs = FRIENDS.iter().enumerate();
            let edges = pairs.flat_map(|(u, friends)| friends.iter().map(move |&v| (u as i64, i64::from(v)))).unzip();
            return columns::edge_batches(schema, columns, edges, keep_going);
        }
        let faction = |node| if WITH_MR_HI.contains(&node) { "Mr. Hi" } else { "Officer" };
        let column = |name: &str| {
            Ok(match name {
                "node" => Values::Numbers,
                "label" => Values::Words((0..34).map(faction).collect()),
                _ => Values::Nulls,
            })
        };
        columns::batches(schema, columns, 34, column, keep_going)
    }

    fn expected_bytes(&self, _table: &str, _columns: &[usize]) -> usize {
        8 * 1024
    }

    fn directed(&self) -> bool {
        false
    }

    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
