//! How good the connection is: from a client or, for a host, from the other player.

use std::collections::VecDeque;
use std::time::Duration;

use backspin::channel::{Fate, Pending, Timeline};
use backspin::client::Client;
use backspin::game::Game;
use backspin::room::MemberCard;
use backspin::session::Grade;
use backspin::time::Time;

use super::{Cell, Figure, Overlay, Tone, ping_tone};

/// How often a sample is taken.
const EVERY: Duration = Duration::from_millis(250);

/// How many are kept: ten seconds.
const KEPT: usize = 40;

/// How many samples are a second.
const SECOND: usize = 4;

/// More loss than this is worth a sign.
const MUCH_LOSS: f64 = 0.05;

/// What is known at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    ping: Option<Duration>,
    /// The shortest, the mean of all, and the longest.
    range: Option<[Duration; 3]>,
    jitter: Option<Duration>,
    loss: Option<f64>,
    /// The share of inputs that the server did not have in time: document 004's
    /// `packet_loss_rate`.
    input_loss: Option<f64>,
    lead_ms: Option<f64>,
    delay: Option<Duration>,
    corrections: Option<u64>,
    pending: Option<usize>,
    bytes: Option<(u64, u64)>,
    inputs: Vec<(u32, Fate)>,
    acks: Vec<u32>,
    /// Whether the other end is a guest of ours, of whom less is known.
    is_hosts: bool,
}

impl Reading {
    /// As a guest knows it.
    pub(super) fn of_client<G: Game>(now: Time, client: &Client<G>) -> Self {
        let tick_ms = 1e3 / f64::from(client.game().tick_rate());
        let lead = client.ahead_tick(now).zip(client.server_tick_at(now));
        let counts = client.counts();
        Reading {
            ping: client.round_trip().mean(),
            range: client.round_trip().range(),
            jitter: client.round_trip().jitter(),
            loss: client.loss(),
            input_loss: client.pending().map(|pending| pending.counts().loss()),
            lead_ms: lead.map(|(ahead, server)| (ahead - server) * tick_ms),
            delay: client.delay().map(|delay| delay.total),
            corrections: client.corrections(),
            pending: client.pending().map(Pending::len),
            bytes: Some((counts.bytes_in, counts.bytes_out)),
            inputs: client.timeline().into_iter().flat_map(Timeline::inputs).collect(),
            acks: client.timeline().into_iter().flat_map(Timeline::acks).collect(),
            is_hosts: false,
        }
    }

    /// The host's view of the other player.
    pub(super) fn of_member(card: &MemberCard) -> Self {
        Reading {
            ping: card.rtt,
            range: card.rtt_range,
            jitter: card.jitter,
            loss: card.loss,
            // The old dialects number no ticks.
            input_loss: (card.ticks > 0)
                .then(|| card.ticks_without_input as f64 / card.ticks as f64),
            is_hosts: true,
            ..Reading::default()
        }
    }

    fn grade(&self) -> Option<Grade> {
        self.ping.map(Grade::of)
    }
}

/// The readings of the last ten seconds.
#[derive(Debug, Default)]
pub(super) struct Figures {
    newest: Reading,
    samples: VecDeque<Sample>,
    next: Time,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    ping: Option<Duration>,
    bytes: Option<(u64, u64)>,
}

impl Figures {
    /// Takes a reading; none where there is nobody at the other end.
    pub(super) fn take(&mut self, now: Time, reading: Option<Reading>) {
        self.newest = reading.unwrap_or_default();
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        let Reading { ping, bytes, .. } = self.newest;
        self.samples.push_back(Sample { ping, bytes });
    }

    /// The ping, always on the screen, and a sign where the line is poor.
    pub(super) fn status(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        match (self.newest.ping, self.newest.grade()) {
            (Some(ping), Some(grade)) => {
                let text = format!("ping {} {grade}", short_ms(ping));
                cells.push(Cell::new(text, span_tone(ping)).signed(grade));
            }
            _ => cells.push(Cell::new("ping -", Tone::Dim)),
        }
        if let Some(loss) = self.newest.loss.filter(|loss| *loss > MUCH_LOSS) {
            cells.push(Cell::new(format!("{:.0} % lost", loss * 100.0), Tone::Bad));
        }
        if self.newest.ping.is_some_and(|ping| span_tone(ping) == Tone::Bad) {
            cells.push(Cell::new("slow line", Tone::Bad));
        }
        cells
    }

    pub(super) fn overlay(&self) -> Overlay {
        let newest = &self.newest;
        let grade = newest.grade();
        let tone = |span: Option<Duration>| span.map_or(Tone::Dim, span_tone);
        let ms = |span: Option<Duration>| span.map(short_ms);
        let is_much = |loss: Option<f64>| loss.is_some_and(|loss| loss > MUCH_LOSS);
        let loss_tone = |loss| if is_much(loss) { Tone::Bad } else { Tone::Plain };
        let [min, average, max] = newest.range.map_or([None; 3], |range| range.map(Some));
        let (loss, input_loss) = (newest.loss, newest.input_loss);
        let word = figure("grade", grade.map(|grade| grade.to_string()), tone(newest.ping));
        let mut figures = vec![
            figure("ping", ms(newest.ping), tone(newest.ping)),
            Figure { sign: grade, ..word },
            figure("min", ms(min), tone(min)),
            figure("jitter", ms(newest.jitter), Tone::Plain),
            figure("average", ms(average), tone(average)),
            figure("loss", loss.map(percent), loss_tone(loss)),
            figure("max", ms(max), tone(max)),
            figure("packet_loss_rate", input_loss.map(percent), loss_tone(input_loss)),
        ];
        if !newest.is_hosts {
            let lead = newest.lead_ms.map(|lead| format!("{lead:.0} ms"));
            let rate = |bytes: Option<u64>| bytes.map(|bytes| format!("{bytes} B/s"));
            let count = |count: Option<String>| figure("pending", count, Tone::Plain);
            let corrected = newest.corrections.map(|it| it.to_string());
            figures.extend([
                figure("lead", lead, Tone::Plain),
                figure("delay", ms(newest.delay), Tone::Plain),
                figure("corrected", corrected, Tone::Plain),
                count(newest.pending.map(|it| it.to_string())),
                figure("in", rate(self.per_second(|(bytes_in, _)| bytes_in)), Tone::Plain),
                figure("out", rate(self.per_second(|(_, bytes_out)| bytes_out)), Tone::Plain),
            ]);
        }
        let pings = self.samples.iter().map(|it| it.ping.map(|ping| ping.as_secs_f32() * 1e3));
        let Reading { inputs, acks, .. } = newest.clone();
        Overlay { figures, pings: pings.collect(), inputs, acks }
    }

    /// Bytes of the last second, one way.
    fn per_second(&self, way: impl Fn((u64, u64)) -> u64) -> Option<u64> {
        let newest = self.samples.back()?.bytes?;
        let before = self.samples.iter().rev().nth(SECOND)?.bytes?;
        Some(way(newest).saturating_sub(way(before)))
    }
}

fn figure(name: &'static str, value: Option<String>, tone: Tone) -> Figure {
    match value {
        Some(value) => Figure { name, value, tone, sign: None },
        None => Figure { name, value: "-".into(), tone: Tone::Dim, sign: None },
    }
}

/// The colour of a round trip.
pub(super) fn span_tone(ping: Duration) -> Tone {
    ping_tone(ping.as_secs_f32() * 1e3)
}

/// A share, with a digit more where it is small.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Milliseconds, with a digit more where there are few.
pub(super) fn short_ms(span: Duration) -> String {
    let ms = span.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_ping_is_green_then_yellow_above_100_ms_and_red_above_200() {
        let tone = |ms| span_tone(at(ms));
        assert_eq!([99, 100].map(tone), [Tone::Good; 2]);
        assert_eq!([101, 200].map(tone), [Tone::Fair; 2]);
        assert_eq!(tone(201), Tone::Bad);
    }

    #[test]
    fn the_overlay_has_the_range_of_round_trips_and_the_packet_loss_rate() {
        let mut figures = Figures::default();
        let reading = Reading {
            ping: Some(at(60)),
            range: Some([at(48), at(63), at(230)]),
            input_loss: Some(0.023),
            inputs: vec![(100, Fate::Acknowledged), (101, Fate::Lost)],
            acks: vec![100],
            ..Reading::default()
        };
        figures.take(Time::ZERO, Some(reading));
        let overlay = figures.overlay();
        let found = |name| overlay.figures.iter().find(|it| it.name == name).unwrap();
        let value = |name| (found(name).value.as_str(), found(name).tone);
        assert_eq!(value("min"), ("48 ms", Tone::Good));
        assert_eq!(value("average"), ("63 ms", Tone::Good));
        assert_eq!(value("max"), ("230 ms", Tone::Bad));
        assert_eq!(value("packet_loss_rate"), ("2.3 %", Tone::Plain));
        assert_eq!(
            (value("grade"), found("grade").sign),
            (("Good", Tone::Good), Some(Grade::Good))
        );
        assert_eq!((overlay.inputs.len(), overlay.acks), (2, vec![100]));
    }

    #[test]
    fn ten_seconds_of_pings_are_kept_and_no_more() {
        let mut figures = Figures::default();
        for i in 0..100u64 {
            let reading = Reading { ping: Some(at(i)), ..Reading::default() };
            figures.take(Time::ZERO + EVERY * i as u32, Some(reading.clone()));
            figures.take(Time::ZERO + EVERY * i as u32 + at(1), Some(reading));
        }
        let pings = figures.overlay().pings;
        assert_eq!(pings.len(), KEPT);
        assert_eq!((pings[0], pings[KEPT - 1]), (Some(60.0), Some(99.0)));
    }

    #[test]
    fn bytes_are_told_for_the_last_second() {
        let mut figures = Figures::default();
        for i in 0..10u64 {
            let reading = Reading { bytes: Some((100 * i, 10 * i)), ..Reading::default() };
            figures.take(Time::ZERO + EVERY * i as u32, Some(reading));
        }
        let overlay = figures.overlay();
        let value = |name| &overlay.figures.iter().find(|it| it.name == name).unwrap().value;
        assert_eq!((value("in").as_str(), value("out").as_str()), ("400 B/s", "40 B/s"));
        assert_eq!(value("ping"), "-");
    }

    #[test]
    fn a_poor_line_shows_a_sign_by_itself() {
        let mut figures = Figures::default();
        let good = Reading { ping: Some(at(20)), loss: Some(MUCH_LOSS), ..Reading::default() };
        figures.take(Time::ZERO, Some(good));
        let cell = Cell::new("ping 20 ms Excellent", Tone::Good).signed(Grade::Excellent);
        assert_eq!(figures.status(), [cell]);
        let poor = Reading { ping: Some(at(250)), loss: Some(0.08), ..Reading::default() };
        figures.take(Time::ZERO, Some(poor));
        let texts: Vec<_> = figures.status().into_iter().map(|cell| cell.text).collect();
        assert_eq!(texts, ["ping 250 ms Poor", "8 % lost", "slow line"]);
    }
}
