const BUMPED: u8 = 1;

impl Puck {
    /// One tick: pushed, slowed by the ice, thrown back by the boards. Whether it hit them.
    fn slide(&mut self, held: Buttons) -> bool {
        let push = |v: i32, axis: i32| (v - v / 16 + 4 * axis).clamp(-SPEED, SPEED);
        self.vx = push(self.vx, held.axis(Buttons::LEFT, Buttons::RIGHT));
        self.vy = push(self.vy, held.axis(Buttons::UP, Buttons::DOWN));
        let bumped = throw_back(&mut self.x, &mut self.vx, WIDTH)
            | throw_back(&mut self.y, &mut self.vy, HEIGHT);
        self.bumps = (self.bumps + i32::from(bumped)).min(999);
        bumped
    }
}

fn throw_back(at: &mut i32, v: &mut i32, max: i32) -> bool {
    let bumped = !(0..=max).contains(&(*at + *v));
    if bumped {
        *v = -*v;
    }
    *at = (*at + *v).clamp(0, max);
    bumped
}

fn step(world: &mut World, turn: &mut Turn<'_, Pucks>) {
    for puck in &mut world.pucks {
        if puck.slide(turn.input(puck.player)) {
            let entity = puck.player.0;
            turn.raise(Event { kind: BUMPED, entity, value: puck.bumps, reach: Reach::Own });
        }
    }
}
