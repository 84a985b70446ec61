-- Do data sets of one regime agree on the leading models more than they would in other groups of the same sizes? Tests
-- three measures of agreement and appends the answers to the table `regrouped`.
--
-- Variables: task, metric and setting (empty for none). Needs stratified.sql.

INSERT INTO regrouped
SELECT :'task', :'metric', :'setting', 'spearman', * FROM regrouping_test(
    (SELECT a, b, spearman AS value FROM dataset_pairs WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'),
    (SELECT item, regime FROM strata WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'))
UNION ALL
SELECT :'task', :'metric', :'setting', 'kendall', * FROM regrouping_test(
    (SELECT a, b, kendall AS value FROM dataset_pairs WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'),
    (SELECT item, regime FROM strata WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'))
UNION ALL
SELECT :'task', :'metric', :'setting', 'jaccard', * FROM regrouping_test(
    (SELECT a, b, jaccard AS value FROM dataset_pairs WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'),
    (SELECT item, regime FROM strata WHERE task = :'task' AND metric = :'metric' AND setting = :'setting'));
