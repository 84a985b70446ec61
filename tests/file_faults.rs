//! Files in FROM that are damaged, odd or hostile: an error names the file, says what is wrong in words of its format, and what
//! helps; or the rows come.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bonnetdb::EngineOptions;

use super::Db;

/// Writes a file and tells its path.
fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path.display().to_string()
}

/// Whether a text has what only a program says.
fn is_of_a_program(text: &str) -> bool {
    ["panick", "Some(", "Scalar(", "Number(", "task ", "report it"].iter().any(|word| text.contains(word))
}

/// Bits, bytes and parts of files are changed, or their ends are gone, and rows or an error come all the same.
#[test]
fn every_damaged_file_is_rows_or_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().display();
    let db = Db::with(EngineOptions { memory_limit: Some(256 << 20), ..EngineOptions::default() });
    let rows = "SELECT value AS i, 'text ' || (value % 97) AS s, repeat('x', value % 50) || value AS u, value::decimal(12, 2) / 3 AS \
                d, [value, NULL] AS l, {'a': value, 'b': [value::text]} AS t, value % 3 = 0 AS b, value * 0.5 AS f \
                FROM range(3000)";
    let copies = [
        ("plain.parquet", "(COMPRESSION uncompressed)"),
        ("zstd.parquet", "(COMPRESSION zstd, ROW_GROUP_SIZE 1000)"),
        ("snappy.parquet", "(COMPRESSION snappy)"),
        ("rows.arrow", ""),
        ("rows.json", ""),
        ("rows.csv.gz", "(COMPRESSION gzip)"),
        ("rows.csv.zst", "(COMPRESSION zstd)"),
    ];
    // Numbers that are drawn by a rule of their own, the same in each run.
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let (mut errors, mut answers) = (0, 0);
    for (name, options) in copies {
        let path = format!("{root}/whole-{name}");
        db.run(&format!("COPY ({rows}) TO '{path}' {options}"));
        assert_eq!(db.value(&format!("SELECT count(*) FROM '{path}'")), "3000");
        let whole = fs::read(&path).unwrap();
        for case in 0..40 {
            let mut bytes = whole.clone();
            let at = random(bytes.len());
            match case % 6 {
                0 => bytes[at] ^= 1 << random(8),
                // Where the columns are described.
                1 => {
                    let at = bytes.len() - 1 - random(bytes.len().min(2000));
                    bytes[at] = random(256) as u8;
                }
                2 => bytes.truncate(at),
                3 => {
                    let end = bytes.len().min(at + 8);
                    bytes[at..end].fill([0, 0x7f, 0xff][random(3)]);
                }
                4 => {
                    let end = bytes.len().min(at + 400);
                    bytes[at..end].reverse();
                }
                _ => {
                    let end = bytes.len().min(at + random(400));
                    bytes.drain(at..end);
                }
            }
            let name = format!("{case}-{name}");
            let path = file(folder.path(), &name, bytes);
            let begun = Instant::now();
            for sql in [format!("SELECT count(*) FROM '{path}'"), format!("SELECT * FROM '{path}' ORDER BY 1")] {
                match db.try_run(&sql) {
                    Ok(_) => answers += 1,
                    Err(error) => {
                        errors += 1;
                        let text = error.to_string();
                        let said = text.contains(&name) || text.contains("memory");
                        assert!(said && !is_of_a_program(&text), "{sql}\n{text}");
                    }
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{name}");
        }
    }
    assert!(errors > 150 && answers > 50, "{errors} errors, {answers} answers");
}

#[test]
fn what_is_no_file_of_its_format_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    let (text, rows) = ("hello, this is text, no Parquet: PAR1", "a,b\n1,2\n");
    for (name, content, says) in [
        ("text.parquet", text.as_bytes(), "is no Parquet file: it does not begin with PAR1; read_csv"),
        ("cut.parquet", b"PAR1 and nothing that ends it".as_slice(), "it does not end with PAR1, so it is cut short"),
        ("wild.parquet", b"PAR1 x \xff\xff\xff\x7fPAR1".as_slice(), "is damaged: it cannot be read as Parquet ("),
        ("text.arrow", text.as_bytes(), "is damaged, or no Arrow file: "),
        ("text.csv.gz", rows.as_bytes(), "is not compressed as its name, or compression => '...', says"),
        (
            "cut.csv.gz",
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\xd4\x49\xe2".as_slice(),
            "is damaged: it cannot be unpacked (",
        ),
    ] {
        let path = file(folder.path(), name, content);
        db.refuses(&format!("SELECT * FROM '{path}'"), &[&format!("'{path}' "), says]);
    }
    let path = file(folder.path(), "text.csv.gz", rows);
    assert_eq!(db.value(&format!("SELECT sum(b) FROM read_csv('{path}', compression => 'none')")), "2");
}

/// Of many files the one is named that is wrong, with the line of it.
#[test]
fn one_wrong_file_of_many_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (db, root) = (Db::new(), folder.path().display().to_string());
    let good = "a,b\n1,2\n".to_owned() + &"3,4\n".repeat(30_000);
    for (name, bad, says) in [
        ("more", good.clone() + "5,6,7\n", ", line 30003: 3 fields, where 2 are expected"),
        ("type", good.clone() + "x,6\n", ", line 30003: 'x' is no BIGINT, which column \"a\" was found to be"),
        ("quote", good.clone() + "5,\"6\n", "a text in quotes does not end before the file does"),
    ] {
        let good = file(folder.path(), &format!("{name}/a.csv"), &good);
        let bad = file(folder.path(), &format!("{name}/b.csv"), bad);
        for from in [format!("{root}/{name}/*.csv"), format!("{root}/{name}")] {
            // `a` is asked for, since a count reads no types.
            let error = db.error(&format!("SELECT sum(length(a::text)) FROM '{from}'"));
            let said = error.contains(&format!("'{bad}'")) && error.contains(says);
            assert!(said && !error.contains(&good) && !is_of_a_program(&error), "{from}: {error}");
        }
    }
    // In a file that is read in parts by several threads as well.
    let long = "a,b\n".to_owned() + &"1,some text that makes it long\n".repeat(900_000) + "x,y\n";
    let long = file(folder.path(), "long.csv", long);
    db.refuses(&format!("SELECT sum(a) FROM '{long}'"), &[&format!("'{long}', line 900002: 'x' is no BIGINT")]);
    for (name, bad, says) in [
        ("short", "a,b\nx,2\n", "' has a column \"a\" of VARCHAR, which is BIGINT in '"),
        ("kinds", "{\"a\":1}\n{\"a\":{\"b\":2}}\n", "', line 2: \"a\" is an object, and a number in line 1"),
        ("cut", "{\"a\":1}\n{\"a\":2}\n{\"a\":", "', line 3, column 5: no JSON: EOF while parsing a value"),
        ("other", "{\"a\":{\"b\":2}}\n", "' has a column \"a\" of STRUCT(b BIGINT), which is BIGINT in '"),
        ("number", "{\"a\":1}\n\n7\n", "', line 3: a number stands where a row has to be an object"),
    ] {
        let (good, ending) = if name == "short" { ("a,b\n1,2\n", "csv") } else { ("{\"a\":1}\n", "json") };
        file(folder.path(), &format!("{name}/a.{ending}"), good);
        let bad = file(folder.path(), &format!("{name}/b.{ending}"), bad);
        let error = db.error(&format!("SELECT * FROM '{root}/{name}/*.{ending}'"));
        assert!(error.contains(&format!("{bad}{says}")) && !is_of_a_program(&error), "{error}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    let long = (0..400_000).map(|i| format!("{{\"a\":1,\"b\":\"row {i}\"}}\n")).collect::<String>();
    for (name, content, sum) in [
        ("lines.json", "{\"a\":1}\n{\"a\":2}\n", "3"),
        ("array.json", " [{\"a\":1}, {\"a\":4}]", "5"),
        ("long.json", &long, "400000"),
    ] {
        let path = file(folder.path(), name, format!("\u{feff}{content}"));
        assert_eq!(db.value(&format!("SELECT sum(a) FROM '{path}'")), sum, "{name}");
    }
}

#[test]
fn a_file_has_so_many_columns_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    let header = |columns: usize| (0..columns).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
    let path = file(folder.path(), "wide.csv", header(1_000_000) + "\n");
    let begun = Instant::now();
    db.refuses(&format!("SELECT count(*) FROM '{path}'"), &[&path, "line 1: more than 16,384 columns", "delim"]);
    let keys = (0..60_000).map(|i| format!("\"k{i}\":1")).collect::<Vec<_>>().join(",");
    let path = file(folder.path(), "wide.json", format!("{{{keys}}}\n"));
    db.refuses(&format!("SELECT count(*) FROM '{path}'"), &[&path, "has 60000 keys, more than the 16,384 columns"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::new();
    db.refuses("SELECT * FROM read_csv('/dev/zero')", &["'/dev/zero' is a device, not a file"]);
    let pipe = folder.path().join("rows.csv").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    db.refuses(&format!("SELECT * FROM '{pipe}'"), &[&pipe, "is a pipe", "write it to a file first"]);
}
