use super::*;

const GOOD: &str = r#"name = "Belt"
scroll = 60
threat = 100

[[wave]]
at = 300
enemy = "drone"
count = 5
formation = "vee"
y = 300
spacing = 50
drops = "weapon"

[[wave]]
at = 600
enemy = "turret"
count = 1
formation = "line"
y = 580
spacing = 50

[boss]
health = 120
points = 5000
look = 1

[[boss.stage]]
below = 100
move = "hover"
speed = 90
fire = "aimed"
every = 90

[[boss.stage]]
below = 40
move = "charge"
speed = 120
fire = "ring"
every = 60
"#;

/// What is said of the good level with one piece of it changed.
fn told(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    Level::parse(&GOOD.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn a_formation_becomes_enemies_in_the_order_they_come() {
    let level = Level::parse(GOOD).unwrap();
    assert_eq!((level.waves, level.spawns.len()), (2, 6));
    let first = level.spawns[0];
    assert_eq!((first.tick, first.y, first.wave), (300, 300, 1));
    assert!(level.spawns.is_sorted_by_key(|spawn| spawn.tick));
    let dropped: Vec<_> = level.spawns.iter().filter_map(|spawn| spawn.drops).collect();
    assert_eq!(dropped, [Bonus::Weapon]);
    let heights: Vec<_> = level.spawns[..5].iter().map(|spawn| spawn.y).collect();
    assert_eq!(heights, [300, 250, 350, 200, 400]);
    assert_eq!(level.boss.stages[1].course, Course::Charge);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_to_do() {
    for (from, to, sentence) in [
        ("scroll = 60", "scroll = 900", "line 2: scroll is 900; give a number from 10 to 200"),
        ("threat = 100", "threat = 10", "line 3: threat is 10; give a number from 20 to 400"),
        ("\"Belt\"", "\"\"", "line 1: a name has 1 to 24 characters; shorten it or give one"),
        ("count = 5", "count = 17", "line 8: count is 17; give a number from 1 to 16"),
        ("y = 300", "y = 601", "line 10: y is 601; give a number from 0 to 600"),
        ("spacing = 50", "spacing = 5", "line 11: spacing is 5; give a number from 20 to 300"),
        (
            "at = 600",
            "at = 200",
            "line 15: the wave above comes at 300; move this one up or give a later at",
        ),
        (
            "y = 300",
            "y = 550",
            "line 10: one of the formation would be at y 650; give a smaller count or spacing",
        ),
        (
            "spacing = 50\n\n[boss]",
            "spacing = 50\nside = \"left\"\n\n[boss]",
            "line 14: turrets and carriers come from ahead; leave side out or change enemy",
        ),
        ("health = 120", "health = 0", "line 23: health is 0; give a number from 10 to 2000"),
        ("look = 1", "look = 4", "line 25: look is 4; give a number from 1 to 3"),
        ("below = 100", "below = 90", "line 28: the first stage must say below = 100"),
        (
            "below = 40",
            "below = 100",
            "line 35: the stage above begins below 100; this one must be lower",
        ),
        ("every = 60", "every = 9", "line 39: every is 9; give a number from 10 to 600"),
    ] {
        assert_eq!(told(from, to), sentence);
    }
}

#[test]
fn a_wrong_form_is_told_in_its_line_with_what_is_known() {
    for (from, to, line, words) in [
        ("scroll = 60", "scroll = ", 2, ""),
        ("scroll = 60", "scroll = \"fast\"", 2, "expected i64"),
        ("enemy = \"drone\"", "enemy = \"dragon\"", 7, "expected one of `drone`, `weaver`"),
        ("formation = \"vee\"", "formation = \"heap\"", 9, "`line`, `column`, `vee`, `echelon`"),
        ("drops = \"weapon\"", "drops = \"gold\"", 12, "`force`"),
        ("drops = \"weapon\"", "drop = \"weapon\"", 12, "unknown field `drop`"),
        ("fire = \"ring\"", "fire = \"rain\"", 38, "`aimed`, `fan`, `ring`, `wall`, `drones`"),
        ("count = 1\n", "", 14, "missing field `count`"),
        ("[[wave]]", "[[wave]", 5, ""),
    ] {
        let told = told(from, to);
        assert!(told.starts_with(&format!("line {line}: ")) && told.contains(words), "{told}");
    }
}

#[test]
fn a_level_needs_waves_and_a_boss_stages() {
    let no_waves = [&GOOD[..GOOD.find("[[wave]]").unwrap()], &GOOD[GOOD.find("[boss]").unwrap()..]];
    let error = Level::parse(&no_waves.concat()).unwrap_err();
    assert_eq!(error.fault, Fault::NoWaves);
    let error = Level::parse(&GOOD[..GOOD.find("[[boss.stage]]").unwrap()]).unwrap_err();
    assert_eq!(error, LevelError { line: 22, fault: Fault::Stages });
}

#[test]
fn two_hundred_waves_and_six_stages_are_allowed_and_no_more() {
    let (waves, boss) = GOOD.split_at(GOOD.find("[boss]").unwrap());
    let wave = &waves[waves.rfind("[[wave]]").unwrap()..];
    let with = |more: usize| Level::parse(&[waves, &wave.repeat(more), boss].concat());
    assert_eq!(with(Level::WAVE_LIMIT - 2).unwrap().waves, 200);
    let error = with(Level::WAVE_LIMIT - 1).unwrap_err();
    assert_eq!(error.fault, Fault::TooManyWaves);
    let stage = |below: usize| {
        GOOD[GOOD.rfind("[[boss.stage]]").unwrap()..]
            .replace("below = 40", &format!("below = {below}"))
    };
    let more: Vec<String> = (1..=5).map(|i| stage(40 - i)).collect();
    let with = |more: &[String]| Level::parse(&[GOOD, &more.concat()].concat());
    assert_eq!(with(&more[..4]).unwrap().boss.stages.len(), 6);
    assert_eq!(with(&more).unwrap_err().fault, Fault::Stages);
}

#[test]
fn the_built_in_levels_grow_harder() {
    let levels = Level::built_in();
    assert_eq!(levels.len(), 3);
    for pair in levels.windows(2) {
        assert!(pair[0].threat < pair[1].threat);
        assert!(pair[0].boss.health < pair[1].boss.health);
        assert!(pair[0].spawns.len() < pair[1].spawns.len());
    }
    for level in levels.iter() {
        assert!(level.boss.stages.len() >= 2, "{}", level.name);
    }
    for species in Species::ALL {
        let used = |level: &Level| level.spawns.iter().any(|spawn| spawn.species == species);
        assert!(levels.iter().any(used), "{species:?}");
    }
    for bonus in Bonus::ALL {
        let dropped = |level: &Level| level.spawns.iter().any(|spawn| spawn.drops == Some(bonus));
        assert!(levels.iter().any(dropped), "{bonus:?}");
    }
}
