//! The figures that may select the epoch of a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ground::OptionError;
use crate::options::Task;
use crate::options::choices::{CLASSES, NUMBERS, RANKED, text_serde};
use crate::options::forms::{forms, list};

forms! {
    /// The figure of the validation items that selects the epoch: the option `select_by`. The first that a task has is its
    /// default.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum SelectBy {
        #[default]
        Accuracy = "val_accuracy", "the largest accuracy", of_tasks(CLASSES);
        MacroF1 = "val_macro_f1", "the largest macro-F1", of_tasks(CLASSES);
        F1 = "val_f1", "the largest F1 of the positive class; two classes only", of_tasks(CLASSES);
        Auc = "val_auc", "the largest area under the ROC curve", of_tasks(RANKED);
        Ap = "val_ap", "the largest average precision; two classes only", of_tasks(RANKED);
        Mae = "val_mae", "the smallest mean absolute error", of_tasks(NUMBERS);
        Mse = "val_mse", "the smallest mean squared error", of_tasks(NUMBERS);
        Loss = "val_loss", "the smallest loss";
        Last = "last", "none: the last epoch is the answer, whatever the validation part says";
    }
}

impl SelectBy {
    /// Whether it is defined for two classes only.
    pub(crate) fn needs_two_classes(self) -> bool {
        matches!(self, Self::F1 | Self::Ap)
    }
}

impl fmt::Display for SelectBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SelectBy {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<Self, OptionError> {
        Self::read(text).ok_or_else(|| OptionError::invalid("select_by", text, &list(Self::FORMS)))
    }
}
text_serde!(SelectBy);

impl Task {
    /// The figures that may select the epoch: the default, then the others.
    pub fn selections(self) -> Vec<SelectBy> {
        let forms = SelectBy::FORMS.iter().filter(|form| form.is_read_by(self));
        forms.filter_map(|form| SelectBy::read(form.text)).collect()
    }
}
