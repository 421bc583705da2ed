//! The log lines of whoever wants to read them: kept only where asked for, and never more than
//! asked for.

use std::collections::VecDeque;

use super::LogLine;

/// The last lines; the oldest make room, and are counted.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    lines: VecDeque<LogLine>,
    limit: usize,
    missed: u64,
}

impl Journal {
    /// A journal of at most `limit` lines; 0 keeps none.
    pub fn new(limit: usize) -> Self {
        Journal { lines: VecDeque::with_capacity(limit), limit, missed: 0 }
    }

    /// Whether lines are kept: what only a line needs is not worked out for nobody.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.limit > 0
    }

    /// Notes a line.
    #[inline]
    pub fn note(&mut self, line: LogLine) {
        if self.limit == 0 {
            return;
        }
        if self.lines.len() == self.limit {
            self.lines.pop_front();
            self.missed += 1;
        }
        self.lines.push_back(line);
    }

    /// The oldest line that was not read yet; [`LogLine::Missed`] in place of those that made room.
    pub fn poll(&mut self) -> Option<LogLine> {
        match std::mem::take(&mut self.missed) {
            0 => self.lines.pop_front(),
            lines => Some(LogLine::Missed { lines }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_keeps_what_was_asked_for_and_says_what_it_did_not() {
        let line = |seq| LogLine::AckReceived { seq, pending: 0 };
        let (mut none, mut two) = (Journal::default(), Journal::new(2));
        for seq in 1..=5 {
            none.note(line(seq));
            two.note(line(seq));
        }
        assert!(!none.is_kept() && two.is_kept());
        assert_eq!(none.poll(), None);
        assert_eq!(two.poll(), Some(LogLine::Missed { lines: 3 }));
        assert_eq!((two.poll(), two.poll(), two.poll()), (Some(line(4)), Some(line(5)), None));
        two.note(line(6));
        assert_eq!((two.poll(), two.poll()), (Some(line(6)), None));
    }
}
