impl Game for Pucks {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"PUCK", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, _seed: u64) -> World {
        World::default()
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        let x = WIDTH / 5 * (1 + player.0 as i32 % 4);
        world.pucks.push(Puck { player, x, y: HEIGHT / 2, vx: 0, vy: 0, bumps: 0 });
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.pucks.retain(|puck| puck.player != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        step(world, turn);
    }

    fn capture(&self, world: &World, state: &mut State) {
        for &Puck { player, x, y, vx, vy, bumps } in &world.pucks {
            let counts = [x, y, vx, vy, bumps];
            // Each player has one puck, so no id comes twice.
            let _ = state.push(Entity::new(&SCHEMA, self.entity_of(player), 0, &counts));
        }
    }

    fn restore(&self, state: &State) -> World {
        let puck = |entity: &Entity| {
            let [x, y, vx, vy, bumps] = entity.fields.first();
            Puck { player: PlayerId(entity.id), x, y, vx, vy, bumps }
        };
        World { pucks: state.entities().iter().map(puck).collect() }
    }
}
