//! How the choice in a list moves, and lists whose rows come and go: the chosen row stays chosen.

/// A move of the choice.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// By so many lines, around the ends.
    By(isize),
    /// To this line.
    To(usize),
}

impl Step {
    /// Which of `count` lines is chosen after `selected`.
    pub(super) fn after(self, selected: usize, count: usize) -> usize {
        match self {
            Step::By(lines) => {
                (selected as isize + lines).rem_euclid(count.max(1) as isize) as usize
            }
            Step::To(line) => line.min(count.saturating_sub(1)),
        }
    }
}

/// Such a list, and which of its lines is chosen.
pub(super) trait Choices {
    type Choice: Copy;

    /// The lines now.
    fn choices(&mut self) -> Vec<Self::Choice>;

    /// The chosen line; `None` is the first.
    fn chosen(&mut self) -> &mut Option<Self::Choice>;

    /// Whether two are the same line, whatever they show at the moment.
    fn is_same(one: &Self::Choice, other: &Self::Choice) -> bool;

    /// Where the chosen line is.
    fn selected(&mut self, choices: &[Self::Choice]) -> usize {
        let chosen = *self.chosen();
        let is_it = |it: &Self::Choice| chosen.is_some_and(|chosen| Self::is_same(&chosen, it));
        choices.iter().position(is_it).unwrap_or(0)
    }

    /// The line that is chosen now.
    fn choice(&mut self) -> Self::Choice {
        let choices = self.choices();
        choices[self.selected(&choices)]
    }

    /// Moves the choice.
    fn step(&mut self, step: Step) {
        let choices = self.choices();
        let at = step.after(self.selected(&choices), choices.len());
        *self.chosen() = choices.get(at).copied();
    }
}
