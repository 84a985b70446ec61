-- Three graphs of 400 nodes a cell, nine models.

\default replicates 3
\default epochs 100
\default models mlp,gcn,graphsage,gat,gprgnn,hgcn,hgnn,hybonet,qgcn
\default nodes 400
\ir geometries.sql
