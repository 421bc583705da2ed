//! Where things are: whole numbers of 1/16 px, so that what is predicted comes back to the bit.
//!
//! Everything above is made of [`Moving`] boxes; whether two of them meet is decided here and
//! nowhere else, for what the server judges and for what a player sees alike.

/// One pixel.
pub const PX: i32 = 16;

/// The field.
pub const FIELD: Size = Size::px(1000, 600);

/// What is further out than this on the left or right is gone.
pub(crate) const BEYOND_X: i32 = 128 * PX;

/// What is further out than this above or below is gone.
pub(crate) const BEYOND_Y: i32 = 64 * PX;

/// A width and a height, in 1/16 px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// To the right.
    pub w: i32,
    /// Down.
    pub h: i32,
}

impl Size {
    /// So many whole pixels.
    pub const fn px(w: i32, h: i32) -> Self {
        Size { w: w * PX, h: h * PX }
    }
}

/// A place (the top left corner) and a velocity, in 1/16 px and 1/16 px a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moving {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
    /// To the right.
    pub vx: i32,
    /// Down.
    pub vy: i32,
}

impl Moving {
    /// At rest.
    pub(crate) const fn still(x: i32, y: i32) -> Self {
        Moving { x, y, vx: 0, vy: 0 }
    }

    /// One tick on.
    pub(crate) fn go(&mut self) {
        self.x += self.vx;
        self.y += self.vy;
    }

    /// Moves to a place; the velocity says how far that was.
    pub(crate) fn go_to(&mut self, x: i32, y: i32) {
        *self = Moving { x, y, vx: x - self.x, vy: y - self.y };
    }

    /// The box that it fills.
    pub fn area(&self, size: Size) -> Area {
        Area { left: self.x, top: self.y, right: self.x + size.w, bottom: self.y + size.h }
    }

    /// The middle of a thing of this size.
    pub(crate) fn middle(&self, size: Size) -> (i32, i32) {
        (self.x + size.w / 2, self.y + size.h / 2)
    }

    /// Where it is a part of a tick later.
    pub(crate) fn later(&self, by: TickPart) -> Moving {
        Moving { x: self.x + by.of(self.vx), y: self.y + by.of(self.vy), ..*self }
    }

    /// A thing of this size, and how it moves in a tick.
    pub(crate) fn passage(&self, size: Size) -> Passage {
        Passage { area: self.area(size), way: self.way() }
    }

    /// How it came here from there.
    pub(crate) fn way_from(&self, there: &Moving) -> Way {
        Way { x: self.x - there.x, y: self.y - there.y }
    }

    /// How it moves in a tick.
    pub(crate) fn way(&self) -> Way {
        Way { x: self.vx, y: self.vy }
    }

    /// Whether it has left what can be sent.
    pub(crate) fn is_gone(&self) -> bool {
        !(-BEYOND_X..=FIELD.w + BEYOND_X).contains(&self.x)
            || !(-BEYOND_Y..=FIELD.h + BEYOND_Y).contains(&self.y)
    }
}

/// A part of a tick, in 1/256: whole numbers are the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickPart(pub(crate) i32);

impl TickPart {
    pub(crate) const WHOLE: i32 = 256;

    /// The nearest to a part between -1 and 1.
    pub(crate) fn nearest(part: f64) -> Self {
        TickPart((part * f64::from(TickPart::WHOLE)).round() as i32)
    }

    /// This part of a tick's way.
    fn of(self, way: i32) -> i32 {
        (way * self.0 + TickPart::WHOLE / 2).div_euclid(TickPart::WHOLE)
    }
}

/// How far something has moved, in 1/16 px.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

/// A box, and how it came to where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) area: Area,
    pub(crate) way: Way,
}

impl Passage {
    /// Whether two boxes meet while both move, evenly, to where they are now.
    pub(crate) fn meets(&self, other: &Passage) -> bool {
        self.area.meets_moving(self.way, &other.area, other.way)
    }

    /// Of a tick's passage the stretch of this length that ends so long before the tick does.
    pub(crate) fn stretch(&self, length: TickPart, before_end: TickPart) -> Passage {
        let (x, y) = (before_end.of(self.way.x), before_end.of(self.way.y));
        let Area { left, top, right, bottom } = self.area;
        Passage {
            area: Area { left: left - x, top: top - y, right: right - x, bottom: bottom - y },
            way: Way { x: length.of(self.way.x), y: length.of(self.way.y) },
        }
    }
}

/// A box, in 1/16 px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Its left edge.
    pub left: i32,
    /// Its top edge.
    pub top: i32,
    /// Its right edge.
    pub right: i32,
    /// Its bottom edge.
    pub bottom: i32,
}

impl Area {
    /// Whether two boxes have a point in common; edges that touch do not count.
    #[inline]
    pub fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether it has come into the field from the right: what has not, nobody sees.
    pub(crate) fn is_in_sight(&self) -> bool {
        self.left < FIELD.w
    }

    /// Whether two boxes meet while both move, evenly, `by` and `others` to where they are now.
    ///
    /// Seen from the other box, this one's corner draws a line; they meet if the line crosses the
    /// box of all places in which the two overlap.
    fn meets_moving(&self, by: Way, other: &Area, others: Way) -> bool {
        let (dx, dy) = (by.x - others.x, by.y - others.y);
        // The line ends in the origin and comes from (-dx, -dy).
        let (left, right) = (other.left - self.right, other.right - self.left);
        let (top, bottom) = (other.top - self.bottom, other.bottom - self.top);
        let beside = right <= 0.min(-dx) || left >= 0.max(-dx);
        let above_or_below = bottom <= 0.min(-dy) || top >= 0.max(-dy);
        if beside || above_or_below {
            return false;
        }
        // The corners lie on both sides of it.
        let along = |d: i32, a: i32, b: i32| if d < 0 { (d * b, d * a) } else { (d * a, d * b) };
        let (y_least, y_most) = along(dx, top, bottom);
        let (x_least, x_most) = along(dy, left, right);
        (dx, dy) == (0, 0) || (y_least < x_most && x_least < y_most)
    }

    /// The box that is so much smaller on each side, or larger where it is negative.
    pub(crate) fn inset(&self, x: i32, y: i32) -> Area {
        Area {
            left: self.left + x,
            top: self.top + y,
            right: self.right - x,
            bottom: self.bottom - y,
        }
    }

    /// Both, and what is in between.
    pub(crate) fn with(&self, other: &Area) -> Area {
        Area {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// The velocity that leads from one point to another at `speed`; straight left if there is no way
/// to go.
pub(crate) fn aim(from: (i32, i32), to: (i32, i32), speed: i32) -> (i32, i32) {
    let (x, y) = (i64::from(to.0 - from.0), i64::from(to.1 - from.1));
    let length = ((x * x + y * y) as u64).isqrt() as i64;
    if length == 0 {
        return (-speed, 0);
    }
    let part = |way: i64| (way * i64::from(speed) / length) as i32;
    (part(x), part(y))
}

/// So many directions there are around a ring, the first to the left, then downwards.
pub(crate) const DIRECTIONS: usize = 32;

/// The velocity in a direction of the ring.
pub(crate) fn direction(index: usize, speed: i32) -> (i32, i32) {
    // A quarter of the ring, in 1/256; the rest are mirrored.
    const QUARTER: [i32; 9] = [0, 50, 98, 142, 181, 213, 237, 251, 256];
    let index = index % DIRECTIONS;
    let (quarter, step) = (index / 8, index % 8);
    let (sine, cosine) = (QUARTER[step], QUARTER[8 - step]);
    let (x, y) = match quarter {
        0 => (-cosine, sine),
        1 => (sine, cosine),
        2 => (cosine, -sine),
        _ => (-sine, -cosine),
    };
    (x * speed / 256, y * speed / 256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_share_an_edge_do_not_meet() {
        let a = Moving::still(0, 0).area(Size::px(2, 2));
        let meets = |x, y| a.meets(&Moving::still(x, y).area(Size::px(1, 1)));
        assert!(meets(31, 0) && meets(0, 31) && meets(-15, 0));
        assert!(!meets(32, 0) && !meets(0, 32) && !meets(-16, 0));
    }

    #[test]
    fn moving_boxes_meet_where_their_ways_cross_at_the_same_time() {
        let at = |x, y| Moving::still(x, y).area(Size::px(1, 1));
        let way = |x, y| Way { x, y };
        // One flies through the other; one passes it diagonally, within the box of its way.
        assert!(at(100, 0).meets_moving(way(200, 0), &at(0, 0), way(0, 0)));
        assert!(!at(100, 100).meets_moving(way(100, 100), &at(80, 0), way(0, 0)));
        // Both fly: the same way, to the same place at once, and past it one after the other.
        assert!(!at(100, 0).meets_moving(way(100, 0), &at(50, 0), way(100, 0)));
        assert!(at(100, 0).meets_moving(way(200, 0), &at(0, 100), way(0, 200)));
        assert!(!at(100, 0).meets_moving(way(200, 0), &at(0, 200), way(0, 200)));
        assert!(at(0, 0).meets_moving(way(0, 0), &at(15, 15), way(0, 0)));
        assert!(!at(0, 0).meets_moving(way(0, 0), &at(16, 0), way(0, 0)));
    }

    #[test]
    fn a_passage_is_that_of_its_stretches() {
        let moving = Moving { x: 100, y: 40, vx: 64, vy: -20 };
        let whole = moving.passage(Size::px(1, 1));
        let [early, late] = [(TickPart(192), TickPart(64)), (TickPart(64), TickPart(0))]
            .map(|(length, before_end)| whole.stretch(length, before_end));
        assert_eq!((early.area.left, early.area.top), (84, 45));
        assert_eq!((early.way, late.way), (Way { x: 48, y: -15 }, Way { x: 16, y: -5 }));
        assert_eq!(late.area, whole.area);
    }

    #[test]
    fn a_part_of_a_tick_is_a_part_of_the_way() {
        let moving = Moving { x: 100, y: 0, vx: -48, vy: 10 };
        let half = moving.later(TickPart(128));
        assert_eq!((half.x, half.y), (76, 5));
        assert_eq!(moving.later(TickPart(-128)).x, 124);
        assert_eq!(moving.later(TickPart(0)), moving);
    }

    #[test]
    fn aiming_is_as_fast_as_asked_whatever_the_way() {
        for to in [(700, 300), (-5, 9_000), (-16_000, -9_600), (1, 0)] {
            let (x, y) = aim((0, 0), to, 48);
            let speed = f64::from(x * x + y * y).sqrt();
            assert!((45.0..=48.0).contains(&speed), "{to:?}: {speed}");
            assert!(x.signum() * to.0.signum() >= 0 && y.signum() * to.1.signum() >= 0);
        }
        assert_eq!(aim((7, 7), (7, 7), 48), (-48, 0));
    }

    #[test]
    fn a_ring_goes_all_around() {
        let speed = 128;
        let sum = (0..DIRECTIONS).fold((0, 0), |(x, y), index| {
            let (vx, vy) = direction(index, speed);
            let length = f64::from(vx * vx + vy * vy).sqrt();
            assert!((125.0..=128.0).contains(&length), "{index}: {length}");
            (x + vx, y + vy)
        });
        assert_eq!(sum, (0, 0));
        assert_eq!(direction(0, speed), (-speed, 0));
        assert_eq!(direction(8, speed), (0, speed));
        assert_eq!(direction(32, speed), direction(0, speed));
    }
}
