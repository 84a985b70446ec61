//! Every published triangulation agrees with what its file states, and MANTRA's format goes out and comes back.

use std::fs;
use std::path::PathBuf;

use crate::{Db, data};

/// Attaches triangulations; `None` where they are absent.
fn attach(db: &Db, folder: &str, name: &str) -> Option<()> {
    db.run(&format!("ATTACH '{}' AS {name}", data(&format!("triangulations/{folder}"))?));
    Some(())
}

#[test]
fn the_library_of_triangulations_has_the_homology_it_states_but_for_su2_so3() {
    let db = Db::new();
    let Some(()) = attach(&db, "lutz-library", "library") else { return };
    assert_eq!(db.value("SELECT count(*) FROM library.triangulations"), "44");
    assert_eq!(db.value("SELECT count(*) FROM library.triangulations WHERE homology IS NOT NULL"), "43");
    let differing = db.rows(
        "SELECT id, homology, betti_numbers(facets), torsion_coefficients(facets) FROM library.triangulations
         WHERE betti_numbers(facets) <> betti_numbers OR torsion_coefficients(facets) <> torsion_coefficients",
    );
    // SU2/SO3, the Wu manifold, is simply connected with H_2 = Z_2: the header's free groups are a slip of its authors.
    assert_eq!(differing, [["SU2_SO3", "Z,0,Z,Z,0,Z", "[1, 0, 0, 0, 0, 1]", "[, , Z_2, , , ]"]]);
    let counts =
        "SELECT id FROM library.triangulations WHERE f_vector(facets) <> f_vector OR n_vertices <> f_vector[1]";
    assert_eq!(db.rows(counts), [[""; 1]; 0]);
    // The smallest of its complexes has no H_*, and the shape of a circle.
    let rows =
        db.rows("SELECT betti_numbers(facets), f_vector(facets) FROM library.triangulations WHERE id = 'scTest'");
    assert_eq!(rows, [["[1, 1, 0, 0]", "[7, 12, 7, 2]"]]);
}

#[test]
fn closed_manifolds_of_the_library_are_found_to_be_closed_and_balls_are_not() {
    let db = Db::new();
    let Some(()) = attach(&db, "lutz-library", "library") else { return };
    let check =
        |id: &str| db.value(&format!("SELECT manifold_check(facets) FROM library.triangulations WHERE id = '{id}'"));
    for id in ["poincare", "600_cell", "hyperbolic_dodecahedral_space", "Barnette_sphere", "nc_sphere", "Hom_C5_K4"] {
        assert_eq!(check(id), "closed 3-manifold: all vertex links are 2-spheres", "{id}");
    }
    for id in ["CP2", "RP4", "K3_16", "SU2_SO3", "_HP2", "non_PL"] {
        assert!(check(id).contains("links of dimension 3 and above not decided"), "{id}");
    }
    for id in ["B_3_9_18", "rudin", "trefoil_arc", "knot"] {
        assert!(check(id).starts_with("boundary:"), "{id}");
    }
    assert!(check("dunce_hat").starts_with("branching:"));
    assert!(check("scTest").starts_with("not pure:"));
    // Poincare duality: where an orientation is, the Betti numbers read the same from both ends.
    let lopsided = db.rows(
        "SELECT id FROM library.triangulations WHERE is_closed_manifold(facets) AND is_orientable(facets)
         AND betti_numbers(facets) <> array_reverse(betti_numbers(facets))",
    );
    assert_eq!(lopsided, [[""; 1]; 0]);
    let top = db.rows(
        "SELECT id FROM library.triangulations WHERE is_closed_manifold(facets)
         AND is_orientable(facets) <> (betti_numbers(facets)[dimension(facets) + 1] = 1)",
    );
    assert_eq!(top, [[""; 1]; 0]);
}

#[test]
fn simpcomps_complexes_have_the_invariants_that_their_files_state() {
    let db = Db::new();
    let mut complexes = 0;
    for folder in ["2manifolds", "pseudomanifolds-3d", "transitive"] {
        let Some(()) = attach(&db, &format!("simpcomp/{folder}"), "complexes") else { return };
        complexes += db.value("SELECT count(*) FROM complexes.triangulations").parse::<usize>().unwrap();
        let differing = db.rows(
            "SELECT id, betti_numbers, betti_numbers(facets), torsion_coefficients, torsion_coefficients(facets)
             FROM complexes.triangulations WHERE betti_numbers(facets) <> betti_numbers
                 OR torsion_coefficients(facets) <> torsion_coefficients OR f_vector(facets) <> f_vector
                 OR euler_characteristic(facets) <> euler_characteristic OR dimension(facets) <> dimension
                 OR is_closed_manifold(facets) <> (manifold AND NOT has_boundary) OR n_vertices <> f_vector[1]
                 OR betti_numbers IS NULL OR torsion_coefficients IS NULL OR f_vector IS NULL OR manifold IS NULL",
        );
        assert_eq!(differing, [[""; 5]; 0], "{folder}");
        db.run("DETACH complexes");
    }
    assert_eq!(complexes, 275);
}

#[test]
fn links_of_pseudomanifolds_have_the_types_that_their_files_are_named_after() {
    let db = Db::new();
    let Some(()) = attach(&db, "pseudomanifolds-3d-9v", "census") else { return };
    let rows = db.rows(
        "SELECT count(*), count(DISTINCT file), min(n_vertices), max(n_vertices), bool_or(is_closed_manifold(facets))
         FROM census.triangulations",
    );
    assert_eq!(rows, [["8843", "58", "9", "9", "false"]]);
    // abcd.txt: a links are spheres, b projective planes, c tori, d Klein bottles. By Euler characteristic and
    // orientability of every link, found without any of the functions for manifolds.
    let wrong = db.rows(
        "WITH corners AS (
             SELECT id, file, unnest(facets) AS facet FROM census.triangulations WHERE file IN ('0009', '1080', '2223', '5022', '8001')
         ), links AS (
             SELECT id, file, vertex, array_agg(array_remove(facet, vertex)) AS link
             FROM (SELECT id, file, facet, unnest(facet) AS vertex FROM corners) GROUP BY id, file, vertex
         ), types AS (
             SELECT id, file, euler_characteristic(link) AS chi, is_orientable(link) AS orientable FROM links
         )
         SELECT id, file FROM types GROUP BY id, file HAVING CAST(file AS BIGINT) <>
             1000 * count(*) FILTER (WHERE chi = 2) + 100 * count(*) FILTER (WHERE chi = 1)
             + 10 * count(*) FILTER (WHERE chi = 0 AND orientable) + count(*) FILTER (WHERE chi = 0 AND NOT orientable)",
    );
    assert_eq!(wrong, [[""; 2]; 0]);
    // Betti numbers of the first complex of some files, as recomputed by the data's publisher of the list.
    for (id, betti) in [
        ("1080_1", "[1, 0, 8, 1]"),
        ("7200_1", "[1, 0, 0, 0]"),
        ("8010_1", "[1, 0, 1, 1]"),
        ("8001_1", "[1, 0, 0, 0]"),
        ("0090_1", "[1, 0, 9, 1]"),
        ("7020_1", "[1, 0, 2, 1]"),
    ] {
        let found = db.value(&format!("SELECT betti_numbers(facets) FROM census.triangulations WHERE id = '{id}'"));
        assert_eq!(found, betti, "{id}");
    }
}

/// A folder of its own for a test's files.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bonnetdb-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

const TWO: &str = "SELECT 'b' AS id, [[0,1,2],[0,1,3],[0,2,3],[1,2,3]] AS facets
     UNION ALL SELECT 'a', [[1,2,3],[1,3,4],[1,4,5],[1,5,6],[1,2,6],[2,3,5],[3,4,6],[2,4,5],[3,5,6],[2,4,6]]";

#[test]
fn triangulations_are_written_in_mantras_format_and_read_again() {
    let db = Db::new();
    let folder = folder("mantra");
    for (name, alias) in [("2_manifolds.json", "plain"), ("2_manifolds.json.gz", "zipped")] {
        let file = folder.join(name);
        db.run(&format!(
            "COPY (SELECT id, facets, CASE id WHEN 'b' THEN 'S^2' ELSE 'RP^2' END AS name,
                 betti_numbers(facets) AS betti_numbers, torsion_coefficients(facets) AS torsion_coefficients,
                 genus(facets) AS genus, is_orientable(facets) AS orientable FROM ({TWO}) ORDER BY id DESC)
             TO '{}' STORED AS MANTRA",
            file.display()
        ));
        db.run(&format!("ATTACH '{}' AS {alias}", file.display()));
        let rows = db.rows(&format!(
            "SELECT id, n_vertices, dimension, name, betti_numbers, torsion_coefficients, genus, orientable, facets[1]
             FROM {alias}.triangulations"
        ));
        let expected = [
            ["b", "4", "2", "S^2", "[1, 0, 1]", "[, , ]", "0", "true", "[1, 2, 3]"],
            ["a", "6", "2", "RP^2", "[1, 0, 0]", "[, Z_2, ]", "1", "false", "[1, 2, 3]"],
        ];
        assert_eq!(rows, expected);
    }
    let text = fs::read_to_string(folder.join("2_manifolds.json")).unwrap();
    assert!(
        text.starts_with("[\n{\"id\": \"b\", \"triangulation\": [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]], "),
        "{text}"
    );
    // The folder is two graphs' worth of files.
    db.run(&format!("ATTACH '{}' AS both", folder.display()));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_mantras_format_cannot_hold_is_refused_and_leaves_no_file() {
    let db = Db::new();
    let folder = folder("refused");
    let copy = |query: &str, name: &str, more: &str| {
        format!("COPY ({query}) TO '{}' STORED AS MANTRA {more}", folder.join(name).display())
    };
    let full =
        "SELECT 'x' AS id, [[1,2]] AS facets, '' AS name, [1,0] AS betti_numbers, ['',''] AS torsion_coefficients";
    db.refuses(&copy(TWO, "a.json", ""), &["the query has no name", "it has: id, facets"]);
    db.refuses(&copy(full, "a.csv", ""), &["ends in .json or .json.gz"]);
    db.refuses(&copy(full, "a.json", "OPTIONS (colour red)"), &["STORED AS MANTRA has no option colour"]);
    db.refuses(&copy(&format!("SELECT *, DATE '2020-01-01' AS day FROM ({full})"), "a.json", ""), &["day is DATE"]);
    db.refuses(&copy(&full.replace("'x'", "CAST(NULL AS TEXT)"), "a.json", ""), &["row 1: id is NULL"]);
    db.refuses(&copy(&full.replace("[[1,2]]", "[[1,NULL]]"), "a.json", ""), &["row 1: facet 1 is NULL or empty"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn damaged_lists_are_refused_with_their_place() {
    let db = Db::new();
    let folder = folder("damaged");
    let refuses = |name: &str, text: &str, kind: &str, parts: &[&str]| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        let attached = db.try_run(&format!("ATTACH '{}' AS damaged (TYPE {kind})", file.display()));
        let error = match attached {
            Err(error) => error.to_string(),
            Ok(_) => {
                let error = db.error("SELECT count(facets) FROM damaged.triangulations");
                db.run("DETACH damaged");
                error
            }
        };
        for part in parts {
            assert!(error.contains(part), "{name}: {error}");
        }
    };
    refuses("a.txt", "one=[[1,2,3],\n  [1,2,x]]", "lutz", &["a.txt', line 2", "a vertex is expected", "in one"]);
    refuses("b.txt", "one=[[1,2,3]]\n\ntwo=[[1,2],[3,", "lutz", &["line 3", "the end of the file"]);
    refuses("c.txt", "one=[[1,2,3]]\ntwo\n", "lutz", &["line 3", "'two' is not followed by =[[...]]"]);
    refuses("d.txt", "one=[[1,2,99999999999]]", "lutz", &["line 1", "the vertex 99999999999 is out of range"]);
    refuses(
        "e",
        "# f\nfacets:=[[1,2,3]];\nmore:=[[1,2]];",
        "lutz_library",
        &["one complex is expected, and more follows"],
    );
    refuses("f", "## f=(1,x)\nfacets:=[[1,2,3]];", "lutz_library", &["f=(1,x) is no list of numbers"]);
    refuses("g.scb", "SCSC\u{1}1MSTR\u{1}3SizINTG", "simpcomp", &["g.scb', byte", "the file ends within a value"]);
    refuses("h.json", "[{\"id\": \"a\", \"triangulation\": [[1,2]}]", "mantra", &["record 1", "line 1"]);
    refuses("i.txt", "nothing to see", "lutz", &["holds no lists of triangulations"]);
    fs::remove_dir_all(folder).unwrap();
}
