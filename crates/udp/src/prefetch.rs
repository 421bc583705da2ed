//! Prefetches memory that is needed soon.

/// Brings memory near where the processor can be asked to: from an address on, so many bytes.
pub(crate) fn prefetch(from: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..len).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint: no address is wrong, and nothing is read that anyone sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
    let _ = (from, len);
}
