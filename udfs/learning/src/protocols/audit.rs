//! The rows of `audit.tsv`: the printed cells of tables, beside the authors' logs and our runs.

use std::sync::LazyLock;

use super::table::SettingType;
use crate::options::Value;

/// The columns of the audit with their types. Figures are in percent.
pub const AUDIT_COLUMNS: [(&str, SettingType); 18] = [
    ("paper", SettingType::Text),
    ("table", SettingType::Text),
    ("task", SettingType::Text),
    ("metric", SettingType::Text),
    ("setting", SettingType::Text),
    ("dataset", SettingType::Text),
    ("model", SettingType::Text),
    ("printed_mean", SettingType::Real),
    ("printed_deviation", SettingType::Real),
    ("log_mean", SettingType::Real),
    ("log_deviation", SettingType::Real),
    ("rerun_mean", SettingType::Real),
    ("rerun_deviation", SettingType::Real),
    ("runs", SettingType::Integer),
    ("agrees", SettingType::Text),
    ("protocol", SettingType::Text),
    ("verdict", SettingType::Text),
    ("evidence", SettingType::Text),
];

/// A printed cell, and what became of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuditRow {
    values: Vec<Value>,
}

impl AuditRow {
    /// The value of one of [`AUDIT_COLUMNS`]; NULL where there is none.
    pub fn get(&self, column: &str) -> &Value {
        let position = AUDIT_COLUMNS.iter().position(|(name, _)| *name == column);
        position.and_then(|position| self.values.get(position)).unwrap_or(&Value::Null)
    }
}

static ROWS: LazyLock<Vec<AuditRow>> = LazyLock::new(|| {
    let value =
        |(text, (_, kind)): (&str, &(&str, SettingType))| if text.is_empty() { Value::Null } else { kind.read(text) };
    let row = |line: &str| AuditRow { values: line.split('\t').zip(&AUDIT_COLUMNS).map(value).collect() };
    include_str!("audit.tsv").lines().skip(1).map(row).collect()
});

/// The printed cells that are known, by paper and table.
pub fn audit() -> &'static [AuditRow] {
    &ROWS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::protocols::protocols;

    /// The verdicts. A cell that has a rerun, an equal log and no fault is reproduced or open by its figures alone.
    const VERDICTS: [&str; 7] =
        ["reproduced", "print differs from log", "leak", "wrong model", "wrong data", "data not at hand", "open"];

    fn text(row: &AuditRow, column: &str) -> Option<String> {
        Some(row.get(column)).filter(|value| **value != Value::Null).map(Value::to_string)
    }

    fn number(row: &AuditRow, column: &str) -> Option<f64> {
        match row.get(column) {
            Value::Real(x) => Some(*x),
            _ => None,
        }
    }

    #[test]
    fn every_row_has_every_column_and_stands_once() {
        let mut lines = include_str!("audit.tsv").lines();
        let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
        assert_eq!(header, AUDIT_COLUMNS.map(|(name, _)| name));
        assert!(lines.all(|line| line.split('\t').count() == AUDIT_COLUMNS.len()));
        let mut seen = HashSet::new();
        for row in audit() {
            let key = ["paper", "table", "metric", "setting", "dataset", "model"].map(|name| text(row, name));
            assert!(seen.insert(key.clone()), "{key:?} stands there twice");
            for (name, kind) in AUDIT_COLUMNS {
                let fits = match row.get(name) {
                    Value::Null => true,
                    Value::Integer(_) => kind == SettingType::Integer,
                    Value::Real(_) => kind == SettingType::Real,
                    Value::Text(_) => kind == SettingType::Text,
                };
                assert!(fits, "{key:?}: {name} is {:?}", row.get(name));
            }
        }
    }

    #[test]
    fn the_models_on_graphs_of_mantra_read_other_data_and_no_model_of_complexes_does() {
        let on_graphs = ["MLP", "GCN", "GAT", "TAG", "UniMP"];
        let of_mantra = audit().iter().filter(|row| text(row, "paper").as_deref() == Some("MANTRA"));
        let mut cells = 0;
        for row in of_mantra {
            let model = text(row, "model").unwrap();
            let wrong = text(row, "verdict").as_deref() == Some("wrong data");
            assert_eq!(wrong, on_graphs.contains(&model.as_str()), "{row:?}");
            assert!(!wrong || text(row, "evidence").unwrap().contains("four triangles"), "{row:?}");
            cells += usize::from(wrong);
        }
        assert_eq!(cells, 405);
        // The names of models say nothing of that: the one row that is another model is CurvBench's HGNN.
        for row in audit().iter().filter(|row| text(row, "verdict").as_deref() == Some("wrong model")) {
            assert_eq!((text(row, "paper"), text(row, "model")), (Some("CurvBench".into()), Some("HGNN".into())));
        }
    }

    #[test]
    fn verdicts_follow_from_the_figures() {
        for row in audit() {
            let key = ["paper", "table", "metric", "setting", "dataset", "model"].map(|name| text(row, name));
            let verdict = text(row, "verdict").unwrap();
            assert!(VERDICTS.contains(&verdict.as_str()), "{key:?}: {verdict}");
            assert!(verdict == "open" || verdict == "reproduced" || text(row, "evidence").is_some(), "{key:?}");
            // A rerun beside the log, else beside the print: within twice the root of the sum of squares of both deviations.
            let beside = match number(row, "log_mean") {
                Some(mean) => Some((mean, number(row, "log_deviation").unwrap_or(0.0))),
                None => number(row, "printed_mean").map(|mean| (mean, number(row, "printed_deviation").unwrap_or(0.0))),
            };
            let agrees = beside.zip(number(row, "rerun_mean")).map(|((mean, deviation), ours)| {
                let both = deviation.hypot(number(row, "rerun_deviation").unwrap_or(0.0));
                (ours - mean).abs() <= 2.0 * both + 1e-9
            });
            assert_eq!(text(row, "agrees"), agrees.map(|agrees| agrees.to_string()), "{key:?}");
            assert!(verdict != "reproduced" || agrees == Some(true), "{key:?}");
            assert!(verdict != "open" || agrees != Some(true), "{key:?}");
            if verdict == "print differs from log" {
                let off =
                    |a: &str, b: &str| number(row, a).zip(number(row, b)).is_some_and(|(a, b)| (a - b).abs() > 0.0051);
                let differs = off("printed_mean", "log_mean") || off("printed_deviation", "log_deviation");
                assert!(differs, "{key:?}");
            }
            if let Some(name) = text(row, "protocol") {
                assert!(protocols().iter().any(|row| row.name() == name), "{key:?}: {name}");
            }
        }
    }
}
