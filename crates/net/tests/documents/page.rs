//! Reads `docs/documents.md`.
//!
//! ```text
//! | 000 | 2 | 1 | 0 | 1 |           a row of the table at the top
//! ## 000: Title of the document
//! ### A heading of the document
//! > A sentence of the document.
//!
//! Shown: `crates/net/tests/x.rs: a_test`, and a remark.
//! ```
//!
//! What answers a quote begins with `Shown:`, `**Differs:**` or `**Open:**`.

use std::ops::AddAssign;

/// The page, and what is wrong with its form.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The rows of the table at the top.
    pub(crate) tallies: Vec<(String, Tally)>,
    pub(crate) documents: Vec<Document>,
    pub(crate) faults: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Document {
    /// `000` to `004`.
    pub(crate) number: String,
    /// Its title, its headings and its sentences, in order.
    pub(crate) items: Vec<Item>,
}

#[derive(Debug)]
pub(crate) enum Item {
    Heading(String),
    Statement(Statement),
}

#[derive(Debug)]
pub(crate) struct Statement {
    /// In the document's words, white space folded.
    pub(crate) quote: String,
    pub(crate) verdict: Verdict,
    pub(crate) tests: Vec<TestName>,
    /// Of the page.
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Shown,
    Differs,
    Open,
}

/// `crates/net/tests/x.rs: a_test`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestName {
    pub(crate) file: String,
    pub(crate) name: String,
}

/// How many statements there are, and what is said of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) statements: usize,
    pub(crate) shown: usize,
    pub(crate) differ: usize,
    pub(crate) open: usize,
}

impl Document {
    pub(crate) fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.items.iter().filter_map(|item| match item {
            Item::Statement(statement) => Some(statement),
            Item::Heading(_) => None,
        })
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for statement in self.statements() {
            tally.statements += 1;
            *match statement.verdict {
                Verdict::Shown => &mut tally.shown,
                Verdict::Differs => &mut tally.differ,
                Verdict::Open => &mut tally.open,
            } += 1;
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.statements += other.statements;
        self.shown += other.shown;
        self.differ += other.differ;
        self.open += other.open;
    }
}

/// Text with every run of white space as one space.
pub(crate) fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Page {
    pub(crate) fn parse(text: &str) -> Self {
        let mut page = Page::default();
        let mut quote: Option<(usize, String)> = None;
        for (line, block) in blocks(text) {
            let answer = Verdict::of(&block);
            if let (Some((line, quote)), None) = (&quote, answer) {
                page.faults.push(format!("line {line}: nothing is said of {quote:?}"));
            }
            match (answer, quote.take()) {
                (Some((verdict, rest)), Some((line, quote))) => {
                    page.answer(line, quote, verdict, rest);
                }
                (Some(_), None) => page.faults.push(format!("line {line}: answers no quote")),
                (None, _) if block.starts_with('>') => quote = Some((line, unquoted(&block))),
                (None, _) => page.structure(line, &block),
            }
        }
        if let Some((line, quote)) = quote {
            page.faults.push(format!("line {line}: nothing is said of {quote:?}"));
        }
        page
    }

    /// Headings, the table, and text between statements.
    fn structure(&mut self, line: usize, block: &str) {
        if let Some(heading) = block.strip_prefix("## ") {
            let Some((number, title)) = heading.split_once(": ") else { return };
            let items = vec![Item::Heading(fold(title))];
            self.documents.push(Document { number: number.into(), items });
        } else if let Some(heading) = block.strip_prefix("###") {
            let heading = heading.trim_start_matches('#').trim();
            match self.documents.last_mut() {
                Some(document) => document.items.push(Item::Heading(fold(heading))),
                None => self.faults.push(format!("line {line}: a heading of no document")),
            }
        } else if block.starts_with('|') && self.documents.is_empty() {
            self.tallies.extend(block.lines().filter_map(Tally::row));
        } else if block.contains("`crates/") {
            self.faults.push(format!("line {line}: names a test and answers no quote"));
        }
    }

    fn answer(&mut self, line: usize, quote: String, verdict: Verdict, rest: &str) {
        let mut tests = Vec::new();
        for span in rest.split('`').skip(1).step_by(2) {
            let span = fold(span);
            match TestName::of(&span) {
                Some(test) => tests.push(test),
                None if span.starts_with("crates/") => {
                    self.faults.push(format!("line {line}: `{span}` is not `file: test`"));
                }
                None => {}
            }
        }
        if verdict == Verdict::Shown && tests.is_empty() {
            self.faults.push(format!("line {line}: {quote:?} is shown by no test"));
        }
        if verdict != Verdict::Shown && rest.split_whitespace().count() < 4 {
            self.faults.push(format!("line {line}: of {quote:?} it is not said why"));
        }
        match self.documents.last_mut() {
            Some(document) => {
                let statement = Statement { quote, verdict, tests, line };
                document.items.push(Item::Statement(statement));
            }
            None => self.faults.push(format!("line {line}: a quote of no document")),
        }
    }
}

impl Verdict {
    fn of(block: &str) -> Option<(Verdict, &str)> {
        let marks = [
            ("Shown:", Verdict::Shown),
            ("**Differs:**", Verdict::Differs),
            ("**Open:**", Verdict::Open),
        ];
        marks
            .into_iter()
            .find_map(|(mark, verdict)| block.strip_prefix(mark).map(|rest| (verdict, rest)))
    }
}

impl TestName {
    fn of(span: &str) -> Option<Self> {
        let (file, name) = span.split_once(": ")?;
        let is_file = file.starts_with("crates/") && file.ends_with(".rs");
        let is_name = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        (is_file && is_name).then(|| TestName { file: file.into(), name: name.into() })
    }
}

impl Tally {
    /// A row of the table: its first word, and its numbers. Not its head.
    fn row(line: &str) -> Option<(String, Tally)> {
        let mut cells = line.trim().trim_matches('|').split('|').map(str::trim);
        let name = cells.next()?.split_whitespace().next()?.to_owned();
        let numbers: Vec<usize> = cells.map(str::parse).collect::<Result<_, _>>().ok()?;
        let [statements, shown, differ, open] = numbers[..] else { return None };
        Some((name, Tally { statements, shown, differ, open }))
    }
}

/// What stands between blank lines, and the line where it begins. A heading is a block of its own.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (index, line) in text.lines().enumerate() {
        let is_heading = line.starts_with('#');
        if line.trim().is_empty() {
            goes_on = false;
        } else if goes_on && !is_heading {
            let (_, block) = blocks.last_mut().expect("it goes on");
            *block += "\n";
            *block += line;
        } else {
            blocks.push((index + 1, line.to_owned()));
            goes_on = !is_heading;
        }
    }
    blocks
}

fn unquoted(block: &str) -> String {
    let lines = block.lines().map(|line| line.trim_start().trim_start_matches('>'));
    fold(&lines.collect::<Vec<_>>().join(" "))
}
