//! Models of curved spaces beside PyTorch: `benches/peers/curved_torch.py`.

use serde_json::Value as Json;

use crate::tests::*;

/// Points with all their coordinates, exponentials and logarithms between the steps, in `f64` by torch.
#[derive(serde::Deserialize)]
struct Fixture {
    edges: Vec<(u32, u32)>,
    features: Vec<Vec<f32>>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    model: String,
    options: std::collections::BTreeMap<String, Json>,
    parameters: std::collections::BTreeMap<String, Vec<Vec<f32>>>,
    outputs: Vec<Vec<f64>>,
}

#[test]
fn outputs_are_those_of_the_papers_equations_in_torch() {
    let fixture: Fixture = serde_json::from_str(include_str!("../../../tests/curved_torch.json")).unwrap();
    let n = fixture.features.len();
    let features = Features::dense(fixture.features[0].len(), fixture.features.concat()).unwrap();
    let labels = (0..n as u32).map(|v| Some(v % 3)).collect();
    let data = GraphData::new(Graph::from_edges(n, &fixture.edges), features, labels, 3).unwrap();
    let all: Vec<u32> = (0..n as u32).collect();
    assert_eq!(fixture.cases.len(), 7);
    for case in fixture.cases {
        let mut job = Job::new(&case.model);
        for (name, value) in &case.options {
            match value {
                Json::String(text) => job.set(name, text.as_str()),
                number => job.set(name, number.as_i64().unwrap()),
            }
        }
        let options = job.resolve().unwrap();
        let mut bench = Bench::new(&data, &options, &all);
        let mut values = parameters(&bench);
        let blocks = bench.model.layout().blocks().to_vec();
        assert_eq!(blocks.len(), case.parameters.len(), "{}", case.model);
        for block in blocks {
            let given = case.parameters[&block.name].concat();
            assert_eq!(block.positions().count(), given.len(), "{} {}", case.model, block.name);
            block.positions().zip(given).for_each(|(at, value)| values[at] = value);
        }
        let scope = bench.model.scope(&all, false, true, &mut Reservation::new(&Unmonitored, 0).unwrap()).unwrap();
        bench.model.forward(&scope, &values, Pass::Evaluate, &Unmonitored).unwrap();
        for (found, expected) in bench.model.outputs().chunks_exact(padded(3)).zip(&case.outputs) {
            for (found, expected) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected).abs();
                assert!(error < 1e-5 * expected.abs().max(1.0), "{}: {found} for {expected}", case.model);
            }
        }
    }
}
