//! Outputs of PyTorch Geometric 2.8.1 (float64) on a graph of five nodes, edges 0-1, 1-2, 2-3, 0-2: features
//! cos(3 i + j), and every parameter sin(k) for its number k in the order of the layout, matrices row by row (inputs x
//! outputs).

use crate::tests::*;

#[test]
fn outputs_equal_those_of_pytorch_geometric() {
    let features = (0..5).flat_map(|i| (0..3).map(move |j| f64::from(3 * i + j).cos() as f32)).collect();
    let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (0, 2)]);
    let data = GraphData::new(graph, Features::dense(3, features).unwrap(), vec![Some(0); 5], 2).unwrap();
    let expected: [(&str, [f64; 10]); 8] = [
        (
            "gcn",
            [
                -0.21721608,
                0.2103425,
                -0.21721608,
                0.2103425,
                -0.12233831,
                0.29627143,
                -0.44262852,
                0.18814661,
                0.15140648,
                0.07162305,
            ],
        ),
        (
            "graphsage",
            [
                -1.26972088,
                -0.40510285,
                1.05222302,
                -0.49546576,
                -1.37119912,
                -0.02093145,
                0.77770957,
                -0.68711698,
                -1.37957493,
                0.57260332,
            ],
        ),
        (
            "gat",
            [
                0.87948558, 0.75091913, 0.87948558, 0.75091913, 0.87819916, 0.75041297, 0.8716383, 0.74113568,
                0.81559387, 0.75810216,
            ],
        ),
        (
            "sgc",
            [
                -0.14794126,
                0.8815966,
                -0.14794126,
                0.8815966,
                -0.20156757,
                0.82602309,
                -0.3560941,
                0.61512548,
                0.44224046,
                1.36400348,
            ],
        ),
        (
            "appnp",
            [
                -0.16602661,
                0.11549703,
                -0.32289978,
                0.06581886,
                -0.24965754,
                0.12603528,
                -0.31211298,
                0.10345767,
                0.15140648,
                0.07162305,
            ],
        ),
        (
            "tag",
            [
                1.23437345,
                0.71565517,
                0.93592632,
                -0.14016983,
                0.97187482,
                0.37626054,
                0.74444534,
                -0.12094313,
                1.8807355,
                0.69625603,
            ],
        ),
        (
            "gin",
            [
                2.45911004, 2.4059573, 2.40830526, 2.21594389, 2.99326086, 3.42437314, 1.97445147, 1.83082257,
                1.62681836, 0.88198269,
            ],
        ),
        (
            "mixhop",
            [
                -1.09447636,
                -1.15182507,
                -1.3407729,
                -1.05189653,
                -1.11249093,
                -1.10449698,
                -1.00046422,
                -0.89464677,
                -1.12759889,
                -0.88842205,
            ],
        ),
    ];
    for (name, expected) in expected {
        let mut job = Job::new(name).with("hidden", 4);
        if name == "gat" {
            job = job.with("heads", 2).with("output_heads", 3);
        }
        let mut bench = Bench::new(&data, &job.resolve().unwrap(), &[0, 1, 2, 3, 4]);
        let mut parameters = vec![0f32; bench.model.layout().stored()];
        for (k, at) in bench.model.layout().blocks().iter().flat_map(|block| block.positions()).enumerate() {
            parameters[at] = (k as f64).sin() as f32;
        }
        bench.model.forward(&bench.scope, &parameters, Pass::Evaluate, &Unmonitored).unwrap();
        for (at, expected) in expected.iter().enumerate() {
            let got = f64::from(bench.model.outputs()[at / 2 * 8 + at % 2]);
            assert!((got - expected).abs() < 2e-6, "{name}, output {at}: {got} for {expected}");
        }
    }
}
