//! Memory limit of this process, and the part of the system that sets it.
//!
//! Linux tells it in text: what the computer has left, what the control group (version 2) leaves at every level,
//! and the limits of the shell. Where nothing is told, 16 GB are the limit.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use super::error::label;

/// The limit if the system reports none, in bytes.
const DEFAULT_LIMIT: u64 = 16_000_000_000;
/// Memory for everything else in the program, in bytes.
const RESERVE: u64 = 32_000_000;
/// Address space that a thread takes for its stack and for small allocations of its own, in bytes.
const THREAD: u64 = 68 << 20;
/// The smallest request, in bytes, that is checked.
const LEAST_CHECKED: u64 = 1 << 20;

/// Checks that this process, with `threads` more threads, can allocate `bytes` at once.
///
/// The system is asked for all of them together, which costs nothing as long as nothing is written there: what
/// is refused here would have ended the program later.
///
/// # Errors
/// What is needed, what there is, and who allows no more.
pub fn claim(bytes: u64, threads: usize) -> Result<(), String> {
    if bytes < LEAST_CHECKED && threads == 0 {
        return Ok(());
    }
    let (left, who) = limit(Path::new("/"), threads);
    let needed = amount(bytes);
    if bytes > left {
        let left = amount(left);
        return Err(format!("needs {needed}, more than the {left} that {who}"));
    }
    let mut all = Vec::<u8>::new();
    let asked = usize::try_from(bytes).map(|bytes| all.try_reserve_exact(bytes).is_ok());
    black_box(&all);
    if asked == Ok(true) {
        return Ok(());
    }
    Err(format!("needs {needed}, more than the system gives"))
}

/// An amount of memory, for people.
fn amount(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The least that anyone leaves, and who does, by the files below `root`.
fn limit(root: &Path, threads: usize) -> (u64, String) {
    let told = |file, words| number(&root.join(file), words);
    let left = |limit, taken, more| {
        let taken = told("proc/self/status", taken).unwrap_or(0);
        Some(told("proc/self/limits", limit)?.saturating_sub(taken + more))
    };
    let stacks = THREAD.saturating_mul(threads as u64);
    let free = told("proc/meminfo", "MemAvailable:");
    let space = left("Max address space", "VmSize:", stacks);
    let data = left("Max data size", "VmData:", 0);
    let all = [
        (free, "this computer has free"),
        (space, "`ulimit -v` leaves"),
        (data, "`ulimit -d` leaves"),
    ];
    let all = all.into_iter();
    let least = all
        .filter_map(|(bytes, who)| Some((bytes?, who.to_owned())))
        .chain(groups(root))
        .min();
    let (bytes, who) = least.unwrap_or((DEFAULT_LIMIT + RESERVE, "is the default".to_owned()));
    (bytes.saturating_sub(RESERVE), who)
}

/// What the control groups (version 2) of this process leave, and who does: the maximum of each, minus the memory
/// that it has taken and cannot give back.
fn groups(root: &Path) -> Vec<(u64, String)> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"));
    let top = root.join("sys/fs/cgroup");
    // In a container the path may be one of the host, which is not there: the top stands for it.
    let own = top.join(path.unwrap_or_default());
    let levels = own.ancestors().take_while(|level| level.starts_with(&top));
    let left = |level: &Path| {
        let file = level.join("memory.max");
        let taken = number(&level.join("memory.current"), "")?;
        let spare = number(&level.join("memory.stat"), "inactive_file ").unwrap_or(0);
        let bytes = number(&file, "")?.saturating_sub(taken.saturating_sub(spare));
        Some((bytes, format!("{} leaves", label(&file))))
    };
    levels.filter_map(left).collect()
}

/// The number behind the words that a line of a file begins with, where it is one; kilobytes in bytes.
fn number(file: &Path, words: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(words))?;
    let mut parts = line.split_whitespace();
    let number: u64 = parts.next()?.parse().ok()?;
    let unit = if parts.next() == Some("kB") { 1024 } else { 1 };
    Some(number.saturating_mul(unit))
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
        let (left, who) = limit(root.path(), 0);
        let top = format!("{}/", root.path().display());
        let text = format!("the {} that {}", amount(left), who.replace(&top, "/"));
        assert_eq!((left + RESERVE, text.as_str()), (bytes, said));
    }

    const MEMORY: (&str, &str) = (
        "proc/meminfo",
        "MemTotal: 9000000 kB\nMemAvailable:    2000000 kB\n",
    );

    #[test]
    fn the_smallest_limit_applies() {
        let said = "the 16.0 GB that is the default";
        leaves(&[], DEFAULT_LIMIT + RESERVE, said);
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
        let with = |threads| limit(root.path(), threads).0;
        assert_eq!(with(0) - with(4), 4 * THREAD);
    }

    #[test]
    fn impossible_amounts_are_refused_with_the_need() {
        let text = claim(u64::MAX / 2, 1).unwrap_err();
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
        assert_eq!(limit(root.path(), 16).0, 0);
    }
}
