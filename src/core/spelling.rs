//! The known name that a misspelt one stands for.

/// Returns the known name that is nearest in spelling, in whatever case, if it is near enough to be meant. Another number
/// (`read1` and `read0`) is no typo.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (name, limit) = (name.to_lowercase(), 1 + name.chars().count() / 4);
    let number = |of: &str| of.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_other = |of: &str| !number(of).is_empty() && number(of) != number(&name);
    let known = known.into_iter();
    let known = known.filter(|known| number(&name).is_empty() || !is_other(known));
    let known = known.map(|known| (strsim::osa_distance(&name, &known.to_lowercase()), known));
    let near = known.filter(|(distance, _)| *distance <= limit);
    // Of equally near ones the one that goes on as it begins: `of` is `off`, not `on`.
    near.min_by_key(|(distance, known)| (*distance, !known.to_lowercase().starts_with(&name)))
        .map(|(_, known)| known)
}

/// Returns the beginning of a sentence about the known names: a question with the one that may be meant, if there is one.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let question = |known| format!("did you mean `{known}`? ");
    nearest(name, known).map(question).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_has_a_nearest_name_and_another_word_has_none() {
        let known = ["copy", "repeat_copy", "read0", "write0"];
        let near = ["cpoy", "copi", "COPY", "repeat-copy", "raed0", "write"];
        let meant = ["copy", "copy", "copy", "repeat_copy", "read0", "write0"];
        assert_eq!(near.map(|name| nearest(name, known)), meant.map(Some));
        assert_eq!(
            ["priority", "", "read1"].map(|name| nearest(name, known)),
            [None; 3]
        );
        assert_eq!(nearest("of", ["on", "off"]), Some("off"));
    }
}
