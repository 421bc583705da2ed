//! What a player sees meet is what the server judges: a client is played beside the rules, its own
//! things predicted from an old state, the rest drawn as it was.

mod play;

use std::collections::VecDeque;

use backspin::game::{Buttons, Frame, Game, PlayerId};
use backspin::replication::{Drawn, Entity, Fields, Motion, Prediction, State};
use backspin::typed::RawInput;
use backspin_rtype::{Opening, RType, schema};
use backspin_sim::Measured;
use play::Play;

const ME: PlayerId = PlayerId(1);

/// The newest state that the client has is so many ticks old: it predicts as many.
const LAG: usize = 12;

/// And it draws others so far back.
const BACK: f64 = 9.4;

/// A contact is the same if it was drawn and judged within half a second.
const SAME_TICKS: u32 = 30;

struct Client {
    prediction: Prediction<RType>,
    states: VecDeque<State>,
    held: VecDeque<RawInput>,
    frame: Frame,
}

impl Client {
    fn new(play: &Play) -> Self {
        let state = play.state();
        let prediction = Prediction::new(play.game.clone(), ME, &state);
        let (states, held) = (VecDeque::from([state]), VecDeque::new());
        Client { prediction, states, held, frame: Frame::default() }
    }

    /// Draws what is on the screen when the tick of `play` is made; the contacts in it.
    fn look(&mut self, play: &Play, buttons: Buttons) -> Vec<u64> {
        self.states.push_back(play.state());
        let input = RawInput::of(buttons);
        self.held.push_back(input);
        self.prediction.advance(input).count();
        if self.states.len() > LAG + 1 {
            self.states.pop_front();
            self.held.pop_front();
        }
        let known = &self.states[0];
        self.prediction.reconcile(known, self.held.iter().copied());
        assert_eq!(self.prediction.tick(), play.tick);
        let before = std::mem::take(&mut self.frame);
        self.draw(&play.game);
        let mut keys = Vec::new();
        play.game.drawn_contacts(&before, &self.frame, ME, &mut |contact| keys.push(contact.key));
        keys
    }

    fn draw(&mut self, game: &RType) {
        let values = |entity: &Entity| game.schema().kinds[usize::from(entity.kind)].values(entity);
        for entity in self.prediction.state().entities() {
            if game.is_ahead(entity, ME) {
                self.frame.entities.push(Drawn { entity: entity.clone(), fields: values(entity) });
            }
        }
        let drawn = self.states.len() as f64 - 1.0 - BACK;
        if drawn < 0.0 {
            return;
        }
        self.frame.drawn_tick = Some(f64::from(self.states[0].tick) + drawn);
        let (from, part) = (drawn as usize, drawn.fract() as f32);
        for entity in self.states[from].entities() {
            if game.is_ahead(entity, ME) {
                continue;
            }
            // What is gone in the next state moves on until then.
            let on = entity.extrapolate(game.schema(), 1);
            let next = self.states[from + 1].find(entity.id).unwrap_or(&on);
            let (a, b) = (values(entity), values(next));
            let kind = &game.schema().kinds[usize::from(entity.kind)];
            let fields =
                Fields::from_fn(kind.fields.len(), |index| match kind.fields[index].motion {
                    Motion::Along { .. } => a[index] + (b[index] - a[index]) * part,
                    _ => a[index],
                });
            self.frame.entities.push(Drawn { entity: next.clone(), fields });
        }
        self.frame.entities.sort_by_key(|drawn| drawn.entity.id);
    }
}

/// Contacts of one side: what and when, each once within a second.
#[derive(Default)]
struct Seen(Vec<(u64, u32)>);

impl Seen {
    fn note(&mut self, key: u64, tick: u32) {
        let again = |(k, t): &&mut (u64, u32)| *k == key && tick - *t < 60;
        if self.0.iter_mut().rev().find(again).is_none() {
            self.0.push((key, tick));
        }
    }

    fn without(&self, other: &Seen) -> Vec<(u64, u32)> {
        let is_there = |&(key, tick): &(u64, u32)| {
            other.0.iter().any(|&(k, t)| k == key && t.abs_diff(tick) <= SAME_TICKS)
        };
        self.0.iter().filter(|contact| !is_there(contact)).copied().collect()
    }
}

fn played(game: RType, seed: u64, ticks: u32) -> (Seen, Seen) {
    let mut play = Play::new(game, seed, 4);
    play.back = Some(BACK);
    let mut client = Client::new(&play);
    let (mut drawn, mut judged) = (Seen::default(), Seen::default());
    let mut mine = Buttons::default();
    for _ in 0..ticks {
        // Someone who thinks four times a second is hit more often.
        let thinks = play.tick.is_multiple_of(15);
        play.step(|game, world, player| {
            let held = game.bot_input(world, player).unwrap_or_default();
            if player != ME {
                return held;
            }
            mine = if thinks { held } else { mine };
            mine
        });
        for key in client.look(&play, mine) {
            drawn.note(key, play.tick);
        }
        let contacts = play.events.iter().filter_map(|event| play.game.judged_contact(event));
        for contact in contacts.filter(|contact| contact.player == Some(ME)) {
            judged.note(contact.key, play.tick);
        }
    }
    (drawn, judged)
}

#[test]
fn at_most_one_contact_in_a_hundred_is_drawn_otherwise_than_judged() {
    for (name, game) in [
        ("match", RType { opening: Opening::AtOnce, ..RType::default() }),
        ("swarm", RType { swarm: 64, ..RType::default() }),
    ] {
        let (mut contacts, mut disagreed) = (0, 0);
        for seed in 1..=4 {
            let (drawn, judged) = played(game.clone(), seed, 4_000);
            let (phantom, unseen) = (drawn.without(&judged), judged.without(&drawn));
            println!("{name} {seed}: only drawn {phantom:?}, only judged {unseen:?}");
            contacts += judged.0.len() + phantom.len();
            disagreed += phantom.len() + unseen.len();
        }
        println!("{name}: {disagreed} of {contacts}");
        assert!(contacts > 200, "{contacts}");
        assert!(100 * disagreed <= contacts, "{name}: {disagreed} of {contacts}");
    }
}

#[test]
fn a_new_shot_is_drawn_on_its_way_out_of_the_muzzle() {
    let game = RType { opening: Opening::AtOnce, ..RType::default() };
    let play = Play::new(game.clone(), 1, 1);
    let mut prediction = Prediction::new(game, ME, &play.state());
    prediction.advance(RawInput::of(Buttons::SHOOT)).count();
    let mut x = |fraction| {
        let mut found = None;
        prediction.draw(fraction, |entity, fields| {
            if entity.kind == schema::SHOT {
                found = Some(fields[0]);
            }
        });
        found.expect("it was fired")
    };
    // 16 px a tick.
    assert_eq!([0.0, 0.25, 0.75].map(|fraction| x(1.0) - x(fraction)), [16.0, 12.0, 4.0]);
}
