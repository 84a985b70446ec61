-- The runs of runs.csv that the database has not, for tables.sql (-v results=load, called at the root of the repository). They come
-- without their times, which are of a busy machine.

INSERT INTO curvbench_results
SELECT task, dataset, scheme, model, configuration, seed, status, error::TEXT, val::DOUBLE, test::DOUBLE, second::DOUBLE, best_epoch,
       epochs_run, NULL, NULL
FROM 'examples/curvbench/results/runs.csv' AS f
LEFT ANTI JOIN curvbench_results r USING (task, dataset, scheme, model, configuration, seed);
