//! Memory limit of this process, and the part of the system that sets it.
//!
//! Linux tells it in text: what the computer has left, what the control group (version 2) leaves at every level,
//! and the limits of the shell. Where nothing is told, 16 GB are the limit.

use std::fmt;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use super::label;

/// The limit if the system reports none, in bytes.
const DEFAULT_LIMIT: u64 = 16_000_000_000;
/// Memory for everything else in the program, in bytes.
const RESERVE: u64 = 32_000_000;
/// Address space that a thread takes for its stack and for small allocations of its own, in bytes.
const THREAD: u64 = 68 << 20;
/// The smallest request, in bytes, that is checked.
const LEAST_CHECKED: u64 = 1 << 20;

/// The memory that is still available.
struct MemoryLimit {
    bytes: u64,
    /// The part of the system that sets the limit, as text; empty if nothing does.
    who: String,
}

/// The error for a request of more memory than available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs {}, more than {most}", amount(*.needed))]
pub struct MemoryShortage {
    needed: u64,
    most: String,
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = amount(self.bytes);
        match self.who.as_str() {
            "" => f.write_str(&most),
            who => write!(f, "the {most} that {who}"),
        }
    }
}

/// An amount of memory, for people.
fn amount(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Checks that no limit forbids this process to allocate `bytes`.
///
/// # Errors
/// What is needed, what there is, and who allows no more.
pub fn check(bytes: u64) -> Result<(), MemoryShortage> {
    within(bytes, 0)
}

fn within(bytes: u64, threads: usize) -> Result<(), MemoryShortage> {
    if bytes < LEAST_CHECKED && threads == 0 {
        return Ok(());
    }
    let limit = limit(Path::new("/"), threads);
    if bytes <= limit.bytes {
        return Ok(());
    }
    Err(MemoryShortage {
        needed: bytes,
        most: limit.to_string(),
    })
}

/// Checks that this process, with `threads` more threads, can allocate `bytes` at once.
///
/// The system is asked for all of them together, which costs nothing as long as nothing is written there: what
/// is refused here would have ended the program later.
///
/// # Errors
/// As for [`check`].
pub fn claim(bytes: u64, threads: usize) -> Result<(), MemoryShortage> {
    within(bytes, threads)?;
    let mut all = Vec::<u8>::new();
    let asked = usize::try_from(bytes).map(|bytes| all.try_reserve_exact(bytes).is_ok());
    black_box(&all);
    if asked == Ok(true) {
        return Ok(());
    }
    Err(MemoryShortage {
        needed: bytes,
        most: "the system gives".to_owned(),
    })
}

/// The least that anyone leaves, by the files below `root`.
fn limit(root: &Path, threads: usize) -> MemoryLimit {
    let limits = fs::read_to_string(root.join("proc/self/limits")).unwrap_or_default();
    let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let memory = fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    let taken = |key| kilobytes(&status, key).unwrap_or(0);
    let stacks = THREAD.saturating_mul(threads as u64);
    let left = |most: Option<u64>, taken| most.map(|most: u64| most.saturating_sub(taken));
    let space = left(
        number_behind(&limits, "Max address space"),
        taken("VmSize:") + stacks,
    );
    let data = left(number_behind(&limits, "Max data size"), taken("VmData:"));
    let of = |bytes: Option<u64>, who: &str| {
        let who = who.to_owned();
        bytes.map(|bytes| MemoryLimit { bytes, who })
    };
    let told = groups(root)
        .into_iter()
        .chain(of(
            kilobytes(&memory, "MemAvailable:"),
            "this computer has free",
        ))
        .chain(of(space, "`ulimit -v` leaves"))
        .chain(of(data, "`ulimit -d` leaves"));
    let mut least = told.min_by_key(|limit| limit.bytes).unwrap_or(MemoryLimit {
        bytes: DEFAULT_LIMIT + RESERVE,
        who: String::new(),
    });
    least.bytes = least.bytes.saturating_sub(RESERVE);
    least
}

/// Returns the limits of the control groups (version 2) of this process.
fn groups(root: &Path) -> Vec<MemoryLimit> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Vec::new();
    };
    let top = root.join("sys/fs/cgroup");
    // In a container the path may be one of the host, which is not there: the top stands for it.
    let own = top.join(path);
    let levels = own.ancestors().take_while(|level| level.starts_with(&top));
    levels.filter_map(group).collect()
}

/// Returns the limit of a group: its maximum, minus the memory that it has taken and cannot give back.
fn group(folder: &Path) -> Option<MemoryLimit> {
    let file = folder.join("memory.max");
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let (most, taken) = (number(&file)?, number(&folder.join("memory.current"))?);
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let spare = number_behind(&statistics, "inactive_file ").unwrap_or(0);
    Some(MemoryLimit {
        bytes: most.saturating_sub(taken.saturating_sub(spare)),
        who: format!("{} leaves", label(&file)),
    })
}

/// The number behind the words that a line begins with, where it is one.
fn number_behind(text: &str, words: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(words))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Reads kilobytes, like [`number_behind`].
fn kilobytes(text: &str, words: &str) -> Option<u64> {
    Some(number_behind(text, words)?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with these files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        root
    }

    /// Asserts that these files leave `bytes`, and that the message is `said`.
    fn leaves(files: &[(&str, &str)], bytes: u64, said: &str) {
        let root = system(files);
        let limit = limit(root.path(), 0);
        let top = format!("{}/", root.path().display());
        let text = limit.to_string().replace(&top, "/");
        assert_eq!((limit.bytes + RESERVE, text.as_str()), (bytes, said));
    }

    const MEMORY: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9000000 kB\nMemAvailable:    2000000 kB\n",
    );

    #[test]
    fn the_smallest_limit_applies() {
        leaves(&[], DEFAULT_LIMIT + RESERVE, "16.0 GB");
        let said = "the 2.0 GB that this computer has free";
        leaves(&[MEMORY], 2_000_000 * 1024, said);
        let status = (
            "proc/self/status",
            "VmSize:\t   50000 kB\nVmData:\t   10000 kB\n",
        );
        let space = "Max data size  unlimited  unlimited  bytes\nMax address space  1024000000  unlimited  bytes\n";
        let files = [MEMORY, status, ("proc/self/limits", space)];
        let said = "the 941 MB that `ulimit -v` leaves";
        leaves(&files, 1_024_000_000 - 50_000 * 1024, said);
        let data = "Max data size  512000000  unlimited  bytes\nMax address space  1024000000  unlimited  bytes\n";
        let files = [MEMORY, status, ("proc/self/limits", data)];
        let said = "the 470 MB that `ulimit -d` leaves";
        leaves(&files, 512_000_000 - 10_000 * 1024, said);
    }

    #[test]
    fn every_control_group_up_to_the_root_is_read() {
        let all = [
            MEMORY,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "300000000\n"),
            ("sys/fs/cgroup/a/memory.max", "1000000000\n"),
            ("sys/fs/cgroup/a/memory.current", "700000000\n"),
            (
                "sys/fs/cgroup/a/memory.stat",
                "anon 5\nactive_file 7\ninactive_file 100000000\n",
            ),
        ];
        let said = "the 368 MB that /sys/fs/cgroup/a/memory.max leaves";
        leaves(&all, 400_000_000, said);
    }

    #[test]
    fn threads_take_address_space() {
        let space = "Max address space  1024000000  unlimited  bytes\n";
        let root = system(&[("proc/self/limits", space)]);
        let with = |threads| limit(root.path(), threads).bytes;
        assert_eq!(with(0) - with(4), 4 * THREAD);
    }

    #[test]
    fn impossible_amounts_are_refused_with_the_need() {
        let short = claim(u64::MAX / 2, 1).unwrap_err();
        let text = short.to_string();
        assert!(
            text.starts_with("needs 9223372036.9 GB, more than "),
            "{text}"
        );
        assert_eq!(claim(2_000_000, 1), Ok(()));
        // Few bytes may still need many threads.
        let root = system(&[(
            "proc/self/limits",
            "Max address space  1024000000  unlimited  bytes\n",
        )]);
        assert_eq!(limit(root.path(), 16).bytes, 0);
    }
}
