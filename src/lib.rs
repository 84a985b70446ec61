//! BonnetDB
