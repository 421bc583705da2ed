//! The system's loudspeaker, with one module for each way to it and the same four calls in each.
//!
//! ```text
//! alsa    -> Linux: the library is loaded at run time and not needed to build
//! stream  -> Windows (WASAPI) and macOS (CoreAudio), by cpal
//! feed    -> what `stream` has between the mixer and the system's thread, pure
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
