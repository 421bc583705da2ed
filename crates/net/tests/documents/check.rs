//! Holds the page against the quotes, the documents and the tests. Each check gives its complaints.

use std::collections::HashMap;

use super::page::{Item, Page, Tally, fold};
use super::source::{Found, find};

/// The quotes of the page and those of `quotes` are the same, per document and in order.
///
/// `quotes` has a quote a line, below `== 000 ==` for the document that it is from.
pub(crate) fn quotes(page: &Page, quotes: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut kept = kept_quotes(quotes);
    for document in &page.documents {
        let number = &document.number;
        let Some(kept) = kept.remove(&number[..]) else {
            complaints.push(format!("{number}: no quotes of it are kept"));
            continue;
        };
        let mut kept = kept.into_iter();
        for statement in document.statements() {
            let (line, quote) = (statement.line, &statement.quote);
            match kept.next() {
                Some(same) if same == quote => {}
                Some(other) => {
                    complaints
                        .push(format!("{number}, line {line}: {quote:?} is kept as {other:?}"));
                    break;
                }
                None => complaints.push(format!("{number}, line {line}: {quote:?} is not kept")),
            }
        }
        if complaints.is_empty() {
            complaints.extend(kept.map(|quote| format!("{number}: {quote:?} is not on the page")));
        }
    }
    complaints.extend(kept.keys().map(|number| format!("{number} is not on the page")));
    complaints
}

fn kept_quotes(quotes: &str) -> HashMap<&str, Vec<&str>> {
    let mut kept = HashMap::new();
    let mut document = "";
    for line in quotes.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("== ").and_then(|line| line.strip_suffix(" ==")) {
            Some(number) => {
                document = number;
                kept.insert(number, Vec::new());
            }
            None => kept.entry(document).or_default().push(line),
        }
    }
    kept
}

/// Each heading and each quote of a document is in its text, one behind the other.
pub(crate) fn document(page: &Page, number: &str, text: &str) -> Vec<String> {
    let Some(document) = page.documents.iter().find(|document| document.number == number) else {
        return vec![format!("{number} is not on the page")];
    };
    let (text, mut at) = (fold(text), 0);
    let mut complaints = Vec::new();
    for item in &document.items {
        let (needle, name) = match item {
            Item::Heading(heading) => (format!("# {heading} "), format!("heading {heading:?}")),
            Item::Statement(it) => (it.quote.clone(), format!("line {}, {:?}", it.line, it.quote)),
        };
        match text[at..].find(&needle) {
            Some(found) => at += found + needle.len() - usize::from(needle.ends_with(' ')),
            None if text.contains(&needle) => {
                complaints.push(format!("{number}, {name}: stands before what is quoted above it"));
            }
            None => complaints.push(format!("{number}, {name}: is not in the document")),
        }
    }
    complaints
}

/// Each test that the page names is in its file, and runs. `read` gives a file's source.
pub(crate) fn tests(page: &Page, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    for document in &page.documents {
        for statement in document.statements() {
            for test in &statement.tests {
                let found = match read(&test.file) {
                    Some(source) => find(&source, &test.name),
                    None => Found::Nothing,
                };
                let what = match found {
                    Found::Test => continue,
                    Found::Ignored => "is ignored",
                    Found::NoTest => "is no test",
                    Found::Nothing => "is not there",
                };
                let (line, file, name) = (statement.line, &test.file, &test.name);
                complaints.push(format!("line {line}: `{file}: {name}` {what}"));
            }
        }
    }
    complaints
}

/// The table at the top says how many statements there are, and how many are open.
pub(crate) fn tallies(page: &Page) -> Vec<String> {
    let mut all = Tally::default();
    let mut counted: Vec<(String, Tally)> = Vec::new();
    for document in &page.documents {
        all += document.tally();
        counted.push((document.number.clone(), document.tally()));
    }
    counted.push(("all".into(), all));
    if page.tallies == counted {
        return Vec::new();
    }
    let row = |(name, it): &(String, Tally)| {
        let Tally { statements, shown, differ, open } = it;
        format!("| {name} | {statements} | {shown} | {differ} | {open} |")
    };
    let rows = |tallies: &[(String, Tally)]| tallies.iter().map(row).collect::<Vec<_>>().join("\n");
    vec![format!("the table says\n{}\nbut it is\n{}", rows(&page.tallies), rows(&counted))]
}
