//! Pipes, devices and sockets, which are no files of rows: each file is read more than once, and some of them never end.

use std::path::Path;

use datafusion::common::Result;

use super::file_fault::fault;

/// The path, or the file that a path like `/dev/stdin` stands for.
///
/// # Errors
/// If it is a pipe, a device or a socket.
pub fn check_special(path: &str) -> Result<String> {
    let Ok(data) = Path::new(path).metadata() else { return Ok(path.to_owned()) };
    if let Some(what) = special(&data) {
        return Err(fault(Path::new(path), what));
    }
    // A link there stands for a file that was opened, `< rows.csv`.
    let real = path.starts_with("/dev/").then(|| std::fs::canonicalize(path).ok()).flatten();
    Ok(real.map_or_else(|| path.to_owned(), |real| real.to_string_lossy().into_owned()))
}

#[cfg(unix)]
fn special(data: &std::fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kind = data.file_type();
    if kind.is_fifo() {
        return Some(
            "is a pipe, and files are read more than once: write it to a file first, cat > rows.csv, and read that",
        );
    }
    if kind.is_char_device() || kind.is_block_device() {
        return Some("is a device, not a file");
    }
    kind.is_socket().then_some("is a socket, not a file")
}

#[cfg(not(unix))]
fn special(_: &std::fs::Metadata) -> Option<&'static str> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_and_pipes_are_no_files() {
        let error = |path: &str| check_special(path).unwrap_err().strip_backtrace();
        assert!(error("/dev/zero").contains("'/dev/zero' is a device"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success() && error(path.to_str().unwrap()).contains("is a pipe"));
        assert_eq!(check_special("/no/such.csv").unwrap(), "/no/such.csv");
        assert_eq!(check_special("/dev").unwrap(), "/dev");
    }
}
