//! The `bonnet` command.

/// Queries allocate much and on many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The time for which freed memory is kept for the next query, in milliseconds: the system clears what it has had back.
const KEPT_MS: i64 = 10_000;

fn main() -> std::process::ExitCode {
    /// `mi_option_purge_delay` of mimalloc.h; the bindings do not name it.
    const PURGE_DELAY: i32 = 15;
    // SAFETY: sets a number that the allocator reads; no other thread runs yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, KEPT_MS) };
    bonnetdb::cli::main()
}
