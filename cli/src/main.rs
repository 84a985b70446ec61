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
    #[cfg(target_os = "linux")]
    without_huge_pages();
    on_the_threads_of_runs();
    bonnet_cli::main()
}

/// Runs of models are side by side on the engine's threads. Candle has threads of its own for what goes element by element: one pool a
/// process, which waits by spinning. Beside another program that took twice the processor's time, and half as long again.
fn on_the_threads_of_runs() {
    const THREADS: &str = "CANDLE_NUM_THREADS";
    if std::env::var_os(THREADS).is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var(THREADS, "1") };
    }
}

/// Most buffers of a query are larger than they are full, and of a huge page the system clears 2 MB at the first byte: with
/// pages of 4 kB a first query takes a fifth less time, joins too, and nothing was found that takes more.
#[cfg(target_os = "linux")]
fn without_huge_pages() {
    let (yes, unused): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: sets a flag of this process. Where the system does not know it, nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, yes, unused, unused, unused) };
}
