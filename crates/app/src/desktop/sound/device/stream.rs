//! Windows and macOS: a system thread asks for samples and takes them from a ring.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{Error, ErrorKind};

use super::super::RATE;
use super::Gone;
use super::feed::{Feed, Writer, ring};

/// How long the mixer sleeps when the ring is full, which holds eight times as much.
const NAP: Duration = Duration::from_millis(5);

/// A device that has taken nothing for this long is dead.
const PATIENCE: Duration = Duration::from_secs(2);

/// A loudspeaker.
///
/// Its stream runs for as long as this is kept, and plays silence between sounds: to stop and start
/// it would make each first sound late.
pub(in super::super) struct Device {
    writer: Writer,
    /// Set when the stream has ended: its device was unplugged, or its format was changed.
    ended: Arc<AtomicBool>,
    _stream: cpal::Stream,
}

impl Device {
    /// `None` where there is no device.
    pub(in super::super) fn open() -> Option<Self> {
        let device = cpal::default_host().default_output_device()?;
        let config = device.default_output_config().ok()?.config();
        let (writer, reader) = ring();
        let mut feed = Feed::new(reader, RATE, config.sample_rate, config.channels);
        let ended = Arc::new(AtomicBool::new(false));
        let noted = ended.clone();
        // Both systems mix in `f32`, and convert from it where the device has another format.
        let stream = device
            .build_output_stream(
                config,
                move |out: &mut [f32], _| feed.fill(out),
                move |error| {
                    if ends(&error) {
                        noted.store(true, Ordering::Relaxed);
                    }
                },
                Some(PATIENCE),
            )
            .ok()?;
        stream.play().ok()?;
        Some(Device { writer, ended, _stream: stream })
    }

    /// Waits until there is room, and plays what is given; drops it when the stream has ended.
    pub(in super::super) fn write(&mut self, frames: &[[i16; 2]]) -> Result<(), Gone> {
        let mut left = frames;
        let mut waited = Duration::ZERO;
        while !self.ended.load(Ordering::Relaxed) {
            let written = self.writer.write(left);
            left = &left[written..];
            if left.is_empty() {
                break;
            }
            if written > 0 {
                waited = Duration::ZERO;
            }
            if waited >= PATIENCE {
                self.ended.store(true, Ordering::Relaxed);
            }
            thread::sleep(NAP);
            waited += NAP;
        }
        Ok(())
    }

    /// Sound follows: on another device, if the one before is gone.
    pub(in super::super) fn wake(&mut self) -> Result<(), Gone> {
        if self.ended.load(Ordering::Relaxed) {
            *self = Device::open().ok_or(Gone)?;
        }
        Ok(())
    }

    /// The ring empties by itself.
    pub(in super::super) fn rest(&mut self) -> Result<(), Gone> {
        Ok(())
    }
}

/// Whether a stream is over after this.
fn ends(error: &Error) -> bool {
    !matches!(
        error.kind(),
        // It plays on, elsewhere or with a gap.
        ErrorKind::DeviceChanged | ErrorKind::RealtimeDenied | ErrorKind::Xrun
    )
}
