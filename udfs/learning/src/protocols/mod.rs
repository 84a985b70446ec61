//! The settings of published tables as rows, which a job may take: `bonnet.protocols`, and the option `protocol`.
//!
//! The rows stand in `protocols.tsv`: facts of the papers and of their authors' programs, each with its source. A setting that is
//! not stated is empty there, and what a program does that no option says stands in the column `differs`. `audit.tsv` holds what
//! became of the printed figures: `bonnet.audit`.

mod audit;
mod choice;
mod table;

pub use audit::{AUDIT_COLUMNS, AuditRow, audit};
pub use choice::{ProtocolError, choose};
pub use table::{FACTS, Protocol, SettingType, protocols, setting_type, settings};
