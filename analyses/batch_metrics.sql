-- AUROC and accuracy as means over batches, where classes that a batch lacks count 0: the figures of MANTRA's program, which evaluates a batch of
-- 128 after the other and averages. They depend on the order of the items; beside them stand the figures of all items at once.
--
-- Variables: scores, anything that may stand in FROM: run, item (its place in the order of evaluation), label (the item's class), class and score, a row
-- for each class of each item; and batch, the items of a batch (128). For figures of *rounded* predictions the score is 1 for the class that is
-- predicted and 0 for the others: of a Betti number the rounded value, of orientability the rounded probability. Running this prints nothing.

\default batch 128

CREATE OR REPLACE TABLE batch_scores AS
SELECT CAST(run AS TEXT) AS run, item, CAST(class AS TEXT) AS class, CAST(score AS DOUBLE) AS score, CAST(label AS TEXT) = CAST(class AS TEXT) AS positive,
       CAST(floor((dense_rank() OVER (PARTITION BY run ORDER BY item) - 1) / CAST(:batch AS DOUBLE)) AS BIGINT) AS batch
FROM :scores;

CREATE OR REPLACE TABLE batch_metrics AS
WITH by_class AS (
    SELECT run, batch, class, count(*) AS items, coalesce(auc(score, CAST(positive AS INT)), 0.0) AS auroc FROM batch_scores GROUP BY run, batch, class
), by_batch AS (
    SELECT run, batch, max(items) AS items, avg(auroc) AS auroc FROM by_class GROUP BY run, batch
), batched AS (
    SELECT run, sum(items) AS items, count(*) AS batches, sum(items * auroc) / sum(items) AS batch_auroc FROM by_batch GROUP BY run
), whole AS (
    SELECT run, avg(auroc) AS auroc FROM (
        SELECT run, class, auc(score, CAST(positive AS INT)) AS auroc FROM batch_scores GROUP BY run, class)
    GROUP BY run
), chosen AS (
    SELECT run, item, positive, row_number() OVER (PARTITION BY run, item ORDER BY score DESC, class) AS place FROM batch_scores
), right_ones AS (
    SELECT run, avg(CASE WHEN positive THEN 1.0 ELSE 0.0 END) AS accuracy FROM chosen WHERE place = 1 GROUP BY run
)
SELECT b.run, b.items, b.batches, b.batch_auroc, w.auroc, r.accuracy
FROM batched AS b JOIN whole AS w USING (run) JOIN right_ones AS r USING (run);
