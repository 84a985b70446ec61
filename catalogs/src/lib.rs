//! Where tables come from and go to: attached datasets and the system schema.
