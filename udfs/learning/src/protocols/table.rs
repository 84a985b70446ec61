//! The rows of `protocols.tsv`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::models::models;
use crate::options::table::{DATA_OPTIONS, RUN_OPTIONS};
use crate::options::{Domain, OptionSpec, Value};

/// The columns that say what a row is about; every other column is an option of `train`.
pub const FACTS: [&str; 10] =
    ["protocol", "paper", "tables", "model", "dataset", "task", "seeds", "deviation", "differs", "source"];

/// The settings of one model in published tables, on one data set or on all that have no row of their own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Protocol {
    facts: [Option<String>; FACTS.len()],
    /// The options that are stated, by their names.
    pub settings: BTreeMap<String, Value>,
}

impl Protocol {
    /// The value of one of [`FACTS`]; none where it is not stated.
    pub fn fact(&self, name: &str) -> Option<&str> {
        let position = FACTS.iter().position(|fact| *fact == name)?;
        self.facts[position].as_deref()
    }

    /// The name by which jobs ask for it, such as `curvbench/gcn`; rows of several data sets and tasks have the same.
    pub fn name(&self) -> &str {
        self.fact("protocol").unwrap_or_default()
    }

    /// Sets a column: one of [`FACTS`], or an option. [`Value::Null`] states nothing.
    pub fn set(&mut self, column: &str, value: Value) {
        match (FACTS.iter().position(|fact| *fact == column), value) {
            (_, Value::Null) => {}
            (Some(position), value) => self.facts[position] = Some(value.to_string()),
            (None, value) => {
                self.settings.insert(column.to_owned(), value);
            }
        }
    }
}

/// The type of a setting's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingType {
    /// A whole number.
    Integer,
    /// A real number.
    Real,
    /// A string.
    Text,
}

impl SettingType {
    fn of(option: &OptionSpec) -> Self {
        match option.domain {
            Domain::Integer { .. } | Domain::OptionalInteger { .. } => Self::Integer,
            Domain::Real { .. } | Domain::OptionalPositive => Self::Real,
            Domain::OptionalCounts { .. } | Domain::Choice { .. } | Domain::Forms(_) | Domain::Text { .. } => {
                Self::Text
            }
        }
    }

    /// The value of a text of this type; the text itself where it is no number.
    pub(super) fn read(self, text: &str) -> Value {
        let number = match self {
            Self::Integer => text.parse().ok().map(Value::Integer),
            Self::Real => text.parse().ok().map(Value::Real),
            Self::Text => None,
        };
        number.unwrap_or_else(|| Value::Text(text.to_owned()))
    }
}

/// The options of runs that a protocol cannot state: what a run reads from and writes to is the job's.
const OF_JOBS: [&str; 7] = ["graph", "model", "label", "protocol", "save", "load", "task"];

/// The type of an option's column in the table; none for what is no option, or is one of the job alone. Where two models declare it
/// with different types it is a text.
pub fn setting_type(name: &str) -> Option<SettingType> {
    if OF_JOBS.contains(&name) {
        return None;
    }
    let of_runs = DATA_OPTIONS.into_iter().chain(RUN_OPTIONS);
    let of_models = models().iter().flat_map(|model| model.hyperparameters());
    let declared = of_runs.chain(of_models).filter(|option| option.name == name);
    declared
        .map(|option| SettingType::of(&option))
        .reduce(|one, other| if one == other { one } else { SettingType::Text })
}

/// The table that ships with the engine.
struct Table {
    settings: Vec<(&'static str, SettingType)>,
    rows: Vec<Protocol>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut lines = include_str!("protocols.tsv").lines();
    let header: Vec<&'static str> = lines.next().unwrap_or_default().split('\t').collect();
    let type_of = |name: &str| setting_type(name).unwrap_or(SettingType::Text);
    let types: Vec<SettingType> = header.iter().map(|name| type_of(name)).collect();
    let row = |line: &str| {
        let mut protocol = Protocol::default();
        for ((name, kind), text) in header.iter().zip(&types).zip(line.split('\t')) {
            match text {
                "" => {}
                text if FACTS.contains(name) => protocol.set(name, Value::Text(text.to_owned())),
                text => protocol.set(name, kind.read(text)),
            }
        }
        protocol
    };
    let rows = lines.map(row).collect();
    let settings = header.iter().copied().zip(types).filter(|(name, _)| !FACTS.contains(name)).collect();
    Table { settings, rows }
});

/// The protocols that ship with the engine, in the order of papers and models.
pub fn protocols() -> &'static [Protocol] {
    &TABLE.rows
}

/// The options that the shipped table has columns of, in the order of these.
pub fn settings() -> &'static [(&'static str, SettingType)] {
    &TABLE.settings
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::options::{Job, SplitScheme};
    use crate::{Task, model};

    #[test]
    fn every_row_is_whole_and_every_setting_an_option_that_train_knows() {
        let columns = include_str!("protocols.tsv").lines().map(|line| line.split('\t').count());
        assert!(columns.collect::<HashSet<_>>().len() == 1, "all lines have as many columns");
        for (name, _) in settings() {
            assert!(setting_type(name).is_some(), "{name} is no option");
        }
        let mut seen = HashSet::new();
        for row in protocols() {
            let key = (row.name(), row.fact("dataset"), row.fact("task"));
            assert!(seen.insert(key), "{key:?} stands there twice");
            let spec = model(row.fact("model").unwrap()).unwrap();
            let task = row.fact("task").unwrap();
            assert!(spec.tasks.contains(&task) && task.parse::<Task>().is_ok(), "{key:?}");
            assert!(row.fact("source").is_some() && row.fact("paper").is_some(), "{key:?}");
            // The settings resolve: each is in its range, and one that this model and this task read.
            let mut job = Job::new(spec.name).with("task", task);
            for (name, value) in &row.settings {
                match name.as_str() {
                    "split_scheme" => {
                        let scheme: SplitScheme = value.to_string().parse().unwrap();
                        let form = SplitScheme::FORMS.iter().find(|form| form.text.starts_with(scheme.name())).unwrap();
                        assert!(form.is_read_by(task.parse().unwrap()), "{key:?}: {scheme}");
                    }
                    "split" => assert!(matches!(value, Value::Integer(0..)), "{key:?}"),
                    name => job.set(name, value.clone()),
                }
            }
            let options = job.resolve().unwrap_or_else(|error| panic!("{key:?}: {error}"));
            assert_eq!(options.model, spec.name);
        }
        assert!(protocols().len() > 400, "{}", protocols().len());
    }

    #[test]
    fn settings_are_those_of_the_authors_configurations() {
        // github.com/Ga1axy0051/CurvBench e61f6f8: HGCN, nodes of Cora; GAT, nodes of Actor.
        let of = |name: &str, dataset: Option<&str>| {
            let is = |row: &&Protocol| {
                row.name() == name && row.fact("dataset") == dataset && row.fact("task") == Some("node_classification")
            };
            protocols().iter().find(is).unwrap()
        };
        let hgcn = of("curvbench/hgcn", Some("cora"));
        assert_eq!(hgcn.settings["epochs"], Value::Integer(5000));
        assert_eq!(hgcn.settings["dropout"], Value::Real(0.2));
        assert_eq!(hgcn.settings["normalize"], Value::Text("row".into()));
        let gat = of("curvbench/gat", None);
        assert_eq!((&gat.settings["split"], &gat.settings["clip"]), (&Value::Integer(42), &Value::Real(5.0)));
        assert_eq!(of("curvbench/gat", Some("cora")).settings["split_scheme"], Value::Text("public".into()));
        assert_eq!(of("curvbench/qgcn", Some("cornell")).settings["curvature"], Value::Real(1.0));
        assert!(!of("curvbench/qgcn", Some("cora")).settings.contains_key("curvature"), "learned there");
        assert_eq!(of("curvbench/graphsage", None).settings["select_by"], Value::Text("last".into()));
    }

    #[test]
    fn a_column_of_no_type_is_no_option() {
        assert_eq!(setting_type("epochs"), Some(SettingType::Integer));
        assert_eq!(setting_type("lr"), Some(SettingType::Real));
        assert_eq!(setting_type("experts"), Some(SettingType::Text));
        assert_eq!(setting_type("learning_rate"), None);
        // A table of protocols opens no file.
        assert_eq!((setting_type("load"), setting_type("save")), (None, None));
    }
}
