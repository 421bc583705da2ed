//! Contacts by kind: each kind is counted and judged by itself, and says how sure it is.

use std::fmt;
use std::ops::AddAssign;

use super::Quality;
use super::exact;
use super::law::Bar;
use super::share::Share;
use super::target::{Target, Verdict, remark};
use crate::measured::Foresight;

/// From so many contacts of a kind on, their share is judged as it is; of fewer, what the share may
/// be in truth.
pub const ENOUGH_CONTACTS: u64 = 2_000;

/// The contacts of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactKind {
    /// As the game calls it: [`Measured::contact_kind`](crate::Measured::contact_kind).
    pub kind: &'static str,
    /// Whether it can be known in time how they end.
    pub foresight: Foresight,
    /// Drawn and judged.
    pub both: u64,
    /// Drawn, but the server did not judge so.
    pub only_drawn: u64,
    /// Judged, but not drawn.
    pub only_judged: u64,
}

impl ContactKind {
    const fn new(kind: &'static str) -> Self {
        ContactKind { kind, foresight: Foresight::Known, both: 0, only_drawn: 0, only_judged: 0 }
    }

    /// Drawn, judged or both.
    pub const fn contacts(&self) -> u64 {
        self.both + self.disagreed()
    }

    /// Not both.
    pub const fn disagreed(&self) -> u64 {
        self.only_drawn + self.only_judged
    }

    /// Those that were drawn otherwise than judged; `None` if there was no contact.
    pub fn disagreement_pct(&self) -> Option<f64> {
        let contacts = self.contacts();
        (contacts > 0).then(|| 100.0 * self.disagreed() as f64 / contacts as f64)
    }

    /// Between which percentages the true share lies, in 95 of 100 cases.
    pub fn bounds_pct(&self) -> (f64, f64) {
        exact::bounds_pct(self.disagreed() as f64, self.contacts() as f64)
    }

    /// What was counted, and what it may be; nothing if there was no contact.
    pub fn share(&self, target: Target) -> Option<Share> {
        let Target::AtMost(most) = target else { return None };
        let contacts = self.contacts();
        (contacts > 0).then(|| Share::one_by_one(self.disagreed(), contacts, most))
    }

    /// How the kind stands to `target`, in percent. Of fewer than [`ENOUGH_CONTACTS`] the bounds
    /// decide, as long as they do not lie on both sides of it.
    pub fn judge(&self, target: Target) -> Verdict {
        let Some(percent) = self.disagreement_pct() else { return Verdict::Unjudged };
        let (least, most) = self.bounds_pct();
        match self.contacts() {
            ENOUGH_CONTACTS.. if target.holds(percent) => Verdict::Reached,
            ENOUGH_CONTACTS.. => Verdict::Short,
            _ if target.holds(most) => Verdict::Reached,
            _ if !target.holds(least) => Verdict::Short,
            _ => Verdict::Undecided,
        }
    }
}

impl AddAssign for ContactKind {
    fn add_assign(&mut self, other: ContactKind) {
        self.foresight = self.foresight.max(other.foresight);
        self.both += other.both;
        self.only_drawn += other.only_drawn;
        self.only_judged += other.only_judged;
    }
}

/// The contacts of a match, by kind. Prints as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContactKinds(Vec<ContactKind>);

impl ContactKinds {
    /// What stands above the rows.
    pub const HEADING: &'static str =
        "contacts by kind         contacts  only drawn  only judged     otherwise        target";

    /// The kinds, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &ContactKind> {
        self.0.iter()
    }

    /// Whether there was no contact.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All kinds together.
    pub fn sum(&self) -> ContactKind {
        let mut sum = ContactKind::new("all");
        self.0.iter().for_each(|kind| sum += *kind);
        sum
    }

    /// The counts of one kind.
    pub(super) fn of(&mut self, kind: &'static str) -> &mut ContactKind {
        let at = match self.0.binary_search_by_key(&kind, |known| known.kind) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, ContactKind::new(kind));
                at
            }
        };
        &mut self.0[at]
    }

    /// Says of each kind whether it can be known in time.
    pub(super) fn mark(&mut self, foresight: impl Fn(&str) -> Foresight) {
        self.0.iter_mut().for_each(|kind| kind.foresight = foresight(kind.kind));
    }

    /// One line for each kind, held against what it must reach in a match like that;
    /// [`ContactKinds::HEADING`] stands above them.
    pub fn rows(&self, bar: Bar, quality: Quality) -> impl Iterator<Item = KindRow> {
        self.0.iter().map(move |kind| KindRow {
            kind: *kind,
            target: bar.contacts(kind.foresight, &quality),
        })
    }
}

impl AddAssign<&ContactKinds> for ContactKinds {
    fn add_assign(&mut self, other: &ContactKinds) {
        other.0.iter().for_each(|kind| *self.of(kind.kind) += *kind);
    }
}

/// One line of the table of kinds.
#[derive(Clone, Copy, Debug)]
pub struct KindRow {
    kind: ContactKind,
    target: Option<Target>,
}

impl KindRow {
    /// How the kind stands to its target.
    pub fn verdict(&self) -> Verdict {
        self.target.map_or(Verdict::Unjudged, |target| self.kind.judge(target))
    }
}

impl fmt::Display for KindRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ContactKind { kind: name, only_drawn, only_judged, .. } = self.kind;
        let contacts = self.kind.contacts();
        let cell = self.kind.disagreement_pct().map(|percent| format!("{percent:.3} %"));
        let cell = cell.unwrap_or_else(|| "-".to_owned());
        let target = self.target.map(|target| format!("{} %", target.rounded()));
        let target = target.unwrap_or_default();
        let (least, most) = self.kind.bounds_pct();
        let note = match contacts {
            ENOUGH_CONTACTS.. => String::new(),
            _ => format!("{least:.2} to {most:.2} %"),
        };
        let remark = remark(self.verdict(), &note);
        let line = format!(
            "{name:<24} {contacts:>8} {only_drawn:>11} {only_judged:>12} {cell:>13} \
             {target:>13}{remark}"
        );
        f.write_str(line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(both: u64, only_drawn: u64, only_judged: u64) -> ContactKind {
        ContactKind { both, only_drawn, only_judged, ..ContactKind::new("own ship") }
    }

    #[test]
    fn many_contacts_are_judged_as_they_are_and_few_by_what_they_may_be() {
        let judge = |kind: ContactKind| kind.judge(Target::AtMost(1.0));
        assert_eq!(judge(kind(1_980, 10, 10)), Verdict::Reached);
        assert_eq!(judge(kind(1_979, 11, 10)), Verdict::Short);
        // 1 of 99 may be anything from 0.03 to 5.5 %.
        assert_eq!(judge(kind(98, 1, 0)), Verdict::Undecided);
        assert_eq!(judge(kind(80, 10, 9)), Verdict::Short);
        assert_eq!(judge(kind(367, 0, 0)), Verdict::Undecided);
        assert_eq!(judge(kind(368, 0, 0)), Verdict::Reached);
        // One of ten is no proof.
        assert_eq!(judge(kind(9, 1, 0)), Verdict::Undecided);
        assert_eq!(judge(kind(0, 0, 0)), Verdict::Unjudged);
        assert_eq!(kind(500, 0, 0).judge(Target::AtMost(0.0)), Verdict::Undecided);
        assert_eq!(kind(499, 0, 1).judge(Target::AtMost(0.0)), Verdict::Short);
    }

    #[test]
    fn kinds_are_added_by_name_and_told_in_lines() {
        let (mut all, mut more) = (ContactKinds::default(), ContactKinds::default());
        *all.of("own shots") = ContactKind { kind: "own shots", ..kind(2_990, 4, 6) };
        *more.of("own shots") = ContactKind { kind: "own shots", ..kind(10, 0, 0) };
        *more.of("own ship") = kind(10, 1, 1);
        all += &more;
        assert_eq!((all.sum().contacts(), all.sum().disagreed()), (3_022, 12));
        let lines: Vec<_> =
            all.rows(Bar::reference(), Quality::default()).map(|row| row.to_string()).collect();
        assert_eq!(
            lines,
            [
                "own ship                       12           1            1      16.667 %        \
                 <= 1 %  short of it, 2.09 to 48.41 %",
                "own shots                    3010           4            6       0.332 %        \
                 <= 1 %  ok"
            ]
        );
        let columns = ContactKinds::HEADING.find("target").unwrap() + "target".len();
        assert_eq!(lines[1].find("  ok").unwrap(), columns);
    }
}
