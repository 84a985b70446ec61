//! Models of typed graphs beside PyTorch Geometric's layers: `benches/peers/typed_pyg.py`.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::GraphTypes;
use crate::tests::*;

/// A typed graph, and what RGCNConv, HeteroConv of SAGEConv and of GATConv, HGTConv and HANConv make of it, in `f64`
/// (torch 2.0.1, torch_geometric 2.5.3).
#[derive(serde::Deserialize)]
struct Fixture {
    types: Vec<String>,
    of: Vec<u32>,
    edge_names: Vec<String>,
    edges: Vec<(u32, u32, u32)>,
    features: Vec<Vec<f32>>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    model: String,
    options: BTreeMap<String, Json>,
    parameters: BTreeMap<String, Vec<Vec<f32>>>,
    outputs: Vec<Vec<f64>>,
}

#[test]
fn outputs_are_those_of_the_layers_of_pytorch_geometric() {
    let fixture: Fixture = serde_json::from_str(include_str!("../../../tests/typed_pyg.json")).unwrap();
    let n = fixture.of.len();
    let features = Features::dense(fixture.features[0].len(), fixture.features.concat()).unwrap();
    let ends: Vec<(u32, u32)> = fixture.edges.iter().map(|edge| (edge.0, edge.1)).collect();
    let types = GraphTypes::new(fixture.types, fixture.of, &fixture.edge_names, fixture.edges, true).unwrap();
    let labels = (0..n as u32).map(|v| Some(v % 3)).collect();
    let data = GraphData::new(Graph::from_edges(n, &ends), features, labels, 3).unwrap().with_types(types).unwrap();
    let all: Vec<u32> = (0..n as u32).collect();
    assert_eq!(fixture.cases.len(), 8);
    for case in fixture.cases {
        let mut job = Job::new(&case.model);
        for (name, value) in &case.options {
            match value {
                Json::String(text) => job.set(name, text.as_str()),
                number => job.set(name, number.as_i64().unwrap()),
            }
        }
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &all);
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
        let largest = case.outputs.iter().flatten().fold(1f64, |most, x| most.max(x.abs()));
        for (found, expected) in bench.model.outputs().chunks_exact(padded(3)).zip(&case.outputs) {
            for (found, expected) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected).abs();
                assert!(error < 1e-5 * largest, "{}: {found} for {expected}", case.model);
            }
        }
    }
}
