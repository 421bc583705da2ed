//! Finds tests in Rust source, line by line, as `rustfmt` writes it.

/// What a file has by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A test that runs.
    Test,
    /// A test that is ignored, always or sometimes.
    Ignored,
    /// A function that is no test.
    NoTest,
    Nothing,
}

/// What `source` has by `name`. Of several (in different modules) the worst counts.
pub(crate) fn find(source: &str, name: &str) -> Found {
    let (mut found, mut attributes) = (Found::Nothing, String::new());
    let mut open_attribute = false;
    for line in source.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if open_attribute || line.starts_with("#[") {
            attributes += line;
            open_attribute = !line.ends_with(']');
            continue;
        }
        if function_name(line) == Some(name) {
            let this = judge(&attributes);
            found = match (found, this) {
                (Found::Nothing | Found::Test, _) => this,
                (before, _) => before,
            };
        }
        attributes.clear();
    }
    found
}

fn judge(attributes: &str) -> Found {
    if !attributes.contains("#[test]") {
        Found::NoTest
    } else if attributes.contains("ignore") {
        Found::Ignored
    } else {
        Found::Test
    }
}

fn function_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[test]
fn a_test_is_a_function_with_the_attribute_however_it_is_written() {
    let source = "
mod tests {
    #[test]
    fn plain() {}

    /// A remark.
    #[test]
    #[should_panic(expected = \"a\")]
    fn with_more() {}

    fn helper() {}

    proptest! {
        #[test]
        fn many(
            start in 1..200_u32,
        ) {}
    }
}";
    for name in ["plain", "with_more", "many"] {
        assert_eq!(find(source, name), Found::Test, "{name}");
    }
    assert_eq!(find(source, "helper"), Found::NoTest);
    assert_eq!(find(source, "plai"), Found::Nothing);
}

#[test]
fn an_ignored_test_is_found_as_one() {
    let reasons = ["#[ignore]", "#[ignore = \"slow]\"]", "#[cfg_attr(miri, ignore)]"];
    for reason in reasons {
        for source in
            [format!("#[test]\n{reason}\nfn it() {{}}"), format!("{reason}\n#[test]\nfn it() {{}}")]
        {
            assert_eq!(find(&source, "it"), Found::Ignored, "{source}");
        }
    }
    let over_lines = "#[test]\n#[ignore = \"a measurement \\\n    of two minutes\"]\nfn it() {}";
    assert_eq!(find(over_lines, "it"), Found::Ignored);
    // One of the same name that runs does not make up for it.
    let both = "#[test]\nfn it() {}\n#[test]\n#[ignore]\nfn it() {}";
    assert_eq!(find(both, "it"), Found::Ignored);
}

#[test]
fn a_test_that_is_commented_out_is_none() {
    assert_eq!(find("// #[test]\n// fn it() {}", "it"), Found::Nothing);
    assert_eq!(find("// #[test]\nfn it() {}", "it"), Found::NoTest);
}
