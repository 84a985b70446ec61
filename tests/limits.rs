//! What a statement may take: memory, and time. The command runs as a process of its own, which is measured from outside.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use bonnetdb::EngineOptions;
use tempfile::TempDir;

use super::{Db, send_ctrl_c};

/// A statement that is told to stop does so within a second; the rest is for a loaded machine and an unoptimised build.
const BOUND: Duration = Duration::from_secs(6);

/// Statements that would go on for hours, each in the work of which it is to be stopped: `{}` stands for a folder.
const ENDLESS: [(&str, &str); 13] = [
    (
        "train",
        "SELECT * FROM train((SELECT 'karate' AS graph, unnest(['gcn', 'gat', 'mlp']) AS model, 100000000 AS epochs),
             features => 'identity')",
    ),
    (
        "midpoint_curvature",
        "SELECT avg(curvature) FROM midpoint_curvature((SELECT * FROM barabasi_albert(2000000, 8)))",
    ),
    // Run by petgraph: no node of a rook's graph has three neighbours of which none are adjacent.
    (
        "subgraph_isomorphisms",
        "SELECT * FROM subgraph_isomorphisms((SELECT * FROM rook_graph(rows => 40, columns => 40)),
             (SELECT value AS src, value + 1 AS dst FROM generate_series(1, 10) UNION ALL SELECT 10, unnest([12, 13])),
             steps => 1000000000000)",
    ),
    ("enumerate_surfaces", "SELECT count(*) FROM enumerate_surfaces(12)"),
    (
        "a join",
        "SELECT count(*) FROM generate_series(1, 3000000) AS a(x) JOIN generate_series(1, 3000000) AS b(y) ON x % 7 = y % 7",
    ),
    (
        "a join that passes nothing",
        "SELECT count(*) FROM generate_series(1,1000000) a, generate_series(1,1000000) b WHERE a.value*b.value=7",
    ),
    (
        "a hash join that passes nothing",
        "SELECT count(*) FROM generate_series(1, 3000000) AS a(x) JOIN generate_series(1, 3000000) AS b(y)
             ON x % 7 = y % 7 AND x + y < 0",
    ),
    (
        "EXISTS",
        "SELECT count(*) FROM generate_series(1, 3000000) AS a(x)
             WHERE EXISTS (SELECT 1 FROM generate_series(1, 3000000) AS b(y) WHERE x % 7 = y % 7 AND x * y < 0)",
    ),
    (
        "long texts",
        "SELECT length(reverse(upper(reverse(upper(reverse(upper(reverse(upper(reverse(upper(reverse(upper(
             repeat('é', 100000000))))))))))))))",
    ),
    (
        "replace",
        "SELECT length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
             repeat('é', 100000000), 'é', 'ü'), 'ü', 'é'), 'é', 'ü'), 'ü', 'é'), 'é', 'ü'), 'ü', 'é'),
             'é', 'ü'), 'ü', 'é'), 'é', 'ü'), 'ü', 'é'), 'é', 'ü'), 'ü', 'é'))",
    ),
    ("levenshtein", "SELECT levenshtein(repeat('x', 10000000), repeat('y', 10000000))"),
    (
        "array_has_all",
        "SELECT array_has_all(a, a) FROM (SELECT range(1, value) AS a FROM generate_series(3000000, 3000001) t(value))",
    ),
    ("a scan", "SELECT sum(a.x + b.x) FROM '{}/rows.parquet' a JOIN '{}/rows.parquet' b ON a.x <> b.x"),
];

/// Those statements over a folder, and one that would be planned for minutes.
fn endless(folder: &TempDir) -> Vec<(&'static str, String)> {
    let folder = folder.path().to_str().unwrap();
    // The planner of SELECT compares each of them with all others. An argument of a command has at most 128 KiB.
    let aggregates = (0..4000).map(|key| format!("sum(v) FILTER (WHERE k={key})")).collect::<Vec<_>>();
    let planned =
        format!("SELECT {} FROM (SELECT value AS k, value AS v FROM generate_series(1, 20000))", aggregates.join(", "));
    let statements = ENDLESS.into_iter().map(|(what, sql)| (what, sql.replace("{}", folder)));
    statements.chain([("planning", planned)]).collect()
}

/// A folder with a file to be scanned.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let sql = "COPY (SELECT value AS x FROM generate_series(1, 300000)) TO '{}/rows.parquet'";
    Db::new().run(&sql.replace("{}", folder.path().to_str().unwrap()));
    folder
}

/// The command at work, and the lines that it writes.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
        command.args(["--quiet", "--format", "csv", "--threads", "2"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let both: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for output in both {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Self { child, lines }
    }
}

/// The engine's limit in the test below.
const LIMIT: u64 = 256 << 20;

/// Statements whose graphs and rows take more.
const LARGE: [&str; 9] = [
    "CREATE GRAPH big AS barabasi_albert(8000000, 8)",
    "SELECT avg(curvature) FROM midpoint_curvature((SELECT * FROM barabasi_albert(8000000, 8)))",
    "SELECT max(size) FROM connected_components((SELECT value AS src, value + 1 AS dst FROM generate_series(1, 40000000)))",
    "SELECT count(*) FROM forman_ricci((SELECT value AS src, value * 7919 % 30000001 AS dst FROM generate_series(1, 30000000)))",
    "CREATE TABLE rows AS SELECT value, value * 2 AS twice FROM generate_series(1, 40000000)",
    "SELECT count(*) FROM generate_series(1, 40000000) AS a(x) JOIN generate_series(1, 40000000) AS b(y) ON x = y + 1",
    "CREATE GRAPH big AS complete(100000)",
    "CREATE GRAPH big AS rook_graph(rows => 255, columns => 255)",
    "SELECT * FROM effective_resistance((SELECT * FROM complete(9000)))",
];

/// Statements whose rows take more, but which never hold them all, and their answers.
const FITTING: [(&str, &str); 2] = [
    ("SELECT count(*) FROM rook_graph(rows => 255, columns => 255)", "16516350"),
    (
        "SELECT count(*) FROM (SELECT repeat('k', 20) || value AS s FROM generate_series(1, 3000000) GROUP BY 1)",
        "3000000",
    ),
];

/// The limit is what a statement may hold on top of what the idle process holds; a quarter more is for what no statement
/// accounts for: plans, threads' stacks, what the allocator keeps. Each runs in a process of its own, so that nothing else
/// counts; it is this program, with the system's allocator, where the command has another.
#[test]
fn graphs_beyond_the_memory_limit_are_errors_within_it() {
    for number in 0..LARGE.len() + FITTING.len() {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["limits::measured", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env("BONNET_MEASURED", number.to_string())
            .env("MALLOC_ARENA_MAX", "2")
            .output()
            .unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
        println!("{}", said.lines().find(|line| line.contains("MiB above")).unwrap_or_default());
        assert!(child.status.success(), "{}: {said}", child.status);
    }
}

#[test]
#[ignore = "started by the test before it"]
fn measured() {
    let Ok(number) = std::env::var("BONNET_MEASURED") else { return };
    let number = number.parse::<usize>().unwrap();
    let large = LARGE.get(number);
    let (sql, answer) = large.map_or_else(|| FITTING[number - LARGE.len()], |sql| (*sql, ""));
    let options = EngineOptions { threads: Some(2), memory_limit: Some(LIMIT as usize), ..EngineOptions::default() };
    let db = Db::with(options);
    db.run("ATTACH 'builtin:karate' AS karate");
    // Its graph would stay, by intent.
    db.run("SET bonnet.graph_cache = 'off'");
    let lives = || assert_eq!(db.value("SELECT max(size) FROM connected_components(karate.edges)"), "34");
    lives();
    let idle = status("VmRSS:");
    let error = large.map(|sql| db.error(sql).to_lowercase());
    if error.is_none() {
        assert_eq!(db.value(sql), answer);
    }
    let peak = status("VmHWM:").saturating_sub(idle);
    println!("\n{} MiB above the idle {} MiB: {sql}", peak >> 20, idle >> 20);
    let about_memory = |error: &String| error.contains("memory") || error.contains("resources exhausted");
    assert!(error.as_ref().is_none_or(about_memory), "{sql}\nsays: {error:?}");
    assert!(peak <= LIMIT + LIMIT / 4, "{sql}\nholds {} MiB above the idle process", peak >> 20);
    // The session lives, and has its memory back.
    holds_nothing(&db, sql);
    lives();
}

/// Values of functions that take more than the limit, and the function that is named.
const LARGE_VALUES: [(&str, &str); 15] = [
    ("length(repeat('x', 2000000000) || repeat('y', 2000000000))", "repeat"),
    ("length(repeat('x', 1000000000))", "repeat"),
    ("cardinality(range(1, 300000000))", "range"),
    ("cardinality(generate_series(1, 300000000, 2))", "generate_series"),
    ("length(lpad('x', 500000000))", "lpad"),
    ("length(rpad('x', 500000000, 'é'))", "rpad"),
    ("cardinality(array_repeat(7, 100000000))", "array_repeat"),
    ("cardinality(array_resize([1, 2], 100000000, 3))", "array_resize"),
    ("cardinality(list_distinct(range(1, 8000000)))", "array_distinct"),
    ("cardinality(list_union(range(1, 4000000), range(1, 3000000)))", "array_union"),
    ("length(concat(repeat('x', 60000000), repeat('y', 60000000), repeat('z', 60000000)))", "concat"),
    ("length(repeat('x', 60000000) || repeat('y', 60000000) || repeat('z', 60000000))", "||"),
    ("length(concat_ws(repeat('x', 60000000), 'a', 'b', 'c', 'd'))", "concat_ws"),
    ("length(replace(repeat('x', 60000000), 'x', 'yyy'))", "replace"),
    ("sum(length(repeat('x', 1000000 + value))) FROM generate_series(1, 200)", "repeat"),
];

#[test]
fn a_long_statement_is_within_the_memory_limit() {
    let db = Db::with(EngineOptions { memory_limit: Some(LIMIT as usize), ..EngineOptions::default() });
    let long = format!("SELECT length('{}')", "x".repeat(LIMIT as usize / 8));
    db.refuses(&long, &["there is no room for a statement of", "FROM 'file.parquet'", "--memory-limit"]);
    holds_nothing(&db, "a long statement");
    assert_eq!(db.value(&format!("SELECT length('{}')", "x".repeat(2_000_000))), "2000000");
    holds_nothing(&db, "a statement that is not so long");
}

/// What statements of the command may hold beyond what the idle command does.
const MOST_BEYOND_IDLE: u64 = 300_000_000;

/// The command at the limit: rows that are shown or sorted, and a long literal, none of which it may hold many times.
#[test]
fn the_command_keeps_within_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let literal = folder.path().join("literal.sql");
    std::fs::write(&literal, format!("SELECT length('{}');\n", "x".repeat(100_000_000))).unwrap();
    let idle = peak(&["-c", "SELECT 1"]).0;
    let texts =
        "SELECT repeat('x', 100) || CAST(value * 7919 % 2000003 AS VARCHAR) AS s FROM generate_series(1, 2000000)";
    let sort = format!("SELECT max(r) AS r FROM (SELECT row_number() OVER (ORDER BY s) AS r FROM ({texts}))");
    for (arguments, said) in [
        (["-c", "SELECT value FROM generate_series(1, 5000000)"], "(5000000 rows)"),
        (["-c", &sort], "2000000"),
        (["-f", literal.to_str().unwrap()], "there is no room for a statement of 100000017 bytes"),
    ] {
        let (most, end) = peak(&arguments);
        println!("{} MB beyond the idle {} MB: {arguments:?}", most.saturating_sub(idle) / 1_000_000, idle / 1_000_000);
        assert!(end.contains(said), "{arguments:?} ends so: {end}");
        assert!(most <= idle + MOST_BEYOND_IDLE, "{arguments:?} holds {} MB", most / 1_000_000);
    }
}

/// Files of many columns, and of rows that do not end: the first took 2.7 GB of batches, the second what they unpack to.
#[test]
fn wide_files_and_long_rows_keep_within_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, parts: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, parts.concat()).unwrap();
        path.display().to_string()
    };
    let fields = |field: &dyn Fn(usize) -> String| (0..10_000).map(field).collect::<Vec<_>>().join(",");
    let (names, values) = (fields(&|i| format!("c{i}")), fields(&|i| (i % 9).to_string()));
    let csv = write("wide.csv", &[&names, "\n", &(values + "\n").repeat(1000)]);
    let object = format!("{{{}}}\n", fields(&|i| format!("\"c{i}\":{}", i % 9)));
    let json = write("wide.json", &[&object.repeat(200)]);
    let long = write("long.csv", &["a,b\n", &"1,2\n".repeat(30_000), &"1".repeat(300_000_000)]);
    let idle = peak(&["-c", "SELECT 1"]).0;
    for (sql, said) in [
        (format!("SELECT count(*) AS n FROM '{csv}'"), "1000"),
        (format!("SELECT sum(c1) AS n FROM '{csv}'"), "1000"),
        (format!("SELECT sum(c1) AS n FROM '{json}'"), "200"),
        (format!("SELECT count(*) AS n FROM '{long}'"), "long.csv', line 30002: a row of more than 32 MB"),
    ] {
        let (most, end) = peak(&["-c", &sql]);
        println!("{} MB beyond the idle {} MB: {sql}", most.saturating_sub(idle) / 1_000_000, idle / 1_000_000);
        assert!(end.contains(said), "{sql} ends so: {end}");
        assert!(most <= idle + MOST_BEYOND_IDLE, "{sql} holds {} MB", most / 1_000_000);
    }
}

/// The most memory that the command holds with these arguments, and the end of what it says.
fn peak(arguments: &[&str]) -> (u64, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
    command.args(["--memory-limit", "256MB", "--threads", "2"]).args(arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ends = [end_of(child.stdout.take().unwrap()), end_of(child.stderr.take().unwrap())];
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        most = most.max(line_of(&status, "VmHWM:").unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    (most, ends.map(|end| end.join().unwrap()).concat())
}

/// Reads on another thread, and keeps the last 2,000 bytes.
fn end_of(mut output: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let (mut end, mut part) = (Vec::new(), vec![0; 1 << 16]);
        while let Ok(read @ 1..) = output.read(&mut part) {
            end.extend_from_slice(&part[..read]);
            end.drain(..end.len().saturating_sub(2000));
        }
        String::from_utf8_lossy(&end).into_owned()
    })
}

#[test]
fn values_of_functions_are_within_the_memory_limit() {
    let db = Db::with(EngineOptions { memory_limit: Some(LIMIT as usize), ..EngineOptions::default() });
    for (expression, function) in LARGE_VALUES {
        db.refuses(&format!("SELECT {expression}"), &[&format!("{function}: no room for "), "--memory-limit"]);
        holds_nothing(&db, expression);
    }
    let few = "SELECT sum(length(repeat('x', 1000000 + value))) FROM generate_series(1, 20)";
    assert_eq!(db.value(few), "20000210");
    // Without a limit, what a column cannot hold is refused all the same.
    let db = Db::new();
    let many = "SELECT sum(length(repeat('x', 1000000 + value))) FROM generate_series(1, 2200)";
    db.refuses(many, &["repeat: 2202421100 bytes of text for 2200 rows", "datafusion.execution.batch_size"]);
    db.run("SET datafusion.execution.batch_size = 100");
    assert_eq!(db.value(many), "2202421100");
}

/// Each sort took what the other had just spilled, and the merge found nothing.
#[test]
fn a_sort_spills_before_it_fails() {
    let options = EngineOptions { threads: Some(2), memory_limit: Some(256_000_000), ..EngineOptions::default() };
    let db = Db::with(options);
    let texts =
        "SELECT repeat('x', 100) || CAST(value * 7919 % 2000003 AS VARCHAR) AS s FROM generate_series(1, 2000000)";
    let sql = format!("SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY s) AS r FROM ({texts}))");
    assert_eq!(db.value(&sql), "2000000");
    holds_nothing(&db, &sql);
}

/// Waits until what a statement held is given back: its tasks end after it has answered.
fn holds_nothing(db: &Db, what: &str) {
    let ended = Instant::now();
    while db.session.context().runtime_env().memory_pool.reserved() > 0 {
        assert!(ended.elapsed() < BOUND, "{what} still holds memory after {BOUND:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A line of this process's status, in bytes.
fn status(name: &str) -> u64 {
    line_of(&std::fs::read_to_string("/proc/self/status").unwrap(), name).unwrap()
}

fn line_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

/// The processor time that a process has used, all its threads together; `None` once it is gone.
fn processor_time(process: &str) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may have spaces; in ticks of a hundredth of a second.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11..13)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks))
}

/// What a statement may go on computing once it is told to stop. On a loaded machine the time on the clock says little.
const STOPPED: Duration = Duration::from_secs(1);

/// In a process of its own, whose processor time is that of the statement.
#[test]
fn a_timeout_ends_whatever_runs() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["limits::timeouts", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env("BONNET_MEASURED", "timeouts")
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    said.lines().filter(|line| line.contains("after its time")).for_each(|line| println!("{line}"));
    assert!(child.status.success(), "{}: {said}", child.status);
}

#[test]
#[ignore = "started by the test before it"]
fn timeouts() {
    if std::env::var("BONNET_MEASURED").as_deref() != Ok("timeouts") {
        return;
    }
    let folder = files();
    let db = Db::with_karate();
    // The graph of train would stay, by intent.
    db.run("SET bonnet.graph_cache = 'off'");
    for (what, sql) in endless(&folder) {
        db.run("SET bonnet.statement_timeout = '1500ms'");
        let start = Instant::now();
        db.refuses(&sql, &["the statement ran past bonnet.statement_timeout"]);
        let late = start.elapsed().saturating_sub(Duration::from_millis(1500));
        let before = processor_time("self").unwrap();
        holds_nothing(&db, what);
        // A thread that goes on shows in the time after the answer.
        std::thread::sleep(2 * STOPPED);
        let computed = processor_time("self").unwrap() - before;
        println!("{what} ends {late:?} after its time, and computes {computed:?} more");
        // A step of the planner is not divided: it goes on after the answer.
        assert!(computed < STOPPED || what == "planning", "{what} computes {computed:?} after its answer");
        assert!(late < BOUND, "{what} ends {late:?} after its time");
        db.run("RESET bonnet.statement_timeout");
        holds_nothing(&db, what);
    }
}

#[test]
fn ctrl_c_ends_whatever_runs() {
    let folder = files();
    for (what, sql) in endless(&folder) {
        let mut running =
            Running::start(&["-c", "ATTACH 'builtin:karate' AS karate", "-c", "\\echo started", "-c", &sql]);
        assert_eq!(running.lines.recv_timeout(BOUND * 10).as_deref(), Ok("started"));
        std::thread::sleep(Duration::from_millis(1500));
        assert!(running.child.try_wait().unwrap().is_none(), "{what} is done too early");
        let (late, computed) = interrupt(&mut running);
        println!("{what} ends {late:?} after Ctrl-C, and computes {computed:?} more");
        assert!(computed < STOPPED, "{what} computes {computed:?} after Ctrl-C");
    }
}

/// Sends Ctrl-C and gives how long the process goes on, and the processor time that it takes then.
fn interrupt(running: &mut Running) -> (Duration, Duration) {
    let process = running.child.id().to_string();
    let before = processor_time(&process).unwrap();
    let mut after = before;
    send_ctrl_c(&running.child);
    let start = Instant::now();
    loop {
        if let Some(status) = running.child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(130));
            return (start.elapsed(), after - before);
        }
        after = processor_time(&process).unwrap_or(after).max(after);
        if start.elapsed() > BOUND {
            running.child.kill().unwrap();
            panic!("the command outlives its Ctrl-C by {BOUND:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn ctrl_c_in_the_middle_of_training_keeps_the_finished_runs() {
    let folder = tempfile::tempdir().unwrap();
    let lab = folder.path().join("lab.bonnet");
    let open = || Db::with(EngineOptions { threads: Some(1), database: Some(lab.clone()), ..EngineOptions::default() });
    open().run("CREATE TABLE results (seed BIGINT, status TEXT)");
    let sql =
        "INSERT INTO results SELECT seed, status FROM train((SELECT 'karate' AS graph, 'gcn' AS model, value AS seed
                   FROM generate_series(0, 5000)), epochs => 20, features => 'identity')";
    let mut running = Running::start(&[lab.to_str().unwrap(), "-c", "ATTACH 'builtin:karate' AS karate", "-c", sql]);
    let (start, db) = (Instant::now(), open());
    let count = || db.value("SELECT count(*) FROM results").parse::<u64>().unwrap();
    while count() < 3 {
        assert!(start.elapsed() < BOUND * 10 && running.child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    interrupt(&mut running);
    let kept = count();
    let said: Vec<String> = running.lines.iter().collect();
    let expected = format!("the {kept} runs that were finished before are kept in results");
    assert!(said.iter().any(|line| line.contains(&expected)), "{kept} rows are there; said: {said:?}");
    assert_eq!(db.rows("SELECT min(status), count(DISTINCT seed) = count(*) FROM results"), [["ok", "true"]]);
    // The same statement with an anti-join goes on.
    let more =
        "SELECT j.* FROM (SELECT 'karate' AS graph, 'gcn' AS model, value AS seed FROM generate_series(0, 9)) AS j
                    LEFT ANTI JOIN results r ON j.seed = r.seed";
    db.run(&format!(
        "INSERT INTO results SELECT seed, status FROM train(({more}), epochs => 2, features => 'identity')"
    ));
    assert_eq!(db.value("SELECT count(DISTINCT seed) FROM results WHERE seed < 10"), "10");
}

/// A graph that is larger than memory goes through temporary files, which have no names: a kill leaves nothing of them.
#[test]
fn a_kill_leaves_no_rows_of_a_graph_that_is_larger_than_memory() {
    let query = "SELECT count(*) FROM connected_components((SELECT src, dst FROM kronecker_edges(22)))";
    leaves_no_file(query, |child| child.kill().unwrap());
}

/// The files of a sort have names.
#[test]
fn ctrl_c_leaves_no_rows_of_a_sort_that_is_larger_than_memory() {
    let query = "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY src, dst) AS r FROM kronecker_edges(22))";
    leaves_no_file(query, |child| send_ctrl_c(child));
}

/// Ends a command that has written temporary files for half a second.
fn leaves_no_file(query: &str, end: impl Fn(&mut Child)) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bonnet"));
    command.args(["--memory-limit", "64MB", "-c", query]).env("TMPDIR", folder.path()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    // DataFusion makes a folder when it is first asked for a file.
    let names = |folder: &std::path::Path| -> Vec<std::path::PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect()
    };
    let start = Instant::now();
    let folders = loop {
        let found = names(folder.path());
        if !found.is_empty() {
            break found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no folder of temporary files");
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        std::thread::sleep(Duration::from_millis(10));
    };
    // Long after the file has its first edges, and long before the last.
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it ended before");
    end(&mut child);
    child.wait().unwrap();
    assert!(folders.iter().all(|folder| !folder.exists() || names(folder).is_empty()), "{folders:?}");
}
