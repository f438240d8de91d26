//! How much memory the process has needed, and how much more there is.

/// The largest resident memory of the process so far; none where the system does not tell.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The memory that the process may still take; none where the system does not tell. A limit of a container counts.
pub fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let number = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    // Without a limit the first file says `max`, which is no number.
    let of_container = number("/sys/fs/cgroup/memory.max")
        .and_then(|limit| Some(limit.saturating_sub(number("/sys/fs/cgroup/memory.current")?)));
    Some(of_container.unwrap_or(u64::MAX).min(kilobytes * 1024))
}
