//! The system's sound output, one module per system with the same four calls.
//!
//! ```text
//! alsa    -> Linux: the library is loaded at run time and not needed to build
//! stream  -> Windows (WASAPI) and macOS (CoreAudio), by cpal
//! feed    -> the ring of `stream` between the mixer and the system's thread, pure
//! none    -> elsewhere: no sound
//! ```

#[cfg(target_os = "linux")]
mod alsa;
#[cfg(any(windows, target_os = "macos", test))]
mod feed;
#[cfg(not(any(target_os = "linux", windows, target_os = "macos")))]
mod none;
#[cfg(any(windows, target_os = "macos"))]
mod stream;

#[cfg(target_os = "linux")]
pub(super) use alsa::Device;
#[cfg(not(any(target_os = "linux", windows, target_os = "macos")))]
pub(super) use none::Device;
#[cfg(any(windows, target_os = "macos"))]
pub(super) use stream::Device;

/// The device has failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;
