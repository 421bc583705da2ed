//! What the five documents say, and where it is shown: `docs/documents.md` is true.
//!
//! The documents themselves are not in the repository. `quotes.txt` has what the page quotes, and
//! where the documents are at hand (in the folder that `BACKSPIN_DOCUMENTS` names, or else in
//! `../shared/seeds` beside the repository) each quote is looked up in them.
//!
//! `pings`, `hello_acks`, `lan_traffic`, `log_lines`, `numbers` and `ahead` show statements that no other
//! test did.

mod ahead;
mod check;
#[path = "../scripts/desk.rs"]
mod desk;
mod ends;
mod hello_acks;
mod lan_traffic;
mod log_lines;
mod made_up;
mod numbers;
mod page;
mod pings;
// Another test's network, of which this one needs a part.
#[allow(dead_code)]
#[path = "../old_dialects/scene.rs"]
mod scene;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use page::Page;

const NUMBERS: [&str; 5] = ["000", "001", "002", "003", "004"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> Page {
    let text = fs::read_to_string(repository().join("docs/documents.md")).expect("the page");
    Page::parse(&text)
}

#[track_caller]
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_statement_of_the_page_has_a_verdict_and_all_five_documents_are_there() {
    let page = page();
    assert_none(&page.faults);
    let numbers: Vec<_> = page.documents.iter().map(|document| &document.number[..]).collect();
    assert_eq!(numbers, NUMBERS);
}

#[test]
fn the_quotes_of_the_page_are_those_that_are_kept() {
    assert_none(&check::quotes(&page(), include_str!("quotes.txt")));
}

#[test]
fn the_table_of_the_page_counts_what_is_shown_what_differs_and_what_is_open() {
    assert_none(&check::tallies(&page()));
}

#[test]
fn every_test_that_the_page_names_is_there_and_runs() {
    let root = repository();
    assert_none(&check::tests(&page(), |file| fs::read_to_string(root.join(file)).ok()));
}

#[test]
fn every_quote_is_in_its_document_in_order() {
    let Some(folder) = documents() else {
        println!("skipped: no documents are at hand; BACKSPIN_DOCUMENTS names their folder");
        return;
    };
    let page = page();
    for number in NUMBERS {
        let text = document(&folder, number);
        assert_none(&check::document(&page, number, &text));
    }
}

/// The folder with the documents. One that is named must be there.
fn documents() -> Option<PathBuf> {
    match std::env::var_os("BACKSPIN_DOCUMENTS") {
        Some(folder) => Some(folder.into()),
        None => Some(repository().join("../shared/seeds")).filter(|folder| folder.is_dir()),
    }
}

/// The text of the file whose name begins with `number`.
fn document(folder: &Path, number: &str) -> String {
    let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let file = files
        .map(|file| file.expect("a file").path())
        .find(|path| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(number)))
        .unwrap_or_else(|| panic!("{folder:?} has no document {number}"));
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"))
}
