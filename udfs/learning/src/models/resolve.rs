//! How the options of a job are resolved: checked, with the defaults of its model filled in.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use super::{ModelSpec, foundation, model, models};
use crate::ground::OptionError;
use crate::options::option_spec::counts;
use crate::options::table::{self, RUN_OPTIONS};
use crate::options::{EvaluateOn, Job, Normalize, OptionSpec, SamplerKind, SelectBy, Task, TrainOptions, Value};

impl Job {
    /// Checks every option and fills in the model's defaults.
    ///
    /// # Errors
    /// If the model, the task, an option or a value is not known; the message lists the valid ones.
    pub fn resolve(&self) -> Result<TrainOptions, OptionError> {
        let spec = model(&self.model)?;
        let task = match self.get("task") {
            Value::Null => Task::default(),
            given => {
                let valid = || {
                    let why = match (spec.name, given.to_string().as_str()) {
                        ("shgn" | "hinormer", "link_prediction") => "; its outputs are scores of classes, of length 1",
                        ("h2g_former", "link_prediction") => "; it reads the classes of nodes",
                        ("gophormer", "link_prediction") => "; its outputs are logarithms of probabilities of classes",
                        _ => "",
                    };
                    OptionError::invalid("task", given, &format!("{}{why}", spec.tasks.join(", ")))
                };
                let task = given.to_string().parse::<Task>().map_err(|_| valid())?;
                if spec.tasks.contains(&task.name()) { task } else { return Err(valid()) }
            }
        };
        let values = Values::resolve(spec, task, self)?;
        let select_by = match values.text("select_by") {
            None => task.selections()[0],
            Some(text) => {
                let selections = task.selections();
                let valid = || selections.iter().map(SelectBy::name).collect::<Vec<_>>().join(", ");
                let selection: Option<SelectBy> = text.parse().ok().filter(|s| selections.contains(s));
                selection.ok_or_else(|| OptionError::invalid("select_by", text, &valid()))?
            }
        };
        let own = |option: &OptionSpec| (option.name.to_owned(), values.get(option.name).clone());
        let mut options = TrainOptions {
            model: spec.name.into(),
            task,
            seed: values.integer("seed")? as u64,
            epochs: values.integer("epochs")? as u32,
            patience: values.optional("patience").map(|epochs| epochs as u32),
            select_by,
            lr: values.real("lr")?,
            weight_decay: values.real("weight_decay")?,
            optimizer: values.parse("optimizer")?,
            hidden: values.integer("hidden")? as usize,
            layers: values.integer("layers")? as usize,
            dropout: values.real("dropout")?,
            features: values.parse("features")?,
            featureless: values.parse("featureless")?,
            normalize: values.parse("normalize")?,
            encodings: values.parse("encodings")?,
            schedule: values.parse("schedule")?,
            warmup: values.integer("warmup")? as u32,
            clip: values.real("clip").ok(),
            class_weights: values.parse("class_weights")?,
            loss: values.parse("loss")?,
            embedding: values.optional("embedding").unwrap_or(values.integer("hidden")?) as usize,
            decoder: values.parse("decoder")?,
            negatives: values.parse("negatives")?,
            pooling: values.parse("pooling")?,
            // Models on complexes have read-outs of their own.
            head_dropout: values.real("head_dropout").unwrap_or(0.0),
            // Models on complexes have none.
            label_rate: values.real("label_rate").unwrap_or(0.0),
            batch: values.optional("batch").map(|graphs| graphs as u32),
            batch_nodes: values.optional("batch_nodes").map(|nodes| nodes as u32),
            fanout: Vec::new(),
            sampler: values.parse("sampler")?,
            evaluate_on: values.parse("evaluate_on")?,
            epoch_steps: values.optional("epoch_steps").map(|steps| steps as u32),
            accumulate: values.optional("accumulate").unwrap_or(1) as u32,
            fanout_order: values.parse("fanout_order")?,
            relative_time: values.optional("relative_time").unwrap_or(0) as usize,
            hyperparameters: spec.own.iter().map(own).collect(),
            test_each_epoch: false,
            every_figure: false,
            keep_embeddings: false,
        };
        refuse_label_rate(spec, options.label_rate)?;
        options.fanout = resolve_fanout(spec, &options, values.get("fanout"))?;
        if options.normalize == Normalize::Standard && spec.is_pretrained() {
            let valid =
                "none, row: the features of a pre-trained model are reduced by themselves, without training nodes";
            return Err(OptionError::invalid("normalize", options.normalize, valid));
        }
        if options.normalize == Normalize::Standard && !task.is_of_nodes() {
            let valid = format!("none, row; {} has no training nodes to take means over", task.name());
            return Err(OptionError::invalid("normalize", options.normalize, &valid));
        }
        Ok(options)
    }
}

impl Job {
    /// [`Job::resolve`] for a pre-training: options that the job does not give are those of the model's pre-training, and epochs may
    /// be 0, for an encoder as it is drawn.
    ///
    /// # Errors
    /// As [`Job::resolve`].
    pub fn resolve_pretraining(&self) -> Result<TrainOptions, OptionError> {
        let mut job = self.clone();
        if let Some(model) = foundation::of(&self.model) {
            for option in table::training(&model.pretraining()) {
                if job.get(option.name).is_null() {
                    job.set(option.name, option.default_value());
                }
            }
        }
        let is_untrained = *job.get("epochs") == Value::Integer(0);
        if is_untrained {
            job.set("epochs", 1);
        }
        let options = job.resolve()?;
        Ok(if is_untrained { TrainOptions { epochs: 0, ..options } } else { options })
    }
}

/// Every option of a job with its given value or its default, in the type of its domain.
struct Values(BTreeMap<&'static str, Value>);

impl Values {
    fn resolve(spec: &ModelSpec, task: Task, job: &Job) -> Result<Self, OptionError> {
        // Parameters that are loaded may be used as they are.
        let is_as_loaded = *job.get("load") != Value::Null && *job.get("epochs") == Value::Integer(0);
        let mut values = BTreeMap::new();
        for option in RUN_OPTIONS.into_iter().chain(spec.hyperparameters()) {
            let given = job.get(option.name);
            let value = match option.name {
                "epochs" if is_as_loaded => given.clone(),
                _ => option.resolve(given)?,
            };
            // An option of another task would be ignored silently; its default says nothing and is let through.
            if !option.is_read_by(task) && value != option.default_value() {
                return Err(OptionError::Unread { option: option.name, value: value.to_string(), task: task.name() });
            }
            values.insert(option.name, value);
        }
        match job.options.keys().find(|name| !values.contains_key(name.as_str())) {
            None => Ok(Self(values)),
            Some(name) => {
                let mut valid = spec.hyperparameters().map(|option| option.name).collect::<Vec<_>>().join(", ");
                if let "weights" | "adjacency" = name.as_str() {
                    let read = |spec: &&ModelSpec| spec.hyperparameters().any(|option| option.name == name);
                    let models: Vec<&str> = models().iter().filter(read).map(|spec| spec.name).collect();
                    let edges = if name == "weights" { "weights of edges" } else { "arcs" };
                    let _ = write!(valid, ". Its equations have no place for {edges}; {} have", models.join(", "));
                }
                Err(OptionError::Unknown { model: spec.name.into(), name: name.clone(), valid })
            }
        }
    }

    fn get(&self, option: &str) -> &Value {
        self.0.get(option).unwrap_or(&Value::Null)
    }

    fn optional(&self, option: &str) -> Option<i64> {
        match self.get(option) {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    fn integer(&self, option: &str) -> Result<i64, OptionError> {
        self.optional(option).ok_or_else(|| OptionError::invalid(option, self.get(option), "an integer"))
    }

    fn real(&self, option: &str) -> Result<f64, OptionError> {
        match self.get(option) {
            Value::Real(value) => Ok(*value),
            other => Err(OptionError::invalid(option, other, "a number")),
        }
    }

    fn text(&self, option: &str) -> Option<&str> {
        match self.get(option) {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    fn parse<T: FromStr<Err = OptionError> + Default>(&self, option: &str) -> Result<T, OptionError> {
        self.text(option).map_or_else(|| Ok(T::default()), str::parse)
    }
}

/// Refuses known classes as an input of a model that has no layer on its features to put them beside.
fn refuse_label_rate(spec: &ModelSpec, rate: f64) -> Result<(), OptionError> {
    let why = match spec.name {
        _ if rate == 0.0 => return Ok(()),
        "label_propagation" => "reads all known classes, and no features",
        _ if spec.reads_tokens() => "reads tokens that are made once before training, and no class may be in them",
        _ => return Ok(()),
    };
    Err(OptionError::invalid("label_rate", rate, &format!("0: {} {why}", spec.name)))
}

/// The most neighbours of a node for each number of edges from the nodes of a step.
fn resolve_fanout(spec: &ModelSpec, options: &TrainOptions, given: &Value) -> Result<Vec<u32>, OptionError> {
    let by_type = options.sampler == SamplerKind::Hgt;
    let Some(batch) = options.batch_nodes else {
        if options.evaluate_on == EvaluateOn::Samples {
            return Err(OptionError::invalid("evaluate_on", options.evaluate_on, "graph without batch_nodes"));
        }
        if let Some(steps) = options.epoch_steps {
            return Err(OptionError::invalid(
                "epoch_steps",
                steps,
                "NULL without batch_nodes, where an epoch is one step",
            ));
        }
        return match given {
            Value::Null if by_type => {
                Err(OptionError::invalid("sampler", options.sampler, "neighbors without batch_nodes"))
            }
            Value::Null => Ok(Vec::new()),
            given => Err(OptionError::invalid("fanout", given, "NULL without batch_nodes")),
        };
    };
    let Some(reach) = spec.reach else {
        let valid = format!("NULL: {} reads more than the neighbours of nodes, on the whole graph alone", spec.name);
        return Err(OptionError::invalid("batch_nodes", batch, &valid));
    };
    let hops = reach(&options.of_model())?;
    // Its range has been checked.
    match counts(given, 1, u32::MAX).as_deref() {
        None if by_type => {
            let valid =
                "the nodes of each type that a hop adds, with sampler => 'hgt': one number, or one for each hop";
            Err(OptionError::invalid("fanout", given, valid))
        }
        None => Ok(vec![u32::MAX; hops]),
        Some(&[every]) => Ok(vec![every; hops]),
        Some(fanout) if fanout.len() == hops || by_type => Ok(fanout.to_vec()),
        Some(_) => {
            let valid = format!("one number, or one for each of the {hops} hops that the outputs of {} see", spec.name);
            Err(OptionError::invalid("fanout", given, &valid))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Decay, Decoder};

    #[test]
    fn defaults_come_from_the_model() {
        let gcn = Job::new("gcn").resolve().unwrap();
        assert_eq!((gcn.hidden, gcn.layers, gcn.epochs, gcn.lr), (64, 2, 200, 0.01));
        let gat = Job::new("gat").resolve().unwrap();
        assert_eq!((gat.hidden, gat.of_model().integer("heads").unwrap(), gat.lr), (8, 8, 0.005));
        assert!(gat.of_model().real("heads").is_err());
    }

    #[test]
    fn every_wrong_option_is_refused_with_the_valid_ones() {
        let error = |change: &dyn Fn(&mut Job)| {
            let mut job = Job::new("gat");
            change(&mut job);
            job.resolve().unwrap_err().to_string()
        };
        assert!(error(&|j| j.model = "gnc".into()).contains("graphsage"));
        let option = |name: &str, value: Value| error(&|j| j.set(name, value.clone()));
        assert!(option("task", "sorting".into()).contains("node_classification"));
        assert!(option("epochs", 0.into()).contains("epochs is `0`"));
        assert!(option("patience", 0.into()).contains("NULL"));
        assert!(option("select_by", "test_accuracy".into()).contains("val_macro_f1"));
        assert!(option("optimizer", "adam2".into()).contains("adamw"));
        assert!(option("dropout", 1.0.into()).contains("[0, 1)"));
        assert!(option("lr", f64::NAN.into()).contains("lr is `NaN`"));
        assert!(option("features", "all".into()).contains("random:k"));
        assert!(option("normalize", "column".into()).contains("row"));
        assert!(option("heads", 0.into()).contains("heads is `0`"));
        assert!(option("heads", "two".into()).contains("heads is `two`"));
        let unknown = option("alpha", 0.1.into());
        assert!(unknown.contains("no hyperparameter `alpha`") && unknown.contains("negative_slope"), "{unknown}");
    }

    #[test]
    fn training_options_have_ranges_and_belong_to_tasks() {
        let job = |task: &str, name: &str, value: Value| Job::new("gcn").with("task", task).with(name, value).resolve();
        let node = |name: &str, value: Value| job("node_classification", name, value);
        let text = |value: &str| Value::Text(value.into());
        let options = node("schedule", text("cosine")).unwrap();
        assert_eq!((options.schedule, options.warmup, options.clip), (Decay::Cosine, 0, None));
        assert_eq!(node("clip", Value::Integer(2)).unwrap().clip, Some(2.0));
        assert_eq!(node("clip", Value::Null).unwrap().clip, None);
        assert_eq!(node("warmup", Value::Real(3.0)).unwrap().warmup, 3);
        let error = |result: Result<TrainOptions, OptionError>| result.unwrap_err().to_string();
        for clip in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(error(node("clip", Value::Real(clip))).contains("a number above 0, or NULL"));
        }
        assert!(error(node("warmup", Value::Integer(-1))).contains("[0, 4294967295]"));
        assert!(error(node("schedule", text("step"))).contains("constant, cosine"));
        assert!(error(node("class_weights", text("even"))).contains("none, balanced"));
        // What the task does not read is refused; its default says nothing.
        for (task, name, value) in [
            ("node_classification", "decoder", text("distance")),
            ("node_classification", "embedding", Value::Integer(3)),
            ("link_prediction", "class_weights", text("balanced")),
            ("graph_regression", "class_weights", text("balanced")),
            ("node_classification", "loss", text("absolute_error")),
            ("link_prediction", "batch", Value::Integer(3)),
            ("node_classification", "head_dropout", Value::Real(0.5)),
        ] {
            assert!(error(job(task, name, value)).contains("does not read"), "{task}: {name}");
        }
        assert!(node("decoder", text("inner_product")).is_ok());
        assert!(node("normalize", text("standard")).is_ok());
        let standard = error(job("link_prediction", "normalize", text("standard")));
        assert!(standard.contains("valid: none, row; link_prediction has no training nodes"), "{standard}");
        let link = job("link_prediction", "decoder", text("distance")).unwrap();
        assert_eq!((link.decoder, link.embedding, link.select_by), (Decoder::Distance, 64, SelectBy::Auc));
        assert_eq!(job("graph_regression", "batch", Value::Integer(9)).unwrap().batch, Some(9));
        assert_eq!(job("graph_regression", "head_dropout", Value::Real(0.5)).unwrap().head_dropout, 0.5);
        let complexes = Job::new("sccn").with("task", "graph_regression").with("head_dropout", 0.5);
        assert!(error(complexes.resolve()).contains("no hyperparameter `head_dropout`"));
        let wrong = Job::new("gcn").with("task", "link_prediction").with("select_by", "val_mae");
        assert!(error(wrong.resolve()).contains("valid: val_auc, val_ap, val_loss"));
        // No epochs only where parameters are loaded.
        let none = Job::new("gcn").with("epochs", 0).with("load", "file");
        assert_eq!(none.resolve().unwrap().epochs, 0);
        assert!(none.with("load", Value::Null).resolve().is_err());
    }

    #[test]
    fn sampling_has_ranges_and_models_that_cannot_say_so() {
        let job = |model: &str, options: &[(&str, Value)]| {
            options.iter().fold(Job::new(model), |job, (name, value)| job.with(name, value.clone())).resolve()
        };
        let sampled =
            |model: &str, fanout: Value| job(model, &[("batch_nodes", Value::Integer(64)), ("fanout", fanout)]);
        let text = |value: &str| Value::Text(value.into());
        let whole = Job::new("gcn").resolve().unwrap();
        assert_eq!((whole.batch_nodes, whole.fanout), (None, vec![]));
        assert_eq!(sampled("gcn", text("15,10")).unwrap().fanout, [15, 10]);
        assert_eq!(sampled("gcn", text("15, 10")).unwrap().fanout, [15, 10]);
        assert_eq!(sampled("gcn", Value::Integer(5)).unwrap().fanout, [5, 5]);
        assert_eq!(sampled("appnp", Value::Real(5.0)).unwrap().fanout, [5; 10]);
        assert_eq!(sampled("gat", Value::Null).unwrap().fanout, [u32::MAX; 2]);
        assert!(sampled("mlp", Value::Null).unwrap().fanout.is_empty());
        let error = |result: Result<TrainOptions, OptionError>| result.unwrap_err().to_string();
        for wrong in
            [text("15,0"), text("many"), text(""), Value::Integer(-1), Value::Real(1.5), Value::Integer(2_000_000)]
        {
            let error = error(sampled("gcn", wrong.clone()));
            assert!(error.contains("integers in [1, 1000000]"), "{wrong:?}: {error}");
        }
        assert!(error(sampled("gcn", text("15,10,5"))).contains("each of the 2 hops that the outputs of gcn see"));
        assert!(error(job("gcn", &[("fanout", Value::Integer(5))])).contains("NULL without batch_nodes"));
        // Nodes of each type: of hops there may be more.
        let hgt = |fanout: Value| {
            job("hgt", &[("batch_nodes", Value::Integer(64)), ("sampler", text("hgt")), ("fanout", fanout)])
        };
        assert_eq!(hgt(text("64,64,32")).unwrap().fanout, [64, 64, 32]);
        assert_eq!(hgt(Value::Integer(7)).unwrap().fanout, [7, 7]);
        assert!(error(hgt(Value::Null)).contains("one number, or one for each hop"));
        assert!(error(job("hgt", &[("sampler", text("hgt"))])).contains("neighbors without batch_nodes"));
        assert!(error(job("gcn", &[("batch_nodes", Value::Integer(0))])).contains("[1, 4294967295], or NULL"));
        assert!(error(job("gcn", &[("evaluate_on", text("samples"))])).contains("graph without batch_nodes"));
        assert!(error(job("gcn", &[("epoch_steps", Value::Integer(2))])).contains("NULL without batch_nodes"));
        assert!(error(job("gcn", &[("accumulate", Value::Integer(0))])).contains("[1, 4294967295]"));
        let links = [("task", text("link_prediction")), ("accumulate", Value::Integer(2))];
        assert!(error(job("gcn", &links)).contains("does not read"));
        for model in ["h2gcn", "linkx", "glognn", "label_propagation"] {
            assert!(error(sampled(model, Value::Null)).contains(&format!("NULL: {model} reads more")), "{model}");
        }
        let structure = [("batch_nodes", Value::Integer(9)), ("structure_info", Value::Integer(1))];
        assert!(error(job("acm_gcn", &structure)).contains("0 where neighbours are sampled"));
        let links = Job::new("gcn").with("task", "link_prediction").with("batch_nodes", 9);
        assert!(error(links.resolve()).contains("does not read"));
    }

    #[test]
    fn options_survive_serialisation() {
        let mut job = Job::new("gat");
        job.set("features", "random:8");
        job.set("heads", 4);
        let options = job.resolve().unwrap();
        let text = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<TrainOptions>(&text).unwrap(), options);
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
    }
}
