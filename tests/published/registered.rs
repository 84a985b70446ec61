//! Published data sets by their names.

use std::fs;
use std::path::Path;

use crate::{Db, data};

/// Two small sets: a folder, and a file.
const SETS: [(&str, &str, &str); 2] =
    [("disease_nc", "hgcn/disease_nc", "1044"), ("reed98", "linkx/facebook100/Reed98.mat", "962")];

/// Copies a file, or the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    if from.is_file() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

#[test]
fn a_set_is_attached_by_its_name_once_its_files_are_the_published_ones() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    db.run(&format!("SET bonnet.data = '{}'", folder.path().display()));
    for (name, place, nodes) in SETS {
        let Some(published) = data(place) else { return };
        copy(Path::new(&published), &folder.path().join(place));
        db.run(&format!("ATTACH 'registry:{name}' AS {name}"));
        assert_eq!(db.value(&format!("SELECT count(*) FROM {name}.nodes")), nodes);
        let listed = format!("SELECT nodes FROM bonnet.datasets WHERE name = '{name}'");
        assert_eq!(db.value(&listed), nodes);
        let sums = format!(
            "SELECT bool_and(length(f.sha256) = 64) FROM (SELECT unnest(files) AS f FROM bonnet.datasets WHERE name = '{name}')"
        );
        assert_eq!(db.value(&sums), "true");
    }
    let place = folder.path().join(SETS[0].1);
    let attached = db.value("SELECT location FROM bonnet.graphs WHERE graph = 'disease_nc'");
    assert_eq!(attached, place.display().to_string());

    // One byte that differs is told with both sums, and left as it is.
    let labels = place.join("disease_nc.labels.npy");
    let mut bytes = fs::read(&labels).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&labels, &bytes).unwrap();
    let published = db.value(
        "SELECT f.sha256 FROM (SELECT unnest(files) AS f FROM bonnet.datasets WHERE name = 'disease_nc') WHERE f.path LIKE '%labels%'",
    );
    let said = ["disease_nc.labels.npy' is not the file that was published", &published, "move it away, or ATTACH"];
    db.refuses("ATTACH 'registry:disease_nc' AS d", &said);
    assert_eq!(fs::read(&labels).unwrap(), bytes);
    db.run(&format!("ATTACH '{}' AS d", place.display()));

    db.refuses(
        "ATTACH 'registry:disease' AS x",
        &["no data set 'disease'; there are disease_lp, disease_nc", "bonnet.datasets"],
    );
    db.refuses("ATTACH 'registry:reed98' AS x (TYPE planetoid)", &["registry:reed98 is of TYPE linkx, not planetoid"]);
    db.refuses("SET bonnet.data_mirror = 'here'", &["expected an address such as https://host/data"]);
}

#[test]
#[cfg(feature = "remote")]
fn files_that_are_not_there_are_fetched_compared_and_kept() {
    let Some(published) = data(SETS[0].1) else { return };
    let server = crate::remote::server::Server::start();
    for entry in fs::read_dir(&published).unwrap() {
        let entry = entry.unwrap();
        let path = format!("/mirror/{}/{}", SETS[0].1, entry.file_name().to_str().unwrap());
        server.has(&path, fs::read(entry.path()).unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    db.run(&format!("SET bonnet.data = '{}'", folder.path().display()));
    db.run(&format!("SET bonnet.data_mirror = 'http://{}/mirror/'", server.host));
    // What came earlier is gone on with.
    let place = folder.path().join(SETS[0].1);
    let edges = fs::read(Path::new(&published).join("disease_nc.edges.csv")).unwrap();
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("disease_nc.edges.csv.part"), &edges[..edges.len() / 2]).unwrap();
    db.run("ATTACH 'registry:disease_nc' AS d");
    assert_eq!(db.value("SELECT count(*) FROM d.nodes"), SETS[0].2);
    assert_eq!(fs::read(place.join("disease_nc.edges.csv")).unwrap(), edges);
    assert!(!place.join("disease_nc.edges.csv.part").exists());
    db.run("DETACH d");

    // Another file of the same size is kept aside, with both sums in the error; one of another size is refused before.
    let labels = place.join("disease_nc.labels.npy");
    let mut bytes = fs::read(&labels).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let path = format!("/mirror/{}/disease_nc.labels.npy", SETS[0].1);
    server.has(&path, bytes.clone());
    fs::remove_file(&labels).unwrap();
    db.refuses(
        "ATTACH 'registry:disease_nc' AS d",
        &["what came of disease_nc.labels.npy is not the file", ".differs'"],
    );
    assert_eq!(fs::read(place.join("disease_nc.labels.npy.differs")).unwrap(), bytes);
    assert!(!labels.exists());
    server.has(&path, "short");
    db.refuses("ATTACH 'registry:disease_nc' AS d", &["registry:disease_nc: 'http://", "has 5 bytes, and"]);
    db.refuses("ATTACH 'registry:reed98' AS r", &["is not there (404)"]);
}
