//! What flies in R-Type, painted by code. Ships face right, enemies left.

use std::f32::consts::TAU;

use macroquad::color::Color;
use macroquad::math::{Vec2, vec2};

use super::paint::{Easel, Sheet, bar, oval, polygon};
use super::{
    BOSSES, BULLET, CARRIER, DISC, DIVER, DRONE, FORCE, GLOW, LIFE, MINE, POD, SHIELD, SHIP,
    SHIP_TRIM, SOLID, SPEED, TURRET, WEAPON, WEAVER,
};
use crate::desktop::colour::hex;

const STEEL: Color = hex(0xb9c3d6);
const IRON: Color = hex(0x5c6680);
const SHADE: Color = hex(0x232a40);
const WHITE: Color = hex(0xffffff);
const EYE: Color = hex(0xfff1a8);
const EMBER: Color = hex(0xff5a3c);

/// Paints everything.
pub(super) fn paint(sheet: &mut Sheet) {
    simple(sheet);
    ship(sheet);
    enemies(sheet);
    power_ups(sheet);
    for (i, cell) in BOSSES.into_iter().enumerate() {
        boss(&mut sheet.cell(cell), i);
    }
}

fn simple(sheet: &mut Sheet) {
    sheet.cell(SOLID).paint(|_| WHITE);
    sheet.cell(DISC).flat(WHITE, |at| at.length() - 0.96);
    sheet.cell(GLOW).paint(|at| {
        let left = (1.0 - at.length()).max(0.0);
        Color { a: left * left, ..WHITE }
    });
    let light = |at: Vec2, colour: Color, radius: f32| {
        let left = (1.0 - at.length() / radius).max(0.0);
        Color { a: left.sqrt(), ..colour }
    };
    sheet.cell(BULLET).paint(|at| light(at, EMBER, 0.95)).flat(EYE, |at| at.length() - 0.42);
    sheet
        .cell(POD)
        .shape(IRON, |at| at.length() - 0.92)
        .shape(hex(0xffa028), |at| at.length() - 0.70)
        .flat(hex(0xffe0a0), |at| oval(at, vec2(-0.18, -0.24), vec2(0.26, 0.2)))
        .shape(STEEL, |at| bar(at, vec2(0.0, -0.95), vec2(0.0, 0.95), 0.1));
}

fn ship(sheet: &mut Sheet) {
    let hull = [
        vec2(1.58, 0.10),
        vec2(0.75, -0.26),
        vec2(-0.35, -0.40),
        vec2(-1.25, -0.30),
        vec2(-1.05, 0.05),
        vec2(-1.30, 0.40),
        vec2(-0.1, 0.46),
        vec2(0.80, 0.34),
    ];
    let fin = [vec2(-0.2, -0.3), vec2(-1.50, -0.92), vec2(-1.0, -0.22)];
    let wing = [vec2(0.25, 0.30), vec2(-1.20, 0.86), vec2(-0.85, 0.22)];
    let nozzle = [vec2(-1.15, -0.24), vec2(-1.52, -0.16), vec2(-1.52, 0.24), vec2(-1.15, 0.32)];
    sheet
        .cell(SHIP)
        .shape(SHADE, |at| polygon(at, &nozzle) - 0.02)
        .shape(IRON, |at| polygon(at, &fin) - 0.02)
        .shape(STEEL, |at| polygon(at, &hull) - 0.02)
        .shape(IRON, |at| polygon(at, &wing) - 0.02)
        .flat(SHADE, |at| bar(at, vec2(-0.9, 0.04), vec2(0.5, 0.12), 0.025));
    // What has the player's colour.
    let stripe = [vec2(-0.7, -0.42), vec2(-1.44, -0.86), vec2(-1.28, -0.82), vec2(-0.45, -0.36)];
    sheet
        .cell(SHIP_TRIM)
        .flat(WHITE, |at| polygon(at, &stripe))
        .flat(WHITE, |at| bar(at, vec2(-0.65, 0.58), vec2(-1.08, 0.76), 0.05))
        .shape(WHITE, |at| oval(at, vec2(0.42, -0.20), vec2(0.50, 0.19)))
        .flat(Color::new(1.0, 1.0, 1.0, 0.9), |at| oval(at, vec2(0.52, -0.26), vec2(0.24, 0.05)));
}

fn enemies(sheet: &mut Sheet) {
    sheet
        .cell(DRONE)
        .shape(hex(0x8a2638), |at| oval(at, vec2(0.2, 0.05), vec2(1.1, 0.5)))
        .shape(hex(0xe0505a), |at| oval(at, vec2(-0.1, -0.05), vec2(0.92, 0.62)))
        .shape(SHADE, |at| oval(at, vec2(-0.55, 0.02), vec2(0.42, 0.30)))
        .flat(EYE, |at| oval(at, vec2(-0.66, 0.02), vec2(0.16, 0.15)))
        .shape(IRON, |at| bar(at, vec2(0.2, -0.5), vec2(0.8, -0.92), 0.07))
        .shape(IRON, |at| bar(at, vec2(0.2, 0.5), vec2(0.8, 0.92), 0.07));
    sheet
        .cell(WEAVER)
        .shape(hex(0x9a5520), |at| oval(at, vec2(0.35, -0.55), vec2(0.62, 0.36)))
        .shape(hex(0x9a5520), |at| oval(at, vec2(0.35, 0.55), vec2(0.62, 0.36)))
        .shape(hex(0xf09840), |at| oval(at, vec2(0.0, 0.0), vec2(0.86, 0.42)))
        .shape(hex(0x5a2d10), |at| bar(at, vec2(0.25, -0.3), vec2(0.25, 0.3), 0.06))
        .shape(hex(0x5a2d10), |at| bar(at, vec2(0.52, -0.22), vec2(0.52, 0.22), 0.05))
        .flat(EYE, |at| oval(at, vec2(-0.55, -0.02), vec2(0.15, 0.14)));
    let dart = [
        vec2(-1.65, 0.0),
        vec2(-0.4, -0.42),
        vec2(1.4, -0.92),
        vec2(0.9, -0.12),
        vec2(1.5, 0.0),
        vec2(0.9, 0.12),
        vec2(1.4, 0.92),
        vec2(-0.4, 0.42),
    ];
    sheet
        .cell(DIVER)
        .shape(hex(0xf060b4), |at| polygon(at, &dart) - 0.02)
        .shape(hex(0x6a1c50), |at| oval(at, vec2(0.0, 0.0), vec2(0.62, 0.2)))
        .flat(EYE, |at| oval(at, vec2(-0.62, 0.0), vec2(0.2, 0.11)));
    sheet
        .cell(TURRET)
        .shape(IRON, |at| bar(at, vec2(-0.1, -0.1), vec2(-0.86, -0.32), 0.11))
        .shape(IRON, |at| bar(at, vec2(-0.1, 0.1), vec2(-0.86, 0.32), 0.11))
        .shape(hex(0x9aa2ba), |at| at.length() - 0.74)
        .shape(SHADE, |at| (at.length() - 0.46).max(-0.02))
        .flat(EMBER, |at| at.length() - 0.24)
        .flat(EYE, |at| (at - vec2(-0.06, -0.08)).length() - 0.08);
    let spikes = |at: Vec2| {
        let spike = |i: i32| {
            let tip = Vec2::from_angle(i as f32 * TAU / 8.0);
            bar(at, tip * 0.5, tip * 0.92, 0.06)
        };
        (0..8).map(spike).fold(f32::MAX, f32::min)
    };
    sheet
        .cell(MINE)
        .shape(STEEL, spikes)
        .shape(hex(0x4f9a58), |at| at.length() - 0.62)
        .shape(SHADE, |at| at.length() - 0.30)
        .flat(EMBER, |at| at.length() - 0.18);
    let belly = [
        vec2(-1.58, 0.12),
        vec2(-0.9, -0.48),
        vec2(0.4, -0.82),
        vec2(1.5, -0.52),
        vec2(1.2, 0.0),
        vec2(1.5, 0.56),
        vec2(0.2, 0.86),
        vec2(-0.9, 0.56),
    ];
    let lamp =
        |i: i32| move |at: Vec2| oval(at, vec2(-0.55 + i as f32 * 0.42, -0.14), vec2(0.1, 0.1));
    let mut carrier = sheet.cell(CARRIER);
    carrier
        .shape(hex(0x9858b8), |at| polygon(at, &belly) - 0.02)
        .shape(hex(0x4a2862), |at| bar(at, vec2(-0.9, 0.3), vec2(1.1, 0.34), 0.16))
        .shape(IRON, |at| bar(at, vec2(0.3, -0.7), vec2(1.3, -0.9), 0.08));
    for i in 0..4 {
        carrier.flat(EYE, lamp(i));
    }
    carrier.flat(EMBER, |at| bar(at, vec2(-0.7, 0.32), vec2(0.9, 0.35), 0.035));
}

/// A capsule with a sign, so that colour is not the only difference.
fn power_ups(sheet: &mut Sheet) {
    let mut capsule = |cell, colour: Color, sign: fn(Vec2) -> f32| {
        let mut easel = sheet.cell(cell);
        easel
            .shape(STEEL, |at| at.length() - 0.96)
            .shape(colour, |at| at.length() - 0.80)
            .flat(WHITE, sign);
    };
    capsule(WEAPON, hex(0xe83848), |at| {
        let barb = |x: f32| bar(at, vec2(x, 0.42), vec2(x, -0.42), 0.09);
        barb(-0.34).min(barb(0.0)).min(barb(0.34))
    });
    capsule(SHIELD, hex(0x3c78ff), |at| {
        let shield = [
            vec2(0.0, -0.5),
            vec2(0.42, -0.34),
            vec2(0.36, 0.16),
            vec2(0.0, 0.52),
            vec2(-0.36, 0.16),
            vec2(-0.42, -0.34),
        ];
        polygon(at, &shield).abs() - 0.07
    });
    capsule(SPEED, hex(0xd8a800), |at| {
        let arrow = |x: f32| {
            let tip = vec2(x + 0.3, 0.0);
            bar(at, vec2(x, -0.4), tip, 0.085).min(bar(at, vec2(x, 0.4), tip, 0.085))
        };
        arrow(-0.38).min(arrow(0.04))
    });
    capsule(LIFE, hex(0x28a848), |at| {
        let across = bar(at, vec2(-0.42, 0.0), vec2(0.42, 0.0), 0.13);
        across.min(bar(at, vec2(0.0, -0.42), vec2(0.0, 0.42), 0.13))
    });
    capsule(FORCE, hex(0xe88818), |at| {
        let ring = (at.length() - 0.44).abs() - 0.08;
        ring.min(at.length() - 0.16)
    });
}

/// Three bosses of one family: a core behind plates, with more arms each time.
fn boss(easel: &mut Easel<'_>, which: usize) {
    let (body, plate, core) = [
        (hex(0x8c2038), hex(0xd84860), hex(0xffd060)),
        (hex(0x5c2488), hex(0xa858d8), hex(0x7ff0ff)),
        (hex(0x8a6a18), hex(0xe8c848), hex(0xff5a3c)),
    ][which.min(2)];
    let arms = 3 + which as i32 * 2;
    for i in 0..arms {
        let part = i as f32 / (arms - 1) as f32 - 0.5;
        let tip = vec2(-0.74, part * 1.75);
        let root = vec2(0.25, part * 1.1);
        easel
            .shape(IRON, |at| bar(at, root, tip, 0.075))
            .shape(plate, |at| (at - tip).length() - 0.11)
            .flat(EMBER, |at| (at - tip - vec2(-0.04, 0.0)).length() - 0.045);
    }
    let shell = [
        vec2(-0.35, -0.55),
        vec2(0.15, -0.92),
        vec2(0.76, -0.70),
        vec2(0.80, 0.0),
        vec2(0.76, 0.70),
        vec2(0.15, 0.92),
        vec2(-0.35, 0.55),
        vec2(-0.18, 0.0),
    ];
    easel.shape(body, |at| polygon(at, &shell) - 0.03);
    for i in 0..4 {
        let y = -0.6 + i as f32 * 0.4;
        easel.shape(plate, |at| bar(at, vec2(0.28, y), vec2(0.68, y * 0.86), 0.10));
    }
    easel
        .shape(SHADE, |at| oval(at, vec2(0.0, 0.0), vec2(0.42, 0.42)))
        .shape(plate, |at| ((at.length() - 0.40).abs()) - 0.05)
        .shape(core, |at| at.length() - 0.27)
        .flat(SHADE, |at| oval(at, vec2(-0.05, 0.0), vec2(0.07, 0.2)))
        .flat(WHITE, |at| (at - vec2(-0.1, -0.12)).length() - 0.05);
}
