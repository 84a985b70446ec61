//! The Twitch networks of one country: `musae_CC_edges.csv`, `musae_CC_target.csv`, `musae_CC_features.json`.

use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::DataType;

use super::linkx::{SPLITS, splits_file};
use super::musae::Tables;
use super::{DIRECTED, not_this};
use crate::{Dataset, Format, Options, Result};

pub(super) static FORMAT: Format = Format {
    name: "twitch",
    description: "musae_CC_edges.csv, musae_CC_target.csv, musae_CC_features.json (CUAI/Non-Homophily-Large-Scale)",
    options: &[DIRECTED, SPLITS],
    recognises: |path| Tables::find(path, "_features.json").is_some(),
    open,
};

fn open(path: &Path, options: &Options) -> Result<Arc<dyn Dataset>> {
    let Some((edges, target, features)) = Tables::find(path, "_features.json") else {
        return Err(not_this(path, "musae_CC_edges.csv, musae_CC_target.csv and musae_CC_features.json are expected"));
    };
    const OTHERS: &[(&str, DataType)] =
        &[("id", DataType::Int64), ("days", DataType::Int64), ("views", DataType::Int64)];
    // The streams of a user are for adults, or not.
    let country = edges.file_name().and_then(|name| name.to_str()?.strip_prefix("musae_")?.strip_suffix("_edges.csv"));
    let splits = splits_file(&edges, &format!("twitch-e-{}", country.unwrap_or_default()), options)?;
    let set = Tables { edges, target, features, id: "new_id", labels: &["mature"], others: OTHERS, splits };
    Ok(FORMAT.dataset(path, options, set))
}
