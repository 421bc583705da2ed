//! Mixes sounds that play at the same time.

use crate::screen::Cue;

/// The most sounds at once; a new one replaces the oldest.
const MAX_VOICES: usize = 16;

#[derive(Debug)]
pub(super) struct Mixer<'a> {
    voices: Vec<PlayingSound<'a>>,
    volume: f32,
}

#[derive(Debug)]
struct PlayingSound<'a> {
    cue: Cue,
    samples: &'a [f32],
    at: usize,
}

impl Default for Mixer<'_> {
    fn default() -> Self {
        Mixer { voices: Vec::with_capacity(MAX_VOICES), volume: 1.0 }
    }
}

impl<'a> Mixer<'a> {
    /// Begins a sound. Two of one kind at the same moment are one.
    pub(super) fn play(&mut self, samples: &'a [f32], cue: Cue) {
        if self.voices.iter().any(|voice| voice.cue == cue && voice.at == 0) {
            return;
        }
        if self.voices.len() == MAX_VOICES {
            self.voices.remove(0);
        }
        self.voices.push(PlayingSound { cue, samples, at: 0 });
    }

    pub(super) fn set_volume(&mut self, volume: f32) {
        self.volume = volume.clamp(0.0, 1.0);
    }

    pub(super) fn is_silent(&self) -> bool {
        self.voices.is_empty()
    }

    /// The next samples, for the left and the right ear.
    pub(super) fn mix(&mut self, out: &mut [[i16; 2]]) {
        for (i, frame) in out.iter_mut().enumerate() {
            let voices = self.voices.iter().filter_map(|voice| voice.samples.get(voice.at + i));
            let sum = voices.sum::<f32>() * self.volume;
            // Many at once grow softer towards the limit instead of being cut off.
            let soft = sum / (1.0 + sum.abs() * 0.35);
            let sample = (soft.clamp(-1.0, 1.0) * f32::from(i16::MAX)) as i16;
            *frame = [sample, sample];
        }
        self.voices.iter_mut().for_each(|voice| voice.at += out.len());
        self.voices.retain(|voice| voice.at < voice.samples.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: [f32; 1_000] = [0.5; 1_000];

    #[test]
    fn sounds_add_up_and_end() {
        let mut mixer = Mixer::default();
        let mut out = [[0; 2]; 600];
        mixer.play(&LONG, Cue::Shot);
        mixer.mix(&mut out);
        let one = out[0][0];
        assert!(one > 0 && out[0][1] == one);
        mixer.play(&LONG, Cue::Hit);
        mixer.mix(&mut out);
        assert!(out[0][0] > one);
        assert_eq!(out[599][0], one, "the first is over");
        mixer.mix(&mut out);
        assert!(mixer.is_silent());
        mixer.mix(&mut out);
        assert_eq!(out, [[0; 2]; 600]);
    }

    #[test]
    fn there_are_never_more_voices_than_the_limit_and_never_more_than_loud() {
        let mut mixer = Mixer::default();
        let mut out = [[0; 2]; 4];
        for i in 0..3 * MAX_VOICES {
            mixer.play(&[9.0; 1_000], Cue::ALL[i % Cue::ALL.len()]);
            mixer.mix(&mut out);
        }
        assert_eq!(mixer.voices.len(), MAX_VOICES);
        assert_eq!(out[0], [i16::MAX; 2]);
    }

    #[test]
    fn two_of_a_kind_at_one_moment_are_one_and_no_volume_is_silence() {
        let mut mixer = Mixer::default();
        mixer.play(&LONG, Cue::Explosion);
        mixer.play(&LONG, Cue::Explosion);
        assert_eq!(mixer.voices.len(), 1);
        mixer.set_volume(0.0);
        let mut out = [[1; 2]; 4];
        mixer.mix(&mut out);
        assert_eq!(out, [[0; 2]; 4]);
    }
}
