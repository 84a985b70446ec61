//! The page of formats.

use std::fmt::Write;

use super::{cell, prose};

/// The page of all formats that `ATTACH` reads: `docs/formats.md`.
pub fn formats() -> String {
    let mut page = String::from(
        "# Formats of data sets\n\n\
         `ATTACH 'path' AS name` recognises the format from the names and headers of the files; \
         `ATTACH 'path' AS name (TYPE format, option value, ...)` names it. One graph becomes a schema; a folder of graphs \
         becomes a catalog with one schema a graph. Attaching reads nothing: a query reads the tables and columns that \
         it needs, features only where they are selected.\n\n\
         ## Tables\n\n\
         | table | columns |\n|---|---|\n\
         | `nodes` | `node` (BIGINT or TEXT), `label` (BIGINT, TEXT, DOUBLE, or `FLOAT[]` for several targets; NULL: \
         unlabelled), `features` (`MAP(INT, FLOAT)` for bags of words, else `FLOAT[]`; NULL where the publisher's files \
         lack them), and what else the publisher gives of a node |\n\
         | `edges` | `src`, `dst`, and what else the publisher gives; rows as published: nothing dropped, turned round or \
         added |\n\
         | `splits` | `split`, `node`, `part` (`train`, `val`, `test`), where the publisher fixed splits |\n\n\
         Any other data becomes a graph by views: a schema that has the views `nodes` and `edges` is a graph.\n\n\
         ## By name\n\n\
         `ATTACH 'registry:cora' AS cora` attaches a published data set by its name, from the folder of data sets, once each of \
         its files has the SHA-256 of the published one. `SET bonnet.data = 'folder'` names the folder; else it is that of the \
         variable `BONNET_DATA`, else `.local/share/bonnet/data` in the home folder. Files that are not there are fetched from \
         their publishers, or from `bonnet.data_mirror`, an address under which a copy of the folder is served. `SELECT * FROM \
         bonnet.datasets` lists what there is: name, task, nodes, distinct edges, classes, graphs, bytes, format, licence, \
         publisher, the place in the folder, and each file with its size, SHA-256 and address. Licences are the publishers' \
         to state: read theirs before you pass data on.\n\n\
         ## Writing\n\n\
         `COPY (query) TO 'file' STORED AS format` writes `CSV`, `PARQUET`, `JSON`, `ARROW`, and `MANTRA`: triangulations \
         as MANTRA publishes them, in a file whose name ends in `.json`, or `.json.gz` to have it compressed. \
         The query gives the columns `id`, `facets`, `name`, `betti_numbers` and `torsion_coefficients`; \
         `dimension` and `n_vertices` are counted where they are no columns, vertices are written from 1, and every other \
         column becomes a key of its name. The format takes no options. Options of the others are in \
         [sql/statements.md](sql/statements.md), pictures \
         (`SVG`, `HTML`, `VEGA_LITE`) in [pictures.md](pictures.md).\n\n\
         ```sql\n\
         COPY (SELECT id, facets, homeomorphism_type(facets) AS name, betti_numbers(facets) AS betti_numbers,\n        \
         torsion_coefficients(facets) AS torsion_coefficients\n      \
         FROM classic_triangulations())\nTO 'classics.json.gz' STORED AS MANTRA;\n\
         ```\n",
    );
    for format in bonnet_datasets::formats() {
        let _ = write!(page, "\n## {}\n\n{}.\n", format.name(), prose(format.description().trim_end_matches('.')));
        if !format.options().is_empty() {
            page.push_str("\n| option | meaning |\n|---|---|\n");
            for (name, meaning) in format.options() {
                let _ = writeln!(page, "| `{name}` | {} |", cell(&prose(meaning)));
            }
        }
    }
    page
}
