//! Letters and digits made of blocks: two pixels to a character, one above the other.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

/// Pixels from top to bottom.
const HEIGHT: usize = 5;

/// The rows of a glyph, from the top; `None` for what has none.
fn glyph(letter: char) -> Option<[&'static str; HEIGHT]> {
    Some(match letter {
        '0' => ["###", "# #", "# #", "# #", "###"],
        '1' => [" # ", "## ", " # ", " # ", "###"],
        '2' => ["###", "  #", "###", "#  ", "###"],
        '3' => ["###", "  #", " ##", "  #", "###"],
        '4' => ["# #", "# #", "###", "  #", "  #"],
        '5' => ["###", "#  ", "###", "  #", "###"],
        '6' => ["###", "#  ", "###", "# #", "###"],
        '7' => ["###", "  #", "  #", " # ", " # "],
        '8' => ["###", "# #", "###", "# #", "###"],
        '9' => ["###", "# #", "###", "  #", "###"],
        'A' => [" ## ", "#  #", "####", "#  #", "#  #"],
        'B' => ["### ", "#  #", "### ", "#  #", "### "],
        'C' => [" ###", "#   ", "#   ", "#   ", " ###"],
        'I' => ["#", "#", "#", "#", "#"],
        'K' => ["#  #", "# # ", "##  ", "# # ", "#  #"],
        'N' => ["#  #", "## #", "# ##", "#  #", "#  #"],
        'P' => ["### ", "#  #", "### ", "#   ", "#   "],
        'S' => [" ###", "#   ", " ## ", "   #", "### "],
        _ => return None,
    })
}

/// A word of blocks, each pixel `scale` times as large.
#[derive(Clone, Debug)]
pub(super) struct Large {
    rows: Vec<Vec<bool>>,
}

impl Large {
    /// `None` where a letter has no glyph.
    pub(super) fn new(word: &str, scale: usize) -> Option<Self> {
        let glyphs: Vec<_> = word.chars().map(glyph).collect::<Option<_>>()?;
        let mut rows = Vec::new();
        for y in 0..HEIGHT * scale {
            let lines = glyphs.iter().map(|glyph| glyph[y / scale]);
            let line = lines.collect::<Vec<_>>().join(" ");
            let pixels = line.chars().flat_map(|it| std::iter::repeat_n(it == '#', scale));
            rows.push(pixels.collect());
        }
        Some(Large { rows })
    }

    /// In characters.
    pub(super) fn width(&self) -> u16 {
        self.rows.first().map_or(0, Vec::len) as u16
    }

    /// In characters.
    pub(super) fn height(&self) -> u16 {
        self.rows.len().div_ceil(2) as u16
    }

    /// Draws it with its upper left corner at `at`; what does not fit into `area` is cut off.
    pub(super) fn draw(&self, at: Position, area: Rect, buffer: &mut Buffer, style: Style) {
        let pixel = |y: usize, x: usize| self.rows.get(y).is_some_and(|row| row[x]);
        for y in 0..self.height() {
            for x in 0..self.width() {
                let (top, below) = (usize::from(y) * 2, usize::from(y) * 2 + 1);
                let symbol = match (pixel(top, x.into()), pixel(below, x.into())) {
                    (true, true) => "█",
                    (true, false) => "▀",
                    (false, true) => "▄",
                    (false, false) => continue,
                };
                let place = Position::new(at.x.saturating_add(x), at.y.saturating_add(y));
                if area.contains(place)
                    && let Some(cell) = buffer.cell_mut(place)
                {
                    cell.set_symbol(symbol).set_style(style);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_and_the_name_of_the_program_have_glyphs_of_even_rows() {
        for word in ["0123456789", "BACKSPIN"] {
            for letter in word.chars() {
                let rows = glyph(letter).unwrap();
                assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{letter}");
            }
        }
        assert!(Large::new("You win", 1).is_none());
    }

    #[test]
    fn a_word_is_drawn_in_half_blocks_and_cut_off_at_the_edge() {
        let area = Rect::new(0, 0, 6, 3);
        let mut buffer = Buffer::empty(area);
        let word = Large::new("17", 1).unwrap();
        assert_eq!((word.width(), word.height()), (7, 3));
        word.draw(Position::new(0, 0), area, &mut buffer, Style::default());
        assert_eq!(buffer, Buffer::with_lines(["▄█  ▀▀", " █   ▄", "▀▀▀  ▀"]));
    }
}
