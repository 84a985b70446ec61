-- Trains what is missing of :task on :dataset, for tables.sql: the search with one seed, then its choice with five.

INSERT INTO curvbench_runs
SELECT task, dataset, scheme, model, configuration, seed, status, error, coalesce(val_accuracy, val_auc),
       coalesce(test_accuracy, test_auc), best_epoch, epochs_run, train_seconds
FROM train(
    (SELECT j.*, CASE WHEN j.task = 'link_prediction' OR j.scheme <> 'public' THEN j.scheme END AS split_scheme,
            CASE WHEN j.scheme = 'public' AND j.dataset IN ('Cornell', 'Actor') THEN j.seed END AS split
     FROM curvbench_search j LEFT ANTI JOIN curvbench_runs r
     ON r.task = j.task AND r.dataset = j.dataset AND r.scheme = j.scheme AND r.model = j.model
        AND r.configuration = j.configuration AND r.seed = j.seed
     WHERE j.task = :'task' AND j.dataset = :'dataset' AND j.seed = 0),
    normalize => 'row', epochs => 300, patience => 100);

INSERT INTO curvbench_runs
SELECT task, dataset, scheme, model, configuration, seed, status, error, coalesce(val_accuracy, val_auc),
       coalesce(test_accuracy, test_auc), best_epoch, epochs_run, train_seconds
FROM train(
    (SELECT j.*, CASE WHEN j.task = 'link_prediction' OR j.scheme <> 'public' THEN j.scheme END AS split_scheme,
            CASE WHEN j.scheme = 'public' AND j.dataset IN ('Cornell', 'Actor') THEN j.seed END AS split
     FROM curvbench_search j
     LEFT SEMI JOIN curvbench_chosen c
     ON c.task = j.task AND c.dataset = j.dataset AND c.scheme = j.scheme AND c.model = j.model
        AND c.configuration = j.configuration
     LEFT ANTI JOIN curvbench_runs r
     ON r.task = j.task AND r.dataset = j.dataset AND r.scheme = j.scheme AND r.model = j.model
        AND r.configuration = j.configuration AND r.seed = j.seed
     WHERE j.task = :'task' AND j.dataset = :'dataset'),
    normalize => 'row', epochs => 300, patience => 100);
