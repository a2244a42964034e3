//! Properties of this process, from the system.

use std::fs;

/// Returns whether this process ignores a signal, as under `nohup`; `None` if the system does not tell.
pub fn ignores(signal: i32) -> Option<bool> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    is_in(&status, signal)
}

fn is_in(status: &str, signal: i32) -> Option<bool> {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    let bit = u32::try_from(signal).ok()?.checked_sub(1)?;
    Some(mask.checked_shr(bit)? & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::is_in;

    #[test]
    fn signals_are_counted_from_one() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n";
        assert_eq!(is_in(status, 1), Some(true));
        assert_eq!(is_in(status, 2), Some(false));
        assert_eq!(is_in(status, 13), Some(true));
        assert_eq!(is_in(status, 0), None);
        assert_eq!(is_in("Name:\tx\n", 1), None);
    }
}
