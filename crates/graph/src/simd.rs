//! Runs a kernel with the widest vector instructions of the machine, found at run time.
//!
//! Kernels are plain generic loops with explicit `mul_add` and a fixed order of summation. Compiled once per
//! instruction set (AVX-512, AVX2 + FMA, NEON, portable), they round alike everywhere: a fused multiply-add
//! gives the same bits in any vector width, and in the portable version in software. So the choice of
//! instructions changes the speed and never the result. To see that, `EDGEPACE_SIMD=off` in the environment, read once, makes
//! every kernel run its portable version.

use std::sync::LazyLock;

/// The instruction set that kernels run with.
static INSTRUCTIONS: LazyLock<pulp::Arch> = LazyLock::new(|| {
    let off = std::env::var_os("EDGEPACE_SIMD").is_some_and(|value| value == "off");
    if off { pulp::Arch::Scalar } else { pulp::Arch::new() }
});

/// Calls `kernel` compiled for the instruction set of this machine.
///
/// Whatever `kernel` calls must be `#[inline(always)]`, or it is compiled without those instructions.
#[inline(always)]
pub fn with_simd<R>(kernel: impl FnOnce() -> R) -> R {
    INSTRUCTIONS.dispatch(kernel)
}

/// Asks the cache for the bytes of `row`, which will be read soon. A hint: it never faults, and does nothing
/// where there is no such instruction.
#[inline(always)]
#[allow(unsafe_code, reason = "a prefetch is a hint that reads nothing")]
pub fn prefetch<T>(row: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        const LINE: usize = 64;
        let bytes = std::mem::size_of_val(row);
        let start = row.as_ptr().cast::<i8>();
        let mut at = 0;
        while at < bytes {
            // SAFETY: `at` is below the length of `row` in bytes, so the address lies inside the slice.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(start.add(at));
            }
            at += LINE;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Runs itself again in a process with the variable set.
    #[test]
    fn the_environment_switches_vector_instructions_off() {
        if std::env::var_os("EDGEPACE_SIMD").is_some_and(|value| value == "off") {
            assert!(matches!(*INSTRUCTIONS, pulp::Arch::Scalar));
            return;
        }
        let name = "simd::tests::the_environment_switches_vector_instructions_off";
        let mut again = Command::new(std::env::current_exe().unwrap());
        let output = again.args(["--exact", name]).env("EDGEPACE_SIMD", "off").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
