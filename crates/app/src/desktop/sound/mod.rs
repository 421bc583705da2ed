//! Sound effects: tones made by code, played by a thread. If no device can be opened, the game says so once
//! and is silent.
//!
//! ```text
//! synth   -> a cue as samples
//! mixer   -> mixes sounds that play at the same time
//! device  -> the system's sound output
//! ```

mod device;
mod mixer;
mod synth;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::screen::Cue;
use device::Device;
use mixer::Mixer;
use synth::Bank;

/// Samples a second.
const RATE: u32 = 48_000;

/// Samples that are made at once: a hundredth of a second.
const PERIOD: usize = RATE as usize / 100;

/// Messages to the thread.
enum Word {
    Play(Cue),
    /// From 0 to 1.
    Volume(f32),
}

/// The loudspeaker, if there is one.
pub(super) struct Sound {
    words: Sender<Word>,
    volume: f32,
    /// No device has opened.
    is_missing: Arc<AtomicBool>,
}

impl Sound {
    /// Begins to listen.
    pub(super) fn start() -> Self {
        let (words, heard) = mpsc::channel();
        let is_missing = Arc::new(AtomicBool::new(false));
        let missing = Arc::clone(&is_missing);
        thread::spawn(move || match Device::open() {
            Some(device) => play(device, &heard),
            None => {
                missing.store(true, Ordering::Relaxed);
                if is_wanted(&heard) {
                    eprintln!("backspin: no sound device could be opened; playing without sound");
                }
            }
        });
        Sound { words, volume: 1.0, is_missing }
    }

    /// Whether no device has opened.
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing.load(Ordering::Relaxed)
    }

    pub(super) fn play(&self, cue: Cue) {
        // A thread that has ended has no device.
        if self.volume > 0.0 {
            let _ = self.words.send(Word::Play(cue));
        }
    }

    /// From 0 to 1.
    pub(super) fn set_volume(&mut self, volume: f32) {
        if self.volume != volume {
            self.volume = volume;
            let _ = self.words.send(Word::Volume(volume));
        }
    }
}

/// Waits until something is to be heard, which is never so at volume 0. Whether it is before nobody
/// is there to tell.
fn is_wanted(heard: &Receiver<Word>) -> bool {
    heard.iter().any(|word| matches!(word, Word::Play(_)))
}

/// Plays what it is told until nobody is there to tell, or the device is gone.
fn play(mut device: Device, heard: &Receiver<Word>) {
    let bank = Bank::new();
    let mut mixer = Mixer::default();
    let mut period = [[0i16; 2]; PERIOD];
    // Where nothing sounds nothing is done.
    while let Ok(word) = heard.recv() {
        tell(word, &bank, &mut mixer);
        if mixer.is_silent() {
            continue;
        }
        if device.wake().is_err() {
            return;
        }
        while !mixer.is_silent() {
            heard.try_iter().for_each(|word| tell(word, &bank, &mut mixer));
            mixer.mix(&mut period);
            if device.write(&period).is_err() {
                return;
            }
        }
        if device.rest().is_err() {
            return;
        }
    }
}

fn tell<'a>(word: Word, bank: &'a Bank, mixer: &mut Mixer<'a>) {
    match word {
        Word::Play(cue) => mixer.play(bank.of(cue), cue),
        Word::Volume(volume) => mixer.set_volume(volume),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_is_missed_when_there_is_something_to_hear_and_not_before() {
        let told = |words: Vec<Word>| {
            let (to, heard) = mpsc::channel();
            words.into_iter().for_each(|word| to.send(word).unwrap());
            drop(to);
            is_wanted(&heard)
        };
        assert!(!told(vec![]));
        assert!(!told(vec![Word::Volume(0.6), Word::Volume(0.0)]));
        assert!(told(vec![Word::Volume(0.6), Word::Play(Cue::Choose)]));
    }
}
