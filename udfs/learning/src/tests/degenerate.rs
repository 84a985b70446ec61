use super::*;
use crate::{Status, TrainError};

fn trained(data: &GraphData, split: &Split, job: &Job) -> crate::Outcome {
    let job = job.clone().with("epochs", 4);
    train_nodes(data, split, &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap()
}

fn small(n: usize, edges: &[(u32, u32)]) -> GraphData {
    let features = Features::dense(2, (0..2 * n).map(|i| i as f32).collect()).unwrap();
    let labels = (0..n).map(|v| Some(v as u32 % 2)).collect();
    GraphData::new(Graph::from_edges(n, edges), features, labels, 2).unwrap()
}

#[test]
fn one_node_no_edges_and_loops_alone_train() {
    for job in jobs() {
        let one = small(1, &[]);
        let outcome = trained(&one, &Split::given(&one, &[0], &[], &[]).unwrap(), &job);
        // Without validation nodes the last epoch is selected.
        assert_eq!((outcome.best_epoch, outcome.val.accuracy, outcome.test.accuracy), (4, None, None));

        let edgeless = small(6, &[]);
        let parts = Split::given(&edgeless, &[0, 1], &[2, 3], &[4, 5]).unwrap();
        let outcome = trained(&edgeless, &parts, &job);
        assert!(outcome.logits.values.iter().all(|z| z.is_finite()));
        let loops = small(6, &[(0, 0), (3, 3)]);
        assert_eq!(trained(&loops, &parts, &job).logits, outcome.logits, "{}: loops are dropped", job.model);
    }
}

#[test]
fn a_class_without_training_node_is_scored_all_the_same() {
    let mut data = planted(120, true);
    data.n_classes = 9;
    let mut parts = split(&data);
    parts.train.retain(|&v| data.labels[v as usize] != Some(1));
    for job in jobs() {
        let outcome = trained(&data, &parts, &job);
        assert!(outcome.test.accuracy.is_some_and(|accuracy| (0.0..=1.0).contains(&accuracy)), "{}", job.model);
        assert_eq!(outcome.logits.columns, 9);
        // Classes that nobody has leave the area undefined.
        assert_eq!(outcome.test.auc, None);
    }
}

#[test]
fn nothing_to_train_on_is_an_error() {
    let mut data = planted(50, true);
    let options = Job::new("gcn").resolve().unwrap();
    let error =
        |data: &GraphData, split: &Split| train_nodes(data, split, &options, &Unmonitored, &mut |_| {}).unwrap_err();
    let parts = split(&data);
    data.labels.fill(None);
    assert_eq!(error(&data, &split(&data)), TrainError::NoTrainingNodes);
    assert!(matches!(error(&data, &parts), TrainError::NotLabelled(_)));
    let empty = GraphData::new(Graph::from_edges(0, &[]), Features::None, vec![], 0).unwrap();
    assert_eq!(error(&empty, &split(&empty)), TrainError::NoTrainingNodes);
    let beyond = Split { train: vec![0], val: vec![99], test: vec![] };
    assert_eq!(error(&planted(50, true), &beyond), TrainError::NotLabelled(99));
}

#[test]
fn missing_features_are_an_error_that_names_the_stand_ins() {
    let mut data = planted(50, true);
    data.features = Arc::new(Features::None);
    let given = Job::new("gcn").with("features", "given").resolve().unwrap();
    let error = train_nodes(&data, &split(&data), &given, &Unmonitored, &mut |_| {}).unwrap_err();
    assert_eq!(error.status(), Some(Status::Error));
    for stand_in in ["identity", "degree", "random:k"] {
        assert!(error.to_string().contains(stand_in), "{error}");
    }
}

#[test]
fn without_features_and_without_the_option_a_run_is_that_of_the_stand_in() {
    let mut data = planted(50, true);
    let of = |data: &GraphData, job: Job| trained(data, &split(data), &job).logits;
    assert_eq!(of(&data, Job::new("gcn")), of(&data, Job::new("gcn").with("features", "given")));
    data.features = Arc::new(Features::None);
    assert_eq!(of(&data, Job::new("gcn")), of(&data, Job::new("gcn").with("features", "identity")));
}

#[test]
fn a_figure_of_two_classes_cannot_select_among_three() {
    let data = planted(50, true);
    let job = Job::new("gcn").with("select_by", "val_ap");
    let error = train_nodes(&data, &split(&data), &job.resolve().unwrap(), &Unmonitored, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("val_macro_f1"), "{error}");
}

#[test]
fn two_classes_have_every_figure() {
    let data = small(40, &(0..39).map(|v| (v, v + 1)).collect::<Vec<_>>());
    for select_by in ["val_f1", "val_ap", "val_auc", "val_macro_f1"] {
        let job = Job::new("mlp").with("select_by", select_by);
        let test = trained(&data, &split(&data), &job).test;
        assert!(test.f1.is_some() && test.auc.is_some() && test.ap.is_some() && test.mae.is_none());
    }
}

#[test]
fn features_without_columns_leave_the_bias() {
    let rows = SparseRows::new(0, vec![0; 51], vec![], vec![]).unwrap();
    let mut data = planted(50, true);
    data.features = Arc::new(Features::Sparse(rows));
    for job in jobs() {
        assert!(trained(&data, &split(&data), &job).logits.values.iter().all(|z| z.is_finite()), "{}", job.model);
    }
}
