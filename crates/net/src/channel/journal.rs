//! The log lines of whoever wants to read them: kept only where asked for, and never more than
//! asked for.

use std::collections::VecDeque;

use super::LogLine;

/// The last lines; the oldest make room.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    lines: VecDeque<LogLine>,
    limit: usize,
}

impl Journal {
    /// A journal of at most `limit` lines; 0 keeps none.
    pub fn new(limit: usize) -> Self {
        Journal { lines: VecDeque::with_capacity(limit), limit }
    }

    /// Notes a line.
    #[inline]
    pub fn note(&mut self, line: LogLine) {
        if self.limit == 0 {
            return;
        }
        if self.lines.len() == self.limit {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The oldest line that was not read yet.
    pub fn poll(&mut self) -> Option<LogLine> {
        self.lines.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_keeps_what_was_asked_for_and_no_more() {
        let line = |seq| LogLine::AckReceived { seq, pending: 0 };
        let (mut none, mut two) = (Journal::default(), Journal::new(2));
        for seq in 1..=3 {
            none.note(line(seq));
            two.note(line(seq));
        }
        assert_eq!(none.poll(), None);
        assert_eq!((two.poll(), two.poll(), two.poll()), (Some(line(2)), Some(line(3)), None));
    }
}
