//! What cannot be derived is refused, in a sentence, at the field it is about.

#[test]
fn what_cannot_be_derived_is_refused_in_a_sentence_at_its_field() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refused/*.rs");
}
