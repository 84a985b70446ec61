//! The page of models.

use std::fmt::Write;

use bonnet_learning::{DATA_OPTIONS, Domain, Form, ModelSpec, OptionSpec, RUN_OPTIONS, SHARED_OPTIONS};

use super::{cell, prose};

/// The least number of models that have an option alike, for it to be described once and named at each of them.
const SEVERAL: usize = 3;

/// What items of a graph are; the models follow.
const ITEMS_OF_A_GRAPH: &str = "\n## Items of a graph\n\n\
`train((SELECT 'shop' AS graph, 'r_graphsage' AS model), items => (SELECT customer AS node, day AS time, leaves AS label, part AS split FROM \
months))` learns of rows of a database at a time: a node may be an item at many times. Of a graph whose tables `nodes` or `edges` have a \
column `time` (a date, a timestamp or a whole number; [CREATE GRAPH FROM SCHEMA](functions/tables.md#create-graph-from-a-schema) makes one \
with `time => 'column'`), an item sees what came no later than its own time; a NULL time was always there, and an edge lives as long as both of \
its ends. Nothing of an item's output hangs on what came later, nor what columns are scaled by: adding, changing or deleting later rows gives \
the same bits, as long as the features are the same (those that CREATE GRAPH scales are so up to rounding, see below).\n\n\
Each item has a neighbourhood of its own: hop by hop from its node, along each relation (type of edges) and its inverse, all rows that are \
there, or in training `fanout` of them, drawn anew each step (`fanout_order`). `batch_nodes` are the items of a step, NULL is 512; figures and \
outputs are those of whole neighbourhoods. The features of a row stand in columns of its type, beside them the code of how many days before the \
item it came (`relative_time`); a type without features has one that is 1. `normalize => 'standard'` scales each column by mean and deviation \
over the rows that are there at the latest time of a training item: of features in maps, where what a row leaves out is missing, over the rows \
that have it. CREATE GRAPH scales numbers by the whole table, which this takes back up to rounding. Where items have `features`, these are \
further columns of the item's own row. Where no type has more columns than a hidden layer is wide, `r_graphsage` multiplies the weights of \
its first layer with those that bring features to that width before it reads a row: the same function, rounded otherwise, for a fraction of \
the work.\n\n\
`predict` with `load` scores new items, with a NULL `split` or without. Whatever would read later rows, or more than neighbourhoods, is refused: \
`encodings`, `featureless => 'neighbor_mean'`, features other than those given, arcs, weights. ";

/// What pre-training is; the defaults of the models' pre-training follow.
const PRE_TRAINED: &str = "\n## Pre-trained models\n\n\
`pretrain((SELECT ['pubmed', 'actor'] AS graphs, 'mdgpt' AS model, 0 AS seed), save => 'encoders')` learns an encoder of several graphs \
without any label and saves it; `train((SELECT 'cora' AS graph, 'mdgpt' AS model, saved AS load FROM encoders), split_scheme => 'kshot:5')` \
adapts it to another graph with a few labelled nodes of each class, the training nodes of its split. Features of each graph are brought to \
`dim` columns by themselves ([align_features](functions/learning.md#align_features)). What is learnt of the target says `adapt`. With `prompt` the encoder is frozen, \
the model's prompts are learnt, and the outputs of a node are its cosines with the prototypes of the classes: the means of the rows of their training nodes, as they are in each \
step; a class without a training node has the output -10000, and two classes need one. With `head` and `fine_tune` the outputs are those of a linear layer. \
Where the split has no validation nodes, the last epoch counts.\n\n\
A file names the graphs behind it with hashes of their edges and features. The row of `train` has them in `sources` and `source_hashes`, and the same hash of its own \
graph in `target_hash`: `WHERE NOT array_has(source_hashes, target_hash)` says that no edge of the target was seen. A graph whose edges (pairs of keys) are among the sources \
is refused; the same graph under other keys is not recognised. Sources are taken in the order of their names: another order of the list changes nothing. The baseline of every \
row is the same encoder with `epochs => 0` of pretrain.\n\n\
Options of a job that loads an encoder have the defaults of the table above; `hidden`, `layers`, `dim` and `alignment` (also `generators` and `nearest` of graphglue, `inner` of sa2gfm) are those of its pre-training. Pre-training has defaults of its own:\n\n";

/// The page of all models: `docs/models.md`.
pub fn models() -> String {
    let mut page = String::from(
        "# Models\n\n\
         What `train` can train. Each option is a column of the jobs, or an option of the call; NULL is the default. \
         `SELECT * FROM bonnet.models` lists the same, a model a row with all of its options. Options that models share are \
         described once: those of [every job](#jobs), of [every model](#training), of [several \
         models](#options-of-several-models). A model's own section has what it has alone.\n\n\
         ## Jobs\n\n\
         Every job has these options.\n\n",
    );
    let of_jobs = || DATA_OPTIONS.into_iter().chain(RUN_OPTIONS);
    learning_options(&mut page, of_jobs());
    for option in of_jobs() {
        if let Domain::Forms(forms) = option.domain {
            forms_of(&mut page, option.name, forms);
        }
    }
    page.push_str("\n## Training\n\nEvery model has these hyperparameters, where its tasks read them.\n\n");
    learning_options(&mut page, SHARED_OPTIONS);
    let options = SharedOptions::of_all_models();
    options.of_every_model(&mut page);
    options.of_several_models(&mut page);
    let reading = |name: &str| {
        let read = |model: &&ModelSpec| model.hyperparameters().any(|option| option.name == name);
        let models = bonnet_learning::models().iter().filter(read);
        models.map(|model| format!("`{}`", model.name)).collect::<Vec<_>>().join(", ")
    };
    let _ = write!(
        page,
        "\n## Weights and arcs\n\n\
         `weights => true` counts a message as the column `weight` of its edge says, in graphs and in collections of graphs. \
         It is read by {}. The others' equations have no place for it: `mlp`, `mlp1` and the models on complexes read no edges \
         of a graph; `gat`, `unimp` and `hat` weigh neighbours by attention, `gbk_gnn` by gates, `cusp` by curvature. In \
         `h2gcn` nodes at distance 2, in `lsgnn` the similarities of neighbours and in `graphmore` distances in the graph \
         count alike, whatever the weights.\n\n\
         `adjacency => 'arcs'` sends messages from `src` to `dst` alone. It is read by {}. The others are defined by \
         distances, curvatures or the spectrum of an undirected graph, or read no edges.\n",
        reading("weights"),
        reading("adjacency"),
    );
    let sampled = bonnet_learning::models().iter().filter(|model| model.takes_items_of_graphs());
    let sampled: Vec<String> = sampled.map(|model| format!("`{}`", model.name)).collect();
    let _ = writeln!(page, "{ITEMS_OF_A_GRAPH}It is read by {}.", sampled.join(", "));
    pre_trained(&mut page);
    for model in bonnet_learning::models() {
        let _ = write!(
            page,
            "\n## {}\n\n{}, {}; tasks: {}. Source: {}.\n",
            model.name,
            prose(model.family),
            prose(model.geometry),
            model.tasks.join(", "),
            prose(model.source.trim_end_matches('.')),
        );
        options.of_model(&mut page, model);
    }
    page
}

/// Pre-training, with a table of its defaults.
fn pre_trained(page: &mut String) {
    page.push_str(PRE_TRAINED);
    let defaults = bonnet_learning::models().iter().filter_map(|model| Some((model.name, model.pretraining()?)));
    for (i, (model, options)) in defaults.enumerate() {
        if i == 0 {
            page.push_str("| pre-training of |");
            options.iter().for_each(|option| page.push_str(&format!(" `{}` |", option.name)));
            page.push_str(&format!("\n|---|{}\n", "---|".repeat(options.len())));
        }
        let mut cells = vec![format!("[`{model}`](#{model})")];
        cells.extend(options.iter().map(|option| format!("`{}`", option.default_value())));
        row(page, &cells);
    }
}

/// The hyperparameters that models have alike but for their defaults.
struct SharedOptions {
    /// Those of every model.
    every: Vec<OptionSpec>,
    /// Those of several models, one of each name.
    several: Vec<OptionSpec>,
}

impl SharedOptions {
    fn of_all_models() -> Self {
        let (mut every, mut several) = (Vec::new(), Vec::<OptionSpec>::new());
        for option in bonnet_learning::models().iter().flat_map(ModelSpec::hyperparameters) {
            let known = every.iter().chain(&several).any(|it: &OptionSpec| it.name == option.name);
            if known || SHARED_OPTIONS.contains(&option) {
                continue;
            }
            match models_with(&option).count() {
                all if all == bonnet_learning::models().len() => every.push(option),
                some if some >= SEVERAL => several.push(option),
                _ => {}
            }
        }
        Self { every, several }
    }

    /// The options of every model, and a table of their defaults.
    fn of_every_model(&self, page: &mut String) {
        page.push_str("\nEvery model has these, too, with a default of its own.\n\n");
        page.push_str("| option | range | meaning |\n|---|---|---|\n");
        for option in &self.every {
            row(page, &[format!("`{}`", option.name), option.range(), prose(option.description)]);
        }
        page.push_str("\n| default of |");
        self.every.iter().for_each(|option| page.push_str(&format!(" `{}` |", option.name)));
        page.push_str(&format!("\n|---|{}\n", "---|".repeat(self.every.len())));
        for model in bonnet_learning::models() {
            let default = |option: &OptionSpec| {
                let own = model.hyperparameters().find(|it| it.name == option.name);
                own.map_or(String::new(), |own| format!("`{}`", own.default_value()))
            };
            let mut cells = vec![format!("[`{0}`](#{0})", model.name)];
            cells.extend(self.every.iter().map(default));
            row(page, &cells);
        }
    }

    /// The options of several models.
    fn of_several_models(&self, page: &mut String) {
        page.push_str(
            "\n## Options of several models\n\nA model's section names those that it has, with its defaults.\n\n",
        );
        page.push_str("| option | range | meaning | models |\n|---|---|---|---|\n");
        for option in &self.several {
            let models = models_with(option).map(|model| format!("`{}`", model.name)).collect::<Vec<_>>().join(", ");
            row(page, &[format!("`{}`", option.name), option.range(), prose(option.description), models]);
        }
    }

    /// What a model has besides the options of every model.
    fn of_model(&self, page: &mut String, model: &ModelSpec) {
        let is_in = |options: &[OptionSpec], option: &OptionSpec| options.iter().any(|other| are_alike(option, other));
        let options = model.hyperparameters().filter(|option| !SHARED_OPTIONS.contains(option));
        let options = options.filter(|option| !is_in(&self.every, option));
        let (several, own): (Vec<_>, Vec<_>) = options.partition(|option| is_in(&self.several, option));
        if !several.is_empty() {
            let default = |option: &OptionSpec| format!("`{}` (`{}`)", option.name, option.default_value());
            let several = several.iter().map(default).collect::<Vec<_>>().join(", ");
            let _ = write!(
                page,
                "\n[Options of several models](#options-of-several-models), with their defaults: {several}.\n"
            );
        }
        if !own.is_empty() {
            page.push('\n');
            learning_options(page, own);
        }
    }
}

/// Whether two options differ in their defaults at most.
fn are_alike(a: &OptionSpec, b: &OptionSpec) -> bool {
    a.name == b.name && a.range() == b.range() && a.description == b.description
}

/// The models that have an option, but for its default.
fn models_with(option: &OptionSpec) -> impl Iterator<Item = &'static ModelSpec> {
    bonnet_learning::models().iter().filter(move |model| model.hyperparameters().any(|it| are_alike(&it, option)))
}

/// A row of a table.
fn row(page: &mut String, cells: &[String]) {
    let cells = cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | ");
    let _ = writeln!(page, "| {cells} |");
}

/// A table of options of learning.
fn learning_options(page: &mut String, options: impl IntoIterator<Item = OptionSpec>) {
    page.push_str("| option | default | range | meaning |\n|---|---|---|---|\n");
    for option in options {
        let default = match option.name {
            "graph" | "model" => "required".to_owned(),
            _ => format!("`{}`", option.default_value()),
        };
        let range = match option.domain {
            Domain::Forms(_) => "a form below, or NULL".to_owned(),
            _ => option.range(),
        };
        row(page, &[format!("`{}`", option.name), default, range, prose(option.description)]);
    }
}

/// A table of the forms that an option's text takes; those that some tasks lack, with their tasks.
fn forms_of(page: &mut String, option: &str, forms: &[Form]) {
    let by_task = forms.iter().any(|form| !form.tasks.is_empty());
    let (head, rule) = if by_task { (" tasks |", "---|") } else { ("", "") };
    let _ = write!(page, "\n| `{option}` |{head} meaning |\n|---|{rule}---|\n");
    for form in forms {
        let mut cells = vec![format!("`{}`", form.text)];
        if by_task && form.tasks.is_empty() {
            cells.push("all".to_owned());
        } else if by_task {
            cells.push(form.tasks.iter().map(|task| task.name()).collect::<Vec<_>>().join(", "));
        }
        let note = if form.note.is_empty() { String::new() } else { format!(" ({})", form.note) };
        let only = if form.graphs_only { "; of graphs only" } else { "" };
        cells.push(prose(&format!("{}{note}{only}", form.meaning)));
        row(page, &cells);
    }
}
