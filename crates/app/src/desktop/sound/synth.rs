//! A cue as samples: a few waves that slide and fade, and noise.

use std::f32::consts::TAU;

use super::RATE;
use crate::screen::Cue;

/// How a tone sounds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wave {
    Sine,
    Square,
    Saw,
    /// Hiss, the lower the frequency the duller.
    Noise,
}

/// A tone from one frequency to another.
#[derive(Clone, Copy, Debug)]
struct Tone {
    wave: Wave,
    /// In Hz, at its begin and at its end.
    from: f32,
    to: f32,
    /// When it begins and how long it is, in seconds.
    after: f32,
    long: f32,
    loud: f32,
}

const fn tone(wave: Wave, from: f32, to: f32, after: f32, long: f32, loud: f32) -> Tone {
    Tone { wave, from, to, after, long, loud }
}

/// What a cue is made of.
fn tones(cue: Cue) -> Vec<Tone> {
    use Wave::{Noise, Saw, Sine, Square};
    match cue {
        Cue::Move => vec![tone(Square, 520.0, 520.0, 0.0, 0.04, 0.12)],
        Cue::Choose => vec![
            tone(Square, 520.0, 520.0, 0.0, 0.05, 0.16),
            tone(Square, 780.0, 780.0, 0.05, 0.09, 0.16),
        ],
        Cue::Countdown => vec![tone(Sine, 440.0, 440.0, 0.0, 0.18, 0.4)],
        Cue::Paddle => vec![
            tone(Square, 330.0, 290.0, 0.0, 0.08, 0.26),
            tone(Noise, 2_400.0, 900.0, 0.0, 0.03, 0.2),
        ],
        Cue::Wall => vec![tone(Square, 210.0, 190.0, 0.0, 0.06, 0.2)],
        Cue::Point => {
            vec![
                tone(Saw, 300.0, 90.0, 0.0, 0.42, 0.26),
                tone(Noise, 1_600.0, 200.0, 0.0, 0.3, 0.25),
            ]
        }
        Cue::Win => vec![
            tone(Square, 523.0, 523.0, 0.0, 0.14, 0.2),
            tone(Square, 659.0, 659.0, 0.13, 0.14, 0.2),
            tone(Square, 784.0, 784.0, 0.26, 0.14, 0.2),
            tone(Square, 1_047.0, 1_047.0, 0.39, 0.42, 0.22),
            tone(Sine, 523.0, 523.0, 0.39, 0.5, 0.25),
        ],
        Cue::Lose => vec![
            tone(Saw, 392.0, 392.0, 0.0, 0.2, 0.18),
            tone(Saw, 330.0, 330.0, 0.2, 0.2, 0.18),
            tone(Saw, 262.0, 196.0, 0.4, 0.6, 0.2),
        ],
        Cue::Shot => vec![tone(Square, 1_250.0, 420.0, 0.0, 0.09, 0.11)],
        Cue::HeavyShot => {
            vec![
                tone(Saw, 900.0, 120.0, 0.0, 0.34, 0.24),
                tone(Noise, 3_000.0, 500.0, 0.0, 0.22, 0.2),
            ]
        }
        Cue::Hit => vec![tone(Noise, 3_600.0, 1_500.0, 0.0, 0.05, 0.2)],
        Cue::Explosion => {
            vec![
                tone(Noise, 1_500.0, 90.0, 0.0, 0.42, 0.42),
                tone(Sine, 130.0, 40.0, 0.0, 0.3, 0.35),
            ]
        }
        Cue::PowerUp => vec![
            tone(Sine, 660.0, 660.0, 0.0, 0.08, 0.3),
            tone(Sine, 880.0, 880.0, 0.07, 0.08, 0.3),
            tone(Sine, 1_320.0, 1_320.0, 0.14, 0.2, 0.3),
        ],
        Cue::Hurt => {
            vec![tone(Noise, 2_200.0, 120.0, 0.0, 0.7, 0.4), tone(Saw, 220.0, 45.0, 0.0, 0.7, 0.28)]
        }
        Cue::Boss => vec![
            tone(Saw, 98.0, 98.0, 0.0, 0.34, 0.3),
            tone(Saw, 104.0, 104.0, 0.42, 0.34, 0.3),
            tone(Saw, 98.0, 74.0, 0.84, 0.7, 0.34),
        ],
        Cue::Chat => vec![tone(Sine, 990.0, 1_320.0, 0.0, 0.09, 0.2)],
    }
}

/// Every cue, ready to be played.
pub(super) struct Bank {
    sounds: Vec<Vec<f32>>,
}

impl Bank {
    pub(super) fn new() -> Self {
        Bank { sounds: Cue::ALL.into_iter().map(|cue| samples(&tones(cue))).collect() }
    }

    pub(super) fn of(&self, cue: Cue) -> &[f32] {
        let place = Cue::ALL.into_iter().position(|it| it == cue);
        place.and_then(|place| self.sounds.get(place)).map_or(&[], Vec::as_slice)
    }
}

fn samples(tones: &[Tone]) -> Vec<f32> {
    let end = tones.iter().map(|tone| tone.after + tone.long).fold(0.0, f32::max);
    let mut out = vec![0.0; (end * RATE as f32).ceil() as usize];
    for tone in tones {
        let first = (tone.after * RATE as f32) as usize;
        let count = (tone.long * RATE as f32) as usize;
        let (mut turn, mut hiss, mut bits) = (0.0_f32, 0.0_f32, 0x1234_5678_u32);
        for (i, sample) in out.iter_mut().skip(first).take(count).enumerate() {
            let part = i as f32 / count.max(1) as f32;
            let pitch = tone.from * (tone.to / tone.from).powf(part);
            let step = pitch / RATE as f32;
            turn = (turn + step).fract();
            let value = match tone.wave {
                Wave::Sine => (turn * TAU).sin(),
                Wave::Square => (turn - 0.5).signum() * 0.8,
                Wave::Saw => turn * 2.0 - 1.0,
                Wave::Noise => {
                    bits ^= bits << 13;
                    bits ^= bits >> 17;
                    bits ^= bits << 5;
                    let white = bits as f32 / u32::MAX as f32 * 2.0 - 1.0;
                    // A filter of one pole: what is faster than the pitch is lost.
                    hiss += (white - hiss) * (step * TAU).min(1.0);
                    hiss * 2.5
                }
            };
            // No click at either end.
            let rise = (i as f32 / (0.002 * RATE as f32)).min(1.0);
            let fall = (1.0 - part).powi(2);
            *sample += value * tone.loud * rise * fall;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cue_is_heard_short_and_ends_in_silence() {
        let bank = Bank::new();
        for cue in Cue::ALL {
            let sound = bank.of(cue);
            let seconds = sound.len() as f32 / RATE as f32;
            assert!((0.03..2.0).contains(&seconds), "{cue:?}: {seconds} s");
            let peak = sound.iter().fold(0.0_f32, |peak, it| peak.max(it.abs()));
            assert!((0.05..1.0).contains(&peak), "{cue:?}: {peak}");
            assert!(sound.last().is_some_and(|it| it.abs() < 0.01), "{cue:?}");
        }
    }

    #[test]
    fn a_tone_has_the_pitch_it_is_to_have() {
        let sound = samples(&[tone(Wave::Sine, 440.0, 440.0, 0.0, 1.0, 0.5)]);
        let rises = sound.windows(2).filter(|it| it[0] <= 0.0 && it[1] > 0.0).count();
        assert!((438..=442).contains(&rises), "{rises}");
    }
}
