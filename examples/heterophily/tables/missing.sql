-- Trains the jobs of the view :jobs for :models on the graph :name that table_runs lacks. Features are divided by the sum of
-- their row, those of the filtered graph are as published; the linear models learn slowly, and cost little.

INSERT INTO table_runs
SELECT name, model, configuration, untuned, split, status, error, val_accuracy, test_accuracy, best_epoch, epochs_run,
       train_seconds
FROM train(
    (SELECT j.name, j.graph, j.model, j.configuration, j.untuned, j.split, j.split AS seed, j.scheme AS split_scheme, j.hidden,
            j.lr, j.weight_decay, j.dropout, j.alpha, j.epsilon, j.variant, j.structure_info, j.input_layers, j.hops, j.affinity,
            CASE WHEN j.name = 'Chameleon-filtered' THEN 'none' ELSE 'row' END AS normalize,
            CASE WHEN j.model IN ('sgc', 'mlp1') THEN 1000 ELSE 300 END AS epochs,
            CASE WHEN j.model IN ('sgc', 'mlp1') THEN 200 ELSE 50 END AS patience
     FROM :"jobs" j LEFT ANTI JOIN table_runs r
     ON r.name = j.name AND r.model = j.model AND r.configuration = j.configuration AND r.split = j.split
     WHERE j.name = :'name' AND strpos(concat(',', :'models', ','), concat(',', j.model, ',')) > 0));
