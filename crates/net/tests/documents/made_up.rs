//! The checker on small pages: what is wrong is found.

use super::check;
use super::page::{Page, TestName, Verdict};

const DOCUMENT: &str =
    "# Title\n\n## Flow\n\nIt is sent\nonce. Nobody waits.\n\n## End\n\nIt stops.\n";

const QUOTES: &str = "== 000 ==\nIt is sent once.\nNobody waits.\nIt stops.\n";

const PAGE: &str = "\
# Page

| document | statements | shown | differ | open |
|---|--:|--:|--:|--:|
| 000 Title | 3 | 1 | 1 | 1 |
| all | 3 | 1 | 1 | 1 |

## 000: Title

### Flow

> It is sent
> once.

Shown: `crates/x.rs: it_is_sent`, in literal
bytes.

> Nobody waits.

**Differs:** here everybody waits, and `crates/x.rs:
everybody_waits` shows it.

### End

> It stops.

**Open:** nothing stops it yet.
";

const SOURCE: &str = "\
#[test]
fn it_is_sent() {}

#[test]
fn everybody_waits() {}

fn helper() {}

#[test]
#[ignore = \"slow\"]
fn it_is_slow() {}
";

/// Every complaint about a page.
fn complaints(page: &str) -> Vec<String> {
    let page = Page::parse(page);
    let source = |file: &str| (file == "crates/x.rs").then(|| SOURCE.to_owned());
    [
        page.faults.clone(),
        check::quotes(&page, QUOTES),
        check::document(&page, "000", DOCUMENT),
        check::tests(&page, source),
        check::tallies(&page),
    ]
    .concat()
}

/// What is complained of when the page has `new` for `old`.
#[track_caller]
fn changed(old: &str, new: &str) -> String {
    assert!(PAGE.contains(old), "{old:?}");
    let complaints = complaints(&PAGE.replace(old, new));
    assert!(!complaints.is_empty(), "nothing is wrong with {new:?}");
    complaints.join("\n")
}

#[test]
fn a_good_page_is_read_and_nothing_is_wrong_with_it() {
    assert_eq!(complaints(PAGE), [""; 0]);
    let page = Page::parse(PAGE);
    let [document] = &page.documents[..] else { panic!("{page:?}") };
    let statements: Vec<_> = document.statements().collect();
    assert_eq!(statements[0].quote, "It is sent once.");
    let test = |name: &str| TestName { file: "crates/x.rs".into(), name: name.into() };
    assert_eq!(statements[0].tests, [test("it_is_sent")]);
    assert_eq!(statements[1].tests, [test("everybody_waits")]);
    let verdicts: Vec<_> = statements.iter().map(|it| it.verdict).collect();
    assert_eq!(verdicts, [Verdict::Shown, Verdict::Differs, Verdict::Open]);
}

#[test]
fn a_wrong_quote_is_found_against_the_kept_quotes_and_against_the_document() {
    let said = changed("> Nobody waits.", "> Somebody waits.");
    assert!(said.contains("\"Somebody waits.\" is kept as \"Nobody waits.\""), "{said}");
    assert!(said.contains("\"Somebody waits.\": is not in the document"), "{said}");
}

#[test]
fn a_quote_that_only_one_side_has_is_found() {
    let page = Page::parse(PAGE);
    let more = check::quotes(&page, &format!("{QUOTES}It begins again.\n"));
    assert_eq!(more, ["000: \"It begins again.\" is not on the page"]);
    let less = check::quotes(&page, &QUOTES.replace("It stops.\n", ""));
    assert_eq!(less, ["000, line 25: \"It stops.\" is not kept"]);
    let other = check::quotes(&page, &format!("{QUOTES}== 001 ==\n"));
    assert_eq!(other, ["001 is not on the page"]);
    let none = check::quotes(&page, "");
    assert_eq!(none, ["000: no quotes of it are kept"]);
}

#[test]
fn quotes_and_headings_stand_in_the_documents_order() {
    let page = Page::parse(PAGE);
    let swapped =
        DOCUMENT.replace("It is sent\nonce. Nobody waits.", "Nobody waits. It is sent once.");
    let said = check::document(&page, "000", &swapped);
    assert_eq!(said, ["000, line 18, \"Nobody waits.\": stands before what is quoted above it"]);
    let said = check::document(&page, "000", &DOCUMENT.replace("## End", "## Stop"));
    assert_eq!(said, ["000, heading \"End\": is not in the document"]);
    let said = changed("### Flow\n\n", "### End\n\n");
    assert!(said.contains("\"It is sent once.\": stands before what is quoted above it"), "{said}");
}

#[test]
fn a_test_that_is_unknown_ignored_or_none_is_found() {
    let with = |name: &str| changed("x.rs: it_is_sent", &format!("x.rs: {name}"));
    assert_eq!(with("it_was_sent"), "line 12: `crates/x.rs: it_was_sent` is not there");
    assert_eq!(with("it_is_slow"), "line 12: `crates/x.rs: it_is_slow` is ignored");
    assert_eq!(with("helper"), "line 12: `crates/x.rs: helper` is no test");
    let said = changed("crates/x.rs: it_is_sent", "crates/y.rs: it_is_sent");
    assert_eq!(said, "line 12: `crates/y.rs: it_is_sent` is not there");
    // Beside a difference and beside what is open they are checked, too.
    let said = changed("everybody_waits`", "nobody_waits`");
    assert_eq!(said, "line 18: `crates/x.rs: nobody_waits` is not there");
    let said = changed("nothing stops it yet.", "`crates/x.rs: helper` is not enough.");
    assert_eq!(said, "line 25: `crates/x.rs: helper` is no test");
}

#[test]
fn a_span_that_looks_like_a_test_and_is_none_is_found() {
    let said = changed("`crates/x.rs: it_is_sent`", "`crates/x.rs`");
    assert!(said.contains("`crates/x.rs` is not `file: test`"), "{said}");
    let said = changed("### End\n", "See `crates/x.rs: nothing`.\n\n### End\n");
    assert_eq!(said, "line 23: names a test and answers no quote");
}

#[test]
fn a_statement_needs_a_verdict_and_the_verdict_its_ground() {
    let said = changed("Shown: `crates/x.rs: it_is_sent`, in literal\nbytes.\n\n", "");
    assert!(said.contains("line 12: nothing is said of \"It is sent once.\""), "{said}");
    let said = changed("**Open:** nothing stops it yet.\n", "");
    assert!(said.contains("line 25: nothing is said of \"It stops.\""), "{said}");
    let said = changed("Shown: `crates/x.rs: it_is_sent`", "Shown: everywhere");
    assert_eq!(said, "line 12: \"It is sent once.\" is shown by no test");
    let said = changed("**Open:** nothing stops it yet.", "**Open:** later.");
    assert_eq!(said, "line 25: of \"It stops.\" it is not said why");
    let said = changed("> Nobody waits.\n\n", "");
    assert!(said.contains("line 18: answers no quote"), "{said}");
}

#[test]
fn a_wrong_count_is_found() {
    let rows = [
        ("| 000 Title | 3 | 1 | 1 | 1 |", "| 000 Title | 3 | 1 | 2 | 0 |"),
        ("| all | 3 | 1 | 1 | 1 |", "| all | 3 | 2 | 1 | 0 |"),
        ("| all | 3 | 1 | 1 | 1 |\n", ""),
    ];
    for (old, new) in rows {
        let said = changed(old, new);
        assert!(said.starts_with("the table says"), "{said}");
    }
    // What is no longer open is counted anew.
    let said = changed("**Open:** nothing", "Shown: `crates/x.rs: it_is_sent`, nothing");
    assert!(said.contains("| 000 | 3 | 2 | 1 | 0 |"), "{said}");
}
