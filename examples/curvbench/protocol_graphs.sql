-- What protocols.sql and link_protocols.sql begin with: what they train by default, and the graphs of the paper that are at hand.

\format markdown
\default models .*
\default datasets .*
\default seeds 5
\set planetoid :data /planetoid
\set heterophilous :data /heterophilous-graphs
\set disease_nc :data /hgcn/disease_nc
ATTACH IF NOT EXISTS :'planetoid' AS planetoid;
ATTACH IF NOT EXISTS :'heterophilous' AS heterophilous (features 'sparse');
ATTACH IF NOT EXISTS :'disease_nc' AS disease_nc;
