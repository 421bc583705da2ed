//! A lock-free ring between the mixing thread and the system's thread that asks for samples, with a change of
//! rate and
//! channels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A sample for each ear.
type Frame = [i16; 2];

/// Frames that are mixed ahead: 43 ms at 48 kHz. A power of two, so that the counters may wrap.
const SLOTS: usize = 2048;

/// One thread writes and one reads, without a lock: the system's thread must never wait.
struct Ring {
    /// Both samples of a frame in one word, so that a frame is never half written.
    slots: [AtomicU32; SLOTS],
    /// Frames written since the start; only the writer changes it.
    written: AtomicUsize,
    /// Frames read since the start; only the reader changes it.
    read: AtomicUsize,
}

/// The mixer's end.
pub(super) struct Writer(Arc<Ring>);

/// The system's end.
pub(super) struct Reader(Arc<Ring>);

/// An empty ring.
pub(super) fn ring() -> (Writer, Reader) {
    let ring = Arc::new(Ring {
        slots: [const { AtomicU32::new(0) }; SLOTS],
        written: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
    });
    (Writer(ring.clone()), Reader(ring))
}

impl Writer {
    /// Writes as many frames as there is room for; how many those were.
    pub(super) fn write(&mut self, frames: &[Frame]) -> usize {
        let ring = &*self.0;
        let written = ring.written.load(Ordering::Relaxed);
        // The reader is done with every slot before this.
        let read = ring.read.load(Ordering::Acquire);
        let room = SLOTS - written.wrapping_sub(read);
        let count = room.min(frames.len());
        for (offset, frame) in frames[..count].iter().enumerate() {
            let slot = written.wrapping_add(offset) % SLOTS;
            ring.slots[slot].store(pack(*frame), Ordering::Relaxed);
        }
        ring.written.store(written.wrapping_add(count), Ordering::Release);
        count
    }
}

impl Reader {
    fn read(&mut self) -> Option<Frame> {
        let ring = &*self.0;
        let read = ring.read.load(Ordering::Relaxed);
        if read == ring.written.load(Ordering::Acquire) {
            return None;
        }
        let frame = unpack(ring.slots[read % SLOTS].load(Ordering::Relaxed));
        ring.read.store(read.wrapping_add(1), Ordering::Release);
        Some(frame)
    }
}

fn pack([left, right]: Frame) -> u32 {
    u32::from(left.cast_unsigned()) << 16 | u32::from(right.cast_unsigned())
}

fn unpack(word: u32) -> Frame {
    [((word >> 16) as u16).cast_signed(), (word as u16).cast_signed()]
}

/// Fills what the system asks for from the ring, and with silence where the ring is empty.
pub(super) struct Feed {
    reader: Reader,
    /// Samples a second in the ring and at the device.
    rates: (u32, u32),
    channels: usize,
    /// The two frames around the next one to play, and where it lies between them, in parts of the
    /// device's rate.
    around: [Frame; 2],
    phase: u32,
}

impl Feed {
    pub(super) fn new(reader: Reader, rate: u32, device_rate: u32, channels: u16) -> Self {
        Feed {
            reader,
            rates: (rate, device_rate.max(1)),
            channels: usize::from(channels.max(1)),
            around: [[0; 2]; 2],
            phase: 0,
        }
    }

    /// Never waits and never allocates.
    pub(super) fn fill(&mut self, out: &mut [f32]) {
        for samples in out.chunks_mut(self.channels) {
            let [left, right] = self.next_frame().map(|it| f32::from(it) / 32_768.0);
            match samples {
                [] => {}
                [one] => *one = (left + right) / 2.0,
                // The first two are the ones in front on every system.
                [first, second, rest @ ..] => {
                    (*first, *second) = (left, right);
                    rest.fill(0.0);
                }
            }
        }
    }

    /// The next frame at the device's rate, on the line between its neighbours in the ring.
    fn next_frame(&mut self) -> Frame {
        let (rate, device_rate) = self.rates;
        let [before, after] = self.around;
        let part = |ear: usize| {
            let (from, to) = (i64::from(before[ear]), i64::from(after[ear]));
            (from + (to - from) * i64::from(self.phase) / i64::from(device_rate)) as i16
        };
        let frame = [part(0), part(1)];
        let mut phase = u64::from(self.phase) + u64::from(rate);
        while phase >= u64::from(device_rate) {
            phase -= u64::from(device_rate);
            self.around = [self.around[1], self.reader.read().unwrap_or_default()];
        }
        self.phase = phase as u32;
        frame
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What a device with this rate and these channels plays of the frames, `count` frames long.
    fn played(frames: &[Frame], device_rate: u32, channels: u16, count: usize) -> Vec<i32> {
        let (mut writer, reader) = ring();
        assert_eq!(writer.write(frames), frames.len());
        let mut out = vec![f32::NAN; count * usize::from(channels)];
        Feed::new(reader, 48_000, device_rate, channels).fill(&mut out);
        out.into_iter().map(|it| (it * 32_768.0).round() as i32).collect()
    }

    #[test]
    fn the_device_s_own_rate_plays_every_frame_as_it_is_and_then_silence() {
        // Two frames are silent before the first has a neighbour on both sides.
        let frames = [[1, -1], [i16::MAX, i16::MIN], [7, 8]];
        let expected = [0, 0, 0, 0, 1, -1, 32_767, -32_768, 7, 8, 0, 0];
        assert_eq!(played(&frames, 48_000, 2, 6), expected);
    }

    #[test]
    fn another_rate_keeps_the_pitch() {
        // A ramp of one step a frame climbs two frames' worth of it at half the rate, half at double.
        let ramp: Vec<Frame> = (0..100).map(|it| [it * 10, -it * 10]).collect();
        for (device_rate, step) in [(24_000, 20), (96_000, 5), (48_000, 10), (19_200, 25)] {
            let heard = played(&ramp, device_rate, 2, 35);
            let left: Vec<i32> = heard.iter().step_by(2).copied().skip(4).collect();
            assert!(left.windows(2).all(|it| it[1] - it[0] == step), "{device_rate}: {left:?}");
            assert!(heard.chunks(2).all(|it| it[0] == -it[1]), "{device_rate}: {heard:?}");
        }
    }

    #[test]
    fn a_second_of_sound_is_a_second_long_at_44_100() {
        let (mut writer, reader) = ring();
        let mut feed = Feed::new(reader, 48_000, 44_100, 2);
        let mut written = 0;
        for _ in 0..100 {
            written += writer.write(&[[1; 2]; SLOTS]);
            feed.fill(&mut [0.0; 441 * 2]);
        }
        assert_eq!(written + writer.write(&[[1; 2]; SLOTS]), 48_000 + SLOTS);
    }

    #[test]
    fn one_channel_hears_both_and_more_than_two_only_the_first_pair() {
        let frames = [[100, 300], [-100, -300]];
        assert_eq!(played(&frames, 48_000, 1, 5), [0, 0, 200, -200, 0]);
        let expected = [0, 0, 0, 0, 0, 0, 0, 0, 100, 300, 0, 0];
        assert_eq!(played(&frames, 48_000, 4, 3), expected);
    }

    #[test]
    fn a_full_ring_takes_no_more_until_something_is_read() {
        let (mut writer, mut reader) = ring();
        assert_eq!(writer.write(&[[5; 2]; SLOTS + 3]), SLOTS);
        assert_eq!(writer.write(&[[6; 2]]), 0);
        assert_eq!(reader.read(), Some([5; 2]));
        assert_eq!(writer.write(&[[7; 2]; 2]), 1);
        let rest: Vec<Frame> = std::iter::from_fn(|| reader.read()).collect();
        assert_eq!((rest.len(), rest[SLOTS - 2], rest[SLOTS - 1]), (SLOTS, [5; 2], [7; 2]));
    }

    #[test]
    fn two_threads_lose_nothing_and_swap_nothing() {
        const COUNT: u16 = 60_000;
        let (mut writer, mut reader) = ring();
        let frame = |number: u16| [number.cast_signed(), (!number).cast_signed()];
        let writing = thread::spawn(move || {
            let frames: Vec<Frame> = (0..COUNT).map(frame).collect();
            let mut left = &frames[..];
            while !left.is_empty() {
                left = &left[writer.write(left)..];
                thread::yield_now();
            }
        });
        for number in 0..COUNT {
            let read = loop {
                match reader.read() {
                    Some(read) => break read,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(read, frame(number));
        }
        writing.join().unwrap();
        assert_eq!(reader.read(), None);
    }
}
