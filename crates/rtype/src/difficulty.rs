//! How hard a match is.

/// How hard a match is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Difficulty {
    /// Fewer, slower bullets, weaker enemies, a life more.
    Easy,
    /// As the levels say.
    #[default]
    Normal,
    /// More and faster bullets, stronger enemies, a life less.
    Hard,
}

/// What a difficulty changes, in percent of what is normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handicap {
    /// The enemies' health.
    pub health: i32,
    /// The time between their shots.
    pub reload: i32,
    /// How fast their bullets are.
    pub bullet_speed: i32,
    /// What is added to the lives that the room gives.
    pub lives: i32,
}

impl Difficulty {
    /// All of them, as they are numbered when sent and in the old dialect.
    pub const ALL: [Difficulty; 3] = [Difficulty::Easy, Difficulty::Normal, Difficulty::Hard];

    /// What it changes.
    pub const fn handicap(self) -> Handicap {
        match self {
            Difficulty::Easy => Handicap { health: 70, reload: 170, bullet_speed: 75, lives: 1 },
            Difficulty::Normal => {
                Handicap { health: 100, reload: 100, bullet_speed: 100, lives: 0 }
            }
            Difficulty::Hard => Handicap { health: 150, reload: 65, bullet_speed: 130, lives: -1 },
        }
    }
}

/// A part of a number, at least 1.
pub(crate) fn percent(of: i32, percent: i32) -> i32 {
    (of * percent / 100).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_harder_than_the_one_before_in_everything() {
        for pair in Difficulty::ALL.windows(2) {
            let [easier, harder] = [pair[0].handicap(), pair[1].handicap()];
            assert!(easier.health < harder.health && easier.reload > harder.reload);
            assert!(easier.bullet_speed < harder.bullet_speed && easier.lives > harder.lives);
        }
    }
}
