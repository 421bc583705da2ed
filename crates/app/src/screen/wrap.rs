//! Fits text into the room that a face has, as the face measures it.

use super::Row;

/// The rows of `text`, of which the first has room for `first` and each other for `rest`: broken between
/// words, and within those that fit into none. `width` says how wide a text is.
pub(crate) fn wrap(text: &str, first: f32, rest: f32, width: impl Fn(&str) -> f32) -> Vec<String> {
    if width(text) <= first {
        return vec![text.to_owned()];
    }
    let mut rows = vec![String::new()];
    let room = |rows: &[String]| if rows.len() == 1 { first } else { rest };
    for word in text.split_inclusive(' ') {
        let longer = format!("{}{word}", last(&mut rows));
        if width(longer.trim_end()) <= room(&rows) {
            *last(&mut rows) = longer;
            continue;
        }
        if rows.len() == 1 && first < rest || !last(&mut rows).is_empty() {
            rows.push(String::new());
        }
        for letter in word.chars() {
            let longer = format!("{}{letter}", last(&mut rows));
            match width(longer.trim_end()) <= room(&rows) || last(&mut rows).is_empty() {
                true => *last(&mut rows) = longer,
                false => rows.push(letter.to_string()),
            }
        }
    }
    rows
}

/// The end of `text` that has room, where the cursor is.
pub(crate) fn tail(text: &str, room: f32, width: impl Fn(&str) -> f32) -> &str {
    let mut letters = text.chars();
    while width(letters.as_str()) > room && letters.next().is_some() {}
    letters.as_str()
}

/// How wide each column of these rows is. A row of one cell stands in none.
pub(crate) fn columns<W: Copy + PartialOrd>(rows: &[Row], width: impl Fn(&str) -> W) -> Vec<W> {
    let mut widths: Vec<W> = Vec::new();
    for row in rows.iter().filter(|row| row.cells.len() > 1) {
        for (i, cell) in row.cells.iter().enumerate() {
            let width = width(&cell.text);
            match widths.get_mut(i) {
                Some(widest) if *widest < width => *widest = width,
                Some(_) => {}
                None => widths.push(width),
            }
        }
    }
    widths
}

/// There is one from the start.
fn last(rows: &mut [String]) -> &mut String {
    rows.last_mut().expect("a text has a row")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, first: f32, rest: f32) -> Vec<String> {
        wrap(text, first, rest, |text| text.chars().count() as f32)
    }

    #[test]
    fn what_fits_stays_whole_and_what_does_not_is_broken_between_words() {
        assert_eq!(wrapped("take the left one", 17.0, 20.0), ["take the left one"]);
        assert_eq!(wrapped("take the left one", 9.0, 20.0), ["take the ", "left one"]);
        assert_eq!(wrapped("take the left one", 4.0, 8.0), ["take ", "the left ", "one"]);
    }

    #[test]
    fn a_word_that_fits_into_no_row_is_broken_and_nothing_is_lost() {
        assert_eq!(wrapped("aaaaaaaaaa", 4.0, 4.0), ["aaaa", "aaaa", "aa"]);
        assert_eq!(wrapped("hi aaaaaaaaaa", 4.0, 4.0), ["hi ", "aaaa", "aaaa", "aa"]);
        let long = "日本".repeat(60);
        assert_eq!(wrapped(&long, 50.0, 70.0).concat(), long);
        // Not even a letter fits: each has a row of its own.
        assert_eq!(wrapped("abc", 0.5, 0.5).concat(), "abc");
    }
}
