use super::*;
use crate::{ALWAYS, GraphTypes, ItemRows, TimedGraph, TimedItem};

#[test]
#[ignore = "measured apart"]
fn speed_of_items() {
    let mut stream = Stream::new(1);
    let kinds =
        ["circuit", "constructor", "driver", "race", "result", "standing", "cstanding", "cresult", "qualifying"];
    let mut of: Vec<u32> = Vec::new();
    let mut times: Vec<i64> = Vec::new();
    let mut edges: Vec<(u32, u32, u32)> = Vec::new();
    let mut add = |of: &mut Vec<u32>, times: &mut Vec<i64>, kind: u32, time: i64| {
        of.push(kind);
        times.push(time);
        of.len() as u32 - 1
    };
    let circuits: Vec<u32> = (0..77).map(|_| add(&mut of, &mut times, 0, ALWAYS)).collect();
    let constructors: Vec<u32> = (0..210).map(|_| add(&mut of, &mut times, 1, ALWAYS)).collect();
    let drivers: Vec<u32> = (0..850).map(|_| add(&mut of, &mut times, 2, ALWAYS)).collect();
    let mut items = Vec::new();
    let mut recent: Vec<(i64, usize)> = Vec::new();
    for r in 0..1000i64 {
        let time = r * 20;
        let race = add(&mut of, &mut times, 3, time);
        edges.push((race, circuits[stream.below(77)], 0));
        let base = (r as usize * 800) / 1000;
        for d in 0..24 {
            let driver = base + stream.below(45).min(49) % 50;
            let team = base / 5 + d / 2;
            for (kind, rel) in [(4, 1), (5, 4), (8, 6)] {
                if kind == 8 && r < 500 {
                    continue;
                }
                let row = add(&mut of, &mut times, kind, time);
                edges.push((row, race, rel));
                edges.push((row, drivers[driver.min(849)], rel + 1));
                if kind != 5 {
                    edges.push((row, constructors[team % 210], if kind == 4 { 3 } else { 8 }));
                }
            }
            recent.push((time, driver.min(849)));
        }
        for t in 0..12 {
            for (kind, rel) in [(6, 9), (7, 11)] {
                let row = add(&mut of, &mut times, kind, time);
                edges.push((row, race, rel));
                edges.push((row, constructors[(base / 5 + t) % 210], rel + 1));
            }
        }
    }
    let mut t = 365;
    while t < 20_000 {
        let mut active: Vec<usize> =
            recent.iter().filter(|(time, _)| *time > t && *time <= t + 30).map(|x| x.1).collect();
        active.sort_unstable();
        active.dedup();
        items.extend(active.iter().map(|&d| TimedItem {
            number: key(&[d as u64, t as u64]),
            node: drivers[d],
            time: t,
        }));
        t += 30;
    }
    let n = of.len();
    let names = |count: usize| (0..count).map(|i| format!("r{i}")).collect::<Vec<_>>();
    let types = GraphTypes::new(kinds.map(str::to_owned).to_vec(), of.clone(), &names(13), edges.iter().copied(), true)
        .unwrap();
    let pairs: Vec<(u32, u32)> = edges.iter().map(|e| (e.0, e.1)).collect();
    let graph = Graph::from_edges(n, &pairs);
    let blocks = (0..9u32)
        .map(|k| {
            let rows = of.iter().filter(|o| **o == k).count();
            Features::dense(8, (0..8 * rows).map(|_| stream.normal() as f32).collect()).unwrap()
        })
        .collect();
    let timed = TimedGraph::new(graph, types, blocks, true).unwrap().with_times(times, 1.0).unwrap();
    items.truncate(12_000);
    let m = items.len();
    println!("{n} nodes, {} edges, {m} items", edges.len());
    let labels = (0..m as u32).map(|i| Some(i % 2)).collect();
    let data = GraphData::new(Graph::from_edges(m, &[]), Features::None, labels, 2).unwrap();
    let data = data.with_rows(ItemRows::new(timed, items).unwrap()).unwrap();
    let train = (0..m as u32 - 600).collect();
    let split =
        Split { train, val: (m as u32 - 600..m as u32 - 300).collect(), test: (m as u32 - 300..m as u32).collect() };
    for threads in [1, 2] {
        let job = Job::new("r_graphsage")
            .with("hidden", 128)
            .with("fanout", "128,64")
            .with("batch_nodes", 512)
            .with("epochs", 1);
        let job = job.with("normalize", "standard").with("lr", 0.005).with("dropout", 0.0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let clock = std::time::Instant::now();
        let outcome = pool.install(|| {
            crate::train(
                Place::Cpu,
                Items::Nodes(&data, &split),
                None,
                &job.resolve().unwrap(),
                &Unmonitored,
                &mut |_| {},
            )
            .unwrap()
        });
        println!(
            "{threads} threads: {:?}, train {} s, test {} s, {} MB",
            clock.elapsed(),
            outcome.train_seconds,
            outcome.test_seconds,
            outcome.peak_memory >> 20
        );
    }
}
