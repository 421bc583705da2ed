//! What is heard: tones made by code, played by a thread of their own; nothing where there is no
//! device.
//!
//! ```text
//! synth   -> a cue as samples
//! mixer   -> what sounds at once, as one stream
//! device  -> the system's loudspeaker
//! ```

mod device;
mod mixer;
mod synth;

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

/// What the thread is told.
enum Word {
    Play(Cue),
    /// From 0 to 1.
    Volume(f32),
}

/// The loudspeaker, if there is one.
pub(super) struct Sound {
    words: Sender<Word>,
    volume: f32,
}

impl Sound {
    /// Begins to listen. Without a device nothing is ever heard, and nobody is bothered.
    pub(super) fn start() -> Self {
        let (words, heard) = mpsc::channel();
        thread::spawn(move || {
            if let Some(device) = Device::open() {
                play(device, &heard);
            }
        });
        Sound { words, volume: 1.0 }
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
