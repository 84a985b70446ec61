//! The command line: scripts, the prompt, output formats and progress.
