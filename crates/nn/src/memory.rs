//! Buffers that grow once and then stay.

use crate::real::Real;

/// Buffers of at least this many bytes ask for huge pages: below, a page table has few entries anyway.
const LARGE: usize = 4 << 20;

/// `len` zeros in fresh memory. Large buffers lie on huge pages where the system allows it: rows that are gathered at
/// random then seldom miss the address cache.
pub(crate) fn zeros<T: Real>(len: usize) -> Vec<T> {
    let buffer = vec![T::ZERO; len];
    if std::mem::size_of_val(&buffer[..]) >= LARGE {
        prefer_huge_pages(&buffer);
    }
    buffer
}

/// Makes `buffer` hold `len` numbers; what they are does not matter. Allocates only when it grows.
pub(crate) fn ensure<T: Real>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    if buffer.len() < len {
        *buffer = zeros(len);
    }
    &mut buffer[..len]
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the system call takes an address")]
fn prefer_huge_pages<T>(buffer: &[T]) {
    const PAGE: usize = 4096;
    let start = buffer.as_ptr().addr().next_multiple_of(PAGE);
    let end = (buffer.as_ptr().addr() + std::mem::size_of_val(buffer)) / PAGE * PAGE;
    if let Some(len) = end.checked_sub(start) {
        let address = buffer.as_ptr().with_addr(start).cast_mut().cast();
        // SAFETY: the range lies inside the buffer, and the advice changes how memory is mapped, not what it holds. An
        // error means that there are no huge pages, and nothing is lost.
        let _ = unsafe { libc::madvise(address, len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages<T>(_buffer: &[T]) {}
