//! Known classes as an input beside the features of any model: nobody is asked for what he is told.

use super::equations::literal::{check_on, matrix, relu, shift, symmetric, times};
use super::typed::typed;
use super::*;

/// Models of several families, and the data that they are tried on.
fn cases() -> Vec<(Job, GraphData)> {
    let job =
        |model: &str| Job::new(model).with("hidden", 5).with("dropout", 0.3).with("seed", 3).with("label_rate", 0.5);
    let plain = ["mlp", "gcn", "gat", "graphsage", "appnp", "linkx", "fagcn", "hgcn"]
        .map(|model| (job(model), planted(300, true)));
    let of_types = ["r_gcn", "han", "shgn", "unified_gt", "h2g_former"].map(|model| (job(model), typed(300)));
    plain.into_iter().chain(of_types).collect()
}

/// The outputs of all nodes where the labels of some are others.
fn outputs(data: &GraphData, job: &Job, train: &[u32], moved: &[u32], pass: Pass) -> Vec<f32> {
    let mut data = data.clone();
    let classes = data.n_classes as u32;
    let labels = &mut data.labels;
    moved.iter().for_each(|&v| labels[v as usize] = labels[v as usize].map(|class| (class + 1) % classes));
    let mut bench = Bench::new(&data, &job.resolve().unwrap(), train);
    let all: Vec<u32> = (0..data.graph.n_nodes() as u32).collect();
    let mut reservation = Reservation::new(&Unmonitored, 0).unwrap();
    let scope = bench.model.scope(&all, true, true, &mut reservation).unwrap();
    let values = parameters(&bench);
    bench.model.forward(&scope, &values, pass, &Unmonitored).unwrap();
    bench.model.outputs().to_vec()
}

#[test]
fn a_class_that_is_asked_for_is_nobodys_input() {
    for (job, data) in cases() {
        let parts = split(&data);
        let bench = Bench::new(&data, &job.resolve().unwrap(), &parts.train);
        let pass = Pass::Train { epoch: 1 };
        let given = bench.model.label_inputs(pass);
        let mut both = [&given, bench.asked.rows()].concat();
        both.sort_unstable();
        assert_eq!(both, parts.train, "{}: every training node is given or asked for", job.model);
        // A binomial share: four deviations.
        let (n, got) = (parts.train.len() as f64, given.len() as f64);
        assert!((got - 0.5 * n).abs() < 4.0 * (0.25 * n).sqrt(), "{}: {got} of {n}", job.model);
        let of = |moved: &[u32], pass| outputs(&data, &job, &parts.train, moved, pass);
        let before = of(&[], pass);
        assert!(before == of(bench.asked.rows(), pass), "{}: asked for and told", job.model);
        assert!(before != of(&given[..1], pass), "{}: told nothing", job.model);
        // Without training every training class is an input, and no other.
        let others = [&parts.val[..], &parts.test].concat();
        let before = of(&[], Pass::Evaluate);
        assert!(before == of(&others, Pass::Evaluate), "{}: classes of other parts", job.model);
        assert!(before != of(&parts.train[..1], Pass::Evaluate), "{}", job.model);
    }
}

#[test]
fn classes_are_further_columns_of_the_features() {
    let job = Job::new("gcn").with("hidden", 5).with("seed", 3).with("label_rate", 0.5);
    let all: Vec<u32> = (0..50).collect();
    check_on(&job, planted(50, true), &all, |case| {
        let graph = case.data.graph();
        let one = |i: usize, j: usize| i == j || graph.has_edge(i as u32, j as u32);
        let p = symmetric(&matrix(50, 50, |i, j| f64::from(u8::from(one(i, j)))));
        let train = split(&case.data).train;
        let known = |v: usize| case.data.labels()[v].filter(|_| train.contains(&(v as u32)));
        let y = matrix(50, 3, |v, class| f64::from(u8::from(known(v) == Some(class as u32))));
        let of_classes = times(&y, case.parameter("0.labels"));
        let of_features = times(&case.x, case.parameter("0.weight"));
        let z = matrix(50, 5, |i, c| of_features[i][c] + of_classes[i][c]);
        let h = relu(&shift(&times(&p, &z), case.parameter("0.bias")));
        let z = times(&p, &times(&h, case.parameter("1.weight")));
        shift(&z, case.parameter("1.bias"))
    });
}

/// The test accuracy of a run on features that say nothing.
fn accuracy(mut data: GraphData, model: &str, rate: f64) -> f64 {
    let n = data.graph.n_nodes();
    data.features = Arc::new(Features::dense(4, vec![1.0; n * 4]).unwrap());
    let job = Job::new(model).with("hidden", 8).with("epochs", 60).with("lr", 0.01).with("label_rate", rate);
    let parts = split(&data);
    let outcome = train_nodes(&data, &parts, &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap();
    outcome.test.accuracy.unwrap()
}

#[test]
fn given_classes_teach_what_is_there_and_nothing_where_nothing_is() {
    for model in ["gcn", "hgt"] {
        let (without, with) = (accuracy(planted(900, true), model, 0.0), accuracy(planted(900, true), model, 0.5));
        assert!(with > 0.55 && with > without + 0.2, "{model}: {with} with labels, {without} without");
        // Labels that hang on nothing: a third, within four deviations of a part of 154.
        let mut shuffled = planted(900, true);
        let mut labels: Vec<u32> = shuffled.labels.iter().flatten().copied().collect();
        Stream::new(5).shuffle(&mut labels);
        let mut labels = labels.into_iter();
        shuffled.labels.iter_mut().filter(|label| label.is_some()).for_each(|label| *label = labels.next());
        let chance = accuracy(shuffled, model, 0.5);
        assert!((chance - 1.0 / 3.0).abs() < 0.16, "{model}: {chance}");
    }
}

#[test]
fn a_model_without_a_place_for_classes_says_so() {
    let error = |model: &str, task: &str| {
        let job = Job::new(model).with("task", task).with("label_rate", 0.3);
        job.resolve().unwrap_err().to_string()
    };
    for model in ["nagphormer", "polyformer"] {
        assert!(error(model, "node_classification").contains("reads tokens that are made once before training"));
    }
    assert!(error("label_propagation", "node_classification").contains("reads all known classes"));
    assert!(error("gcn", "link_prediction").contains("does not read"));
    assert!(error("sccn", "graph_regression").contains("no hyperparameter `label_rate`"));
    let range = Job::new("gcn").with("label_rate", 1.0).resolve().unwrap_err().to_string();
    assert!(range.contains("[0, 1)"), "{range}");
}
