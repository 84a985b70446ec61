//! The SQL of the documents prints what stands under it. With `BONNET_BLESS=1` the blocks are written anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The documents, and the folders with whose files each is tried.
const DOCUMENTS: [(&str, &[&str]); 6] = [
    ("README.md", &["examples/start", "examples/shop"]),
    ("docs/start.md", &["examples/start"]),
    ("docs/tour.md", &["examples/tour"]),
    ("docs/pictures.md", &["examples/tour"]),
    ("docs/own_database.md", &["examples/shop"]),
    ("docs/papers.md", &["examples/tour"]),
];

/// What stands between the answers of two blocks.
const MARK: &str = "--end-of-a-block--";

/// A fenced block: its language, and the lines of its text in the document.
struct Block {
    language: String,
    lines: std::ops::Range<usize>,
}

fn blocks(document: &[String]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (number, line) in document.iter().enumerate() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        match open.take() {
            Some((language, first)) => blocks.push(Block { language, lines: first..number }),
            None => open = Some((fence.to_owned(), number + 1)),
        }
    }
    blocks
}

/// What the command writes on standard output for each of these scripts, one after the other in one session.
fn run(arguments: &[&str], folder: &Path, scripts: &[String]) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bonnet"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let script = scripts.join(&format!("\n\\echo {MARK}\n"));
    // Written from a thread: the command answers while it reads.
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let ran = child.wait_with_output().expect("the command ends");
    let _ = writer.join().expect("the script is written");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let out = String::from_utf8(ran.stdout).expect("text");
    out.split(&format!("{MARK}\n")).map(|answer| answer.trim_matches('\n').to_owned()).collect()
}

/// Equal but for widths of columns and the last digits of numbers, which differ between processors.
fn alike(written: &str, found: &str) -> bool {
    let cells = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().filter(|line| !line.trim().is_empty() && line.contains(|c| !"-+".contains(c)));
        lines.map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
    };
    let equal = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    };
    let (written, found) = (cells(written), cells(found));
    written.len() == found.len()
        && written.iter().zip(&found).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)))
}

#[test]
fn every_block_of_the_documents_prints_what_stands_under_it() {
    let root = crate::repository();
    let bless = std::env::var_os("BONNET_BLESS").is_some();
    let mut wrong = Vec::new();
    for (name, folders) in DOCUMENTS {
        let place = tempfile::tempdir().unwrap();
        for file in folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap()) {
            let file = file.unwrap();
            fs::copy(file.path(), place.path().join(file.file_name())).unwrap();
        }
        let mut document: Vec<String> =
            fs::read_to_string(root.join(name)).unwrap().lines().map(str::to_owned).collect();
        let blocks = blocks(&document);
        // A block `sh` that ends with the command alone starts a session; the first session needs none.
        let mut sessions: Vec<(Vec<&str>, Vec<usize>)> = vec![(Vec::new(), Vec::new())];
        for (number, block) in blocks.iter().enumerate() {
            let last = document[block.lines.clone()].last().map_or("", String::as_str);
            match (block.language.as_str(), last.strip_prefix("bonnet ")) {
                ("sh", Some(arguments)) => sessions.push((arguments.split(' ').collect(), Vec::new())),
                ("sql", _) => sessions.last_mut().unwrap().1.push(number),
                _ => {}
            }
        }
        let mut changes = Vec::new();
        for (arguments, numbers) in &sessions {
            let scripts: Vec<String> =
                numbers.iter().map(|&number| document[blocks[number].lines.clone()].join("\n")).collect();
            let answers = run(arguments, place.path(), &scripts);
            assert_eq!(answers.len(), numbers.len(), "{name}");
            for (&number, found) in numbers.iter().zip(answers) {
                let under = blocks.get(number + 1).filter(|block| block.language == "text");
                let written = under.map_or(String::new(), |block| document[block.lines.clone()].join("\n"));
                if !alike(&written, &found) {
                    let line = blocks[number].lines.start;
                    wrong.push(format!("{name}, line {line} prints\n{found}\nwhere there stands\n{written}\n"));
                    changes.extend(under.map(|block| (block.lines.clone(), found)));
                }
            }
        }
        if bless {
            // From the end on, so that the numbers of the lines before stay.
            changes.sort_by_key(|(lines, _)| std::cmp::Reverse(lines.start));
            for (lines, found) in changes {
                document.splice(lines, found.lines().map(str::to_owned));
            }
            fs::write(root.join(name), document.join("\n") + "\n").unwrap();
        }
    }
    assert!(bless || wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_may_differ_in_their_last_digits_and_nothing_else() {
    assert!(alike(" a |   b\n---+----\n x | 0.1\n", " a | b \n---+-------\n x |  0.10000000000000001\n"));
    assert!(!alike(" a\n---\n 0.1\n(1 row)", " a\n---\n 0.2\n(1 row)"));
    assert!(!alike(" a\n---\n x\n", " a\n---\n x\n y\n"));
}

/// Every page of Markdown below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(self::pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

#[test]
fn links_between_the_pages_lead_somewhere() {
    let root = crate::repository();
    let mut all = pages(&root.join("docs"));
    let others = [
        "README.md",
        "CONTRIBUTING.md",
        "python/README.md",
        "analyses/README.md",
        "examples/README.md",
        "tests/README.md",
    ];
    all.extend(others.map(|name| root.join(name)));
    let (mut links, mut broken) = (0, Vec::new());
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http") && !target.contains(' ')) {
            links += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            if !path.exists() || !(heading.is_empty() || has_heading(&path, heading)) {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(links > 200, "only {links}");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Whether a page has a heading of this anchor, as GitHub makes anchors.
fn has_heading(page: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(page).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchors = headings.map(|heading| {
        let kept =
            heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
        kept.replace(' ', "-")
    });
    anchors.into_iter().any(|it| it == anchor)
}

#[test]
fn the_paths_that_contributing_names_are_there() {
    let root = crate::repository();
    let pages = ["CONTRIBUTING.md", "docs/contributing/recipes.md", "docs/contributing/house.md"];
    let text = pages.map(|page| fs::read_to_string(root.join(page)).unwrap()).join("\n");
    let folders = [
        "src/",
        "dialect/",
        "common/",
        "cli/",
        "serve/",
        "udfs/",
        "catalogs/",
        "datasets/",
        "tests/",
        "benches/",
        "docs/",
        "python/",
        "pictures/",
        "examples/",
        "analyses/",
    ];
    // Every other piece is code, if no mark is left alone in its line.
    let codes = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths: Vec<&str> = codes.filter(|code| folders.iter().any(|folder| code.starts_with(folder))).collect();
    let paths = paths.into_iter().filter(|path| !path.contains(['<', ' ', '*', '{']) && !path.ends_with(".so"));
    let (there, missing): (Vec<&str>, Vec<&str>) = paths.partition(|path| root.join(path).exists());
    assert_eq!(missing, Vec::<&str>::new());
    assert!(there.len() > 20, "only {there:?}");
}
