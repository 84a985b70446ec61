-- The graphs of a cell in two tables, and a schema for each replicate, under the names r0 to r9.

CREATE TABLE IF NOT EXISTS geometry_nodes (replicate BIGINT, node BIGINT, label BIGINT, features FLOAT[]);
CREATE TABLE IF NOT EXISTS geometry_edges (replicate BIGINT, src BIGINT, dst BIGINT);

CREATE SCHEMA IF NOT EXISTS r0;
CREATE OR REPLACE VIEW r0.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 0;
CREATE OR REPLACE VIEW r0.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 0;
CREATE SCHEMA IF NOT EXISTS r1;
CREATE OR REPLACE VIEW r1.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 1;
CREATE OR REPLACE VIEW r1.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 1;
CREATE SCHEMA IF NOT EXISTS r2;
CREATE OR REPLACE VIEW r2.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 2;
CREATE OR REPLACE VIEW r2.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 2;
CREATE SCHEMA IF NOT EXISTS r3;
CREATE OR REPLACE VIEW r3.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 3;
CREATE OR REPLACE VIEW r3.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 3;
CREATE SCHEMA IF NOT EXISTS r4;
CREATE OR REPLACE VIEW r4.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 4;
CREATE OR REPLACE VIEW r4.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 4;
CREATE SCHEMA IF NOT EXISTS r5;
CREATE OR REPLACE VIEW r5.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 5;
CREATE OR REPLACE VIEW r5.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 5;
CREATE SCHEMA IF NOT EXISTS r6;
CREATE OR REPLACE VIEW r6.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 6;
CREATE OR REPLACE VIEW r6.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 6;
CREATE SCHEMA IF NOT EXISTS r7;
CREATE OR REPLACE VIEW r7.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 7;
CREATE OR REPLACE VIEW r7.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 7;
CREATE SCHEMA IF NOT EXISTS r8;
CREATE OR REPLACE VIEW r8.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 8;
CREATE OR REPLACE VIEW r8.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 8;
CREATE SCHEMA IF NOT EXISTS r9;
CREATE OR REPLACE VIEW r9.nodes AS SELECT node, label, features FROM geometry_nodes WHERE replicate = 9;
CREATE OR REPLACE VIEW r9.edges AS SELECT src, dst FROM geometry_edges WHERE replicate = 9;
