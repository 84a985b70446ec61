//! Kinds of the engine's errors, for programs that tell them apart.

/// The kinds, each with the class of five letters that standard SQL and PostgreSQL have for it (SQLSTATE).
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $class:literal,)+) => {
        /// The kind of an error, as the exceptions of PEP 249, the status codes of ADBC and the classes of PostgreSQL have it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// The class of five letters that standard SQL and PostgreSQL have for it (SQLSTATE).
            pub fn sqlstate(self) -> &'static str {
                match self {
                    $(Self::$kind => $class,)+
                }
            }
        }
    };
}

kinds! {
    /// The text is no SQL.
    Syntax = "42601",
    /// A table or a view that is not there.
    UnknownTable = "42P01",
    /// A schema that is not there.
    UnknownSchema = "3F000",
    /// A column that is not there.
    UnknownColumn = "42703",
    /// A function that is not there.
    UnknownFunction = "42883",
    /// A setting that is not there.
    UnknownSetting = "42704",
    /// An object of this name is there already.
    AlreadyExists = "42P07",
    /// The statement is wrong in another way.
    Statement = "42000",
    /// A division by zero.
    DivisionByZero = "22012",
    /// A number that its type cannot hold.
    OutOfRange = "22003",
    /// A value that is none of the type it is cast to.
    Cast = "22P02",
    /// A value that is wrong in another way.
    Data = "22000",
    /// A PRIMARY KEY or UNIQUE would hold a value twice.
    RepeatedKey = "23505",
    /// A NULL in a column that takes none.
    MissingValue = "23502",
    /// The engine does not do this.
    NotSupported = "0A000",
    /// The session may not do this: `bonnet.external_access` is off.
    Forbidden = "42501",
    /// A change of a database that is open for reading alone.
    ReadOnly = "25006",
    /// BEGIN within a transaction.
    TransactionOpen = "25001",
    /// COMMIT or ROLLBACK without a transaction.
    NoTransaction = "25P01",
    /// The memory limit is reached.
    Memory = "53200",
    /// Files, or other databases.
    Files = "58030",
    /// The statement ran past `bonnet.statement_timeout`.
    Timeout = "57014",
    /// A defect of the engine.
    Internal = "XX000",
}
