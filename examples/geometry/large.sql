-- Ten graphs a cell of 400 and of 1,600 nodes, twelve models.

\default replicates 10
\default epochs 200
\default models mlp,gcn,graphsage,gat,gprgnn,pcnet,hgcn,hgnn,hybonet,qgcn,hat,cusp
\set nodes 400
\ir geometries.sql
\set nodes 1600
\ir geometries.sql
