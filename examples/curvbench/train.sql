-- Trains what is missing of :model in :task on :dataset, for tables.sql: the search with one seed, then its choice with five.

CREATE OR REPLACE VIEW curvbench_missing AS
SELECT j.*, CASE WHEN j.task = 'link_prediction' OR j.scheme <> 'public' THEN j.scheme END AS split_scheme,
       CASE WHEN j.scheme = 'public' AND j.dataset IN ('Cornell', 'Actor') THEN j.seed END AS split
FROM curvbench_search j LEFT ANTI JOIN curvbench_results r
ON r.task = j.task AND r.dataset = j.dataset AND r.scheme = j.scheme AND r.model = j.model
   AND r.configuration = j.configuration AND r.seed = j.seed
WHERE j.task = :'task' AND j.dataset = :'dataset' AND j.model = :'model';

INSERT INTO curvbench_results
SELECT task, dataset, scheme, model, configuration, seed, status, error, coalesce(val_accuracy, val_auc),
       coalesce(test_accuracy, test_auc), coalesce(test_macro_f1, test_ap), best_epoch, epochs_run, train_seconds, test_seconds
FROM train((SELECT * FROM curvbench_missing WHERE seed = 0));

INSERT INTO curvbench_results
SELECT task, dataset, scheme, model, configuration, seed, status, error, coalesce(val_accuracy, val_auc),
       coalesce(test_accuracy, test_auc), coalesce(test_macro_f1, test_ap), best_epoch, epochs_run, train_seconds, test_seconds
FROM train((SELECT m.* FROM curvbench_missing m LEFT SEMI JOIN curvbench_chosen c
            ON c.task = m.task AND c.dataset = m.dataset AND c.scheme = m.scheme AND c.model = m.model
               AND c.configuration = m.configuration));
