-- What the text copy of the paper (Ballester et al., MANTRA, ICLR 2025) has of Tables 2 and 7 to 11, for report.sql: deviations, in
-- percent but for Table 7. The means of the tables are not in it. Nor are the names of the data sets and of some columns: the set
-- without DECT is the subdivided one, the set with a fourth Betti number has the 3-manifolds, and all surfaces are taken to stand
-- before those with a name. Of the three features of a row the copy has the two that a model on complexes has, without their place.

CREATE OR REPLACE VIEW mantra_paper AS
SELECT graph, label, figure, model, features, deviation
FROM flatten((SELECT * FROM (VALUES
    ('surfaces', 'beta_0', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 50,0, 0,0, 4,18, 0,6, 0,0, 38,7]),
    ('surfaces', 'beta_1', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 7,0, 1,2, 5,6, 4,4, 1,2, 13,3]),
    ('surfaces', 'beta_1', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 1,1,0, 0,1,1, 0,0,0, 35,1, 0,0, 10,11, 0,5, 2,1, 26,10]),
    ('surfaces', 'beta_2', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 6,2, 0,1, 21,1, 0,1, 19,4, 17,7]),
    ('surfaces', 'beta_2', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 44,0, 0,0, 14,8, 0,4, 37,12, 36,8]),
    ('surfaces', 'orientable', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 7,0, 0,0, 3,2, 1,1, 9,2, 4,1]),
    ('surfaces', 'orientable', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 26,0, 0,0, 0,1, 0,0, 11,1, 2,1]),
    ('surfaces', 'type', 'auroc', [0,0,1, 0,0,1, 0,0,1, 0,0,1, 0,0,1, 0,0,0, 11,1, 1,15, 10,16, 8,3, 10,2, 12,4]),
    ('surfaces', 'type', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 34,1, 0,1, 36,26, 35,30, 0,7, 41,9]),
    ('3-manifolds', 'beta_0', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 0,12, 0,0, 0,0, 6,8]),
    ('3-manifolds', 'beta_1', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 9,1, 0,0, 11,5, 4,0]),
    ('3-manifolds', 'beta_1', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 13,11, 0,0, 14,5, 19,1]),
    ('3-manifolds', 'beta_2', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 5,0, 0,0, 4,1, 4,0]),
    ('3-manifolds', 'beta_2', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 22,10, 0,0, 8,12, 16,0]),
    ('3-manifolds', 'beta_3', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 4,1, 0,0, 5,2, 7,2]),
    ('3-manifolds', 'beta_3', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 1,7, 0,0, 0,0, 31,8]),
    ('3-manifolds', 'orientable', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 4,0, 0,0, 0,0, 0,0, 0,0, 0,0]),
    ('3-manifolds', 'orientable', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0, 0,0, 0,0, 0,0, 0,0, 0,0]),
    ('named surfaces', 'beta_0', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 9,0, 0,0, 6,16, 0,3, 0,0, 2,3]),
    ('named surfaces', 'beta_1', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 1,1, 1,0, 1,2, 1,1, 5,3, 0,0]),
    ('named surfaces', 'beta_1', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 24,1, 6,0, 5,11, 3,3, 10,8, 1,3]),
    ('named surfaces', 'beta_2', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 4,2, 3,0, 4,2, 1,2, 3,2, 2,1]),
    ('named surfaces', 'beta_2', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 31,1, 17,1, 9,6, 1,1, 29,8, 35,3]),
    ('named surfaces', 'orientable', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 1,1, 3,0, 2,2, 1,1, 1,1, 2,1]),
    ('named surfaces', 'orientable', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 2,1, 2,0, 8,3, 0,2, 23,10, 23,1]),
    ('named surfaces', 'type', 'auroc', [0,0,0, 0,1,2, 0,0,1, 0,0,1, 0,0,1, 0,0,1, 14,0, 1,2, 10,10, 0,5, 10,2, 11,6]),
    ('named surfaces', 'type', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 3,0, 0,0, 3,3, 0,3, 12,1, 14,3]),
    ('subdivided surfaces', 'beta_0', 'accuracy', [0,50,0, 0,46,0, 49,0,0, 0,0,1, 0,1,1, NULL,NULL,NULL, 0,0, 0,0, 0,1, 15,3, 0,0, 0,1]),
    ('subdivided surfaces', 'beta_1', 'auroc', [0,0,0, 0,0,0, 1,0,0, 0,0,0, 0,0,0, NULL,NULL,NULL, 3,0, 2,0, 1,1, 1,1, 3,2, 0,0]),
    ('subdivided surfaces', 'beta_1', 'accuracy', [0,16,0, 0,15,0, 14,0,0, 0,0,1, 0,0,1, NULL,NULL,NULL, 6,2, 0,0, 0,6, 12,1, 11,9, 9,5]),
    ('subdivided surfaces', 'beta_2', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, NULL,NULL,NULL, 1,1, 0,0, 0,1, 2,1, 1,1, 2,1]),
    ('subdivided surfaces', 'beta_2', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0, NULL,NULL,NULL, 21,0, 18,0, 31,31, 13,10, 32,33, 39,16]),
    ('subdivided surfaces', 'orientable', 'auroc', [0,0,0, 0,0,0, 0,0,0, 0,1,0, 1,0,0, NULL,NULL,NULL, 1,0, 0,0, 0,1, 0,1, 0,1, 0,0]),
    ('subdivided surfaces', 'orientable', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 15,10,0, 15,0,0, NULL,NULL,NULL, 19,0, 0,0, 22,18, 0,2, 22,17, 22,4]),
    ('subdivided surfaces', 'type', 'auroc', [3,2,1, 4,4,1, 4,6,1, 4,3,1, 3,3,1, NULL,NULL,NULL, 6,2, 13,1, 2,4, 4,4, 1,1, 7,4]),
    ('subdivided surfaces', 'type', 'accuracy', [0,0,0, 0,0,0, 0,0,0, 9,15,0, 13,0,0, NULL,NULL,NULL, 17,1, 20,0, 18,0, 0,0, 0,0, 18,3])
    ) AS t(graph, label, figure, deviation)), deviation)
JOIN (VALUES
    (1, 'gat', 'degree_number'), (2, 'gat', 'one_hot_degree:9'), (3, 'gat', 'random:8'),
    (4, 'gcn', 'degree_number'), (5, 'gcn', 'one_hot_degree:9'), (6, 'gcn', 'random:8'),
    (7, 'mlp', 'degree_number'), (8, 'mlp', 'one_hot_degree:9'), (9, 'mlp', 'random:8'),
    (10, 'tag', 'degree_number'), (11, 'tag', 'one_hot_degree:9'), (12, 'tag', 'random:8'),
    (13, 'unimp', 'degree_number'), (14, 'unimp', 'one_hot_degree:9'), (15, 'unimp', 'random:8'),
    (16, 'dect', 'degree_number'), (17, 'dect', 'one_hot_degree:9'), (18, 'dect', 'random:8'),
    (19, 'cellmp', 'connectivity'), (20, 'cellmp', 'random:8'), (21, 'ct', 'connectivity'), (22, 'ct', 'random:8'),
    (23, 'san', 'connectivity'), (24, 'san', 'random:8'), (25, 'sccn', 'connectivity'), (26, 'sccn', 'random:8'),
    (27, 'sccnn', 'connectivity'), (28, 'sccnn', 'random:8'), (29, 'scn', 'connectivity'), (30, 'scn', 'random:8')
    ) AS c(position, model, features) USING (position)
WHERE deviation IS NOT NULL;

-- Table 2: deviations of the best runs over a family's models and features.
CREATE OR REPLACE VIEW mantra_paper_families AS
SELECT * FROM (VALUES
    ('surfaces', 'graphs', 0, 0, 0, NULL, 1, 0),
    ('surfaces', 'complexes', 39, 16, 10, NULL, 18, 7),
    ('named surfaces', 'graphs', 0, 0, 0, NULL, 1, 0),
    ('named surfaces', 'complexes', 44, 3, 2, NULL, 13, 2),
    ('subdivided surfaces', 'graphs', 51, 0, 0, NULL, 4, 0),
    ('subdivided surfaces', 'complexes', 38, 2, 1, NULL, 10, 1),
    ('3-manifolds', 'graphs', 0, 0, 0, 0, NULL, 0),
    ('3-manifolds', 'complexes', 41, 4, 3, 3, NULL, 2)
    ) AS p(graph, family, beta_0, beta_1, beta_2, beta_3, type, orientable);

-- Table 7, steps a second.
CREATE OR REPLACE VIEW mantra_paper_speed AS
SELECT * FROM (VALUES
    ('mlp', 4.54, 13.22, 8.36), ('gat', 4.02, 10.6, 6.52), ('unimp', 3.79, 10.72, 6.8), ('tag', 3.53, 10.66, 6.55),
    ('gcn', 3.79, 11.43, 7.59), ('san', 0.97, 2.93, 0.31), ('scn', 2.63, 6.99, 0.64), ('sccn', 3.06, 7.9, 0.53),
    ('sccnn', 1.93, 5.79, 0.53), ('cellmp', 2.38, 2.43, 0.19), ('ct', 2.19, 2.77, 0.28), ('dect', 3.63, 3.65, 8.03)
    ) AS p(model, paper, named_paper, manifold_paper);

-- The means that Sec. 3.3 states.
CREATE OR REPLACE VIEW mantra_printed AS
SELECT * FROM (VALUES ('surfaces', 'ct', 'type', 91.0), ('surfaces', 'sccn', 'type', 83.0), ('named surfaces', 'ct', 'type', 85.0),
    ('named surfaces', 'sccn', 'type', 80.0), ('surfaces', 'ct', 'beta_1', 93.0), ('surfaces', 'sccn', 'beta_1', 93.0))
    AS p(graph, model, label, paper);
