//! The memory of the machine, against which what a kernel asks for is held where no limit is set.

use std::sync::LazyLock;

use bonnet_graph::Stopped;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool};

/// The bytes of memory that this process can have at most; `None` where that is not known: on other systems than Linux.
static MACHINE: LazyLock<Option<usize>> = LazyLock::new(|| {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").as_deref().and_then(total);
    // That of a container. A process that is in none has no such file, or 'max' in it.
    let container = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    [total, container].into_iter().flatten().min()
});

/// The total of Linux's `/proc/meminfo`, which is in kibibytes.
fn total(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

/// Fails for a function that holds some bytes of a pool without a limit and asks for more, if both together are more than the machine has:
/// it would be ended by the system while it works.
pub(crate) fn check(function: &str, pool: &dyn MemoryPool, held: usize, more: usize) -> Result<(), Stopped> {
    match (pool.memory_limit(), *MACHINE) {
        (MemoryLimit::Finite(_), _) | (_, None) => Ok(()),
        (_, Some(machine)) => within(function, machine, held, more),
    }
}

fn within(function: &str, machine: usize, held: usize, more: usize) -> Result<(), Stopped> {
    if held.saturating_add(more) <= machine {
        return Ok(());
    }
    Err(Stopped::OutOfMemory(format!(
        "{function}: it holds {held} bytes and asks for {more} more, and the machine has {machine}. Compute on fewer rows or columns"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::execution::memory_pool::{GreedyMemoryPool, UnboundedMemoryPool};

    #[test]
    fn the_total_is_read_from_its_line() {
        assert_eq!(total("MemTotal:       24680516 kB\nMemFree: 1 kB\n"), Some(24_680_516 * 1024));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert_eq!(total("MemTotal: many\n"), None);
    }

    #[test]
    fn more_than_the_machine_has_is_refused_where_no_limit_is_set() {
        assert!(within("f", 100, 40, 60).is_ok());
        let text = within("f", 100, 41, 60).unwrap_err().to_string();
        assert!(text.starts_with("f: it holds 41 bytes and asks for 60 more, and the machine has 100"), "{text}");
        assert!(within("f", usize::MAX - 1, 7, usize::MAX - 1).is_err());
        // A limit is whoever sets it's.
        assert!(check("f", &GreedyMemoryPool::new(10), 0, usize::MAX).is_ok());
        assert!(check("f", &UnboundedMemoryPool::default(), 0, 1).is_ok());
        assert_eq!(check("f", &UnboundedMemoryPool::default(), 0, usize::MAX).is_err(), MACHINE.is_some());
    }
}
