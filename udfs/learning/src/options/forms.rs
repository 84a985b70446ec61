//! values that are strings of a few forms, such as `random:k`: each is declared once, with its meaning, for the parser, its error
//! and the reference.

use crate::options::Task;

/// A form of an option's string.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// A name, and for some an argument behind a colon: a letter or an example.
    pub text: &'static str,
    /// The meaning of the argument in a list of forms; empty for most.
    pub note: &'static str,
    /// The effect of the value.
    pub meaning: &'static str,
    /// The tasks that read it; all if empty.
    pub tasks: &'static [Task],
    /// Whether models on complexes refuse it.
    pub graphs_only: bool,
}

impl Form {
    pub(crate) const fn new(text: &'static str, meaning: &'static str) -> Self {
        Self { text, note: "", meaning, tasks: &[], graphs_only: false }
    }

    pub(crate) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    pub(crate) const fn of_tasks(mut self, tasks: &'static [Task]) -> Self {
        self.tasks = tasks;
        self
    }

    pub(crate) const fn graphs_only(mut self) -> Self {
        self.graphs_only = true;
        self
    }

    /// Whether a task reads it.
    pub fn is_read_by(&self, task: Task) -> bool {
        self.tasks.is_empty() || self.tasks.contains(&task)
    }
}

/// The strings of forms, with their notes.
pub(crate) fn list<'a>(forms: impl IntoIterator<Item = &'a Form>) -> String {
    let text = |form: &Form| match form.note {
        "" => form.text.to_owned(),
        note => format!("{} ({note})", form.text),
    };
    forms.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The name and the argument of a string.
pub(crate) fn parts(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(name, argument)| (name, Some(argument)))
}

/// An argument that is a whole number within bounds.
pub(crate) fn count<const MIN: usize, const MAX: usize>(argument: Option<&str>) -> Option<usize> {
    argument?.parse().ok().filter(|count| (MIN..=MAX).contains(count))
}

/// Declares an enum by the forms of its string: of each variant the type and the reading of its argument, the form and the
/// meaning, which documents it, too. Gives the enum `FORMS`, `name` and `read`.
macro_rules! forms {
    (
        $(#[$outer:meta])*
        pub enum $type:ident {
            $(
                $(#[$inner:meta])*
                $variant:ident $(($argument:ty, $read:expr))? = $text:literal, $meaning:literal
                    $(, $more:ident($($value:expr)?))*;
            )+
        }
    ) => {
        $(#[$outer])*
        pub enum $type {
            $(
                #[doc = concat!("`", $text, "`: ", $meaning, ".")]
                $(#[$inner])*
                $variant $(($argument))?,
            )+
        }

        impl $type {
            /// The forms of its string, in the order of the documentation.
            pub const FORMS: &'static [$crate::options::Form] =
                &[$($crate::options::Form::new($text, $meaning)$(.$more($($value)?))*),+];

            /// The name in its string.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $crate::options::forms::parts($text).0,)+
                }
            }

            /// The value of a string; none where no form fits it.
            pub(crate) fn read(text: &str) -> Option<Self> {
                let (name, argument) = $crate::options::forms::parts(text);
                $(
                    if name == $crate::options::forms::parts($text).0 {
                        return $crate::options::forms::forms!(@value $type, $variant, argument $(, $read)?);
                    }
                )+
                None
            }
        }
    };
    (@value $type:ident, $variant:ident, $argument:ident) => {
        $argument.is_none().then_some($type::$variant)
    };
    (@value $type:ident, $variant:ident, $argument:ident, $read:expr) => {
        $read($argument).map($type::$variant)
    };
}

pub(crate) use forms;
