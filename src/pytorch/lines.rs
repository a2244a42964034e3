//! Lines of Python that are broken where they are too long, as `ruff format` breaks them.

/// The longest line that is not broken.
pub(super) const WIDTH: usize = 120;
/// The operators at which a line is broken, those that bind most weakly first.
const OPERATORS: [&[&str]; 4] = [
    &[" if ", " else "],
    &[" == ", " < ", " <= ", " > ", " >= "],
    &[" + ", " - "],
    &[" * ", " / "],
];

/// A statement at an indent, on as many lines as it needs.
pub(super) fn broken(text: &str, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (before, value) = match text.split_once(" = ") {
        Some((place, value)) => (format!("{place} = "), value),
        None => (String::new(), text),
    };
    put(&mut lines, indent, [&before, value, ""], false);
    lines
}

/// Adds an expression with the text before and after it. `is_enclosed`: brackets around it allow to break it anywhere.
fn put(
    lines: &mut Vec<String>,
    indent: usize,
    [before, value, after]: [&str; 3],
    is_enclosed: bool,
) {
    let mut line = |text: String| lines.push(" ".repeat(indent) + &text);
    let length = indent + before.len() + value.len() + after.len();
    let brackets = brackets(value);
    let longest = brackets.iter().max_by_key(|(open, close)| close - open);
    let Some(mut bracket) = longest.filter(|_| length > WIDTH) else {
        return line(format!("{before}{value}{after}"));
    };
    let (operands, calls) = (operands(value), calls(value));
    let is_sum = operands.len() > 1;
    let parts = if is_sum { operands } else { calls };
    let last = &brackets[brackets.len() - 1];
    if !is_enclosed
        && is_sum
        && parts.len() == 2
        && value.ends_with(')')
        && indent + before.len() + last.0 < WIDTH
    {
        bracket = last;
    } else if parts.len() > 1 && is_enclosed {
        let end = parts.len() - 1;
        for (index, part) in parts.into_iter().enumerate() {
            let before = if index == 0 { before } else { "" };
            let after = if index == end { after } else { "" };
            put(lines, indent, [before, part, after], true);
        }
        return;
    } else if parts.len() > 1 {
        line(format!("{before}("));
        put(lines, indent + 4, ["", value, ""], true);
        return lines.push(format!("{}){after}", " ".repeat(indent)));
    }
    let (start, end) = value.split_at(bracket.1);
    let (start, inner) = start.split_at(bracket.0 + 1);
    line(format!("{before}{start}"));
    let items = split(inner, |rest| rest.starts_with(", "));
    if items.len() > 1 && indent + 4 + inner.len() > WIDTH {
        for item in items {
            let item = item.trim_start_matches(", ");
            put(lines, indent + 4, ["", item, ","], true);
        }
    } else {
        put(lines, indent + 4, ["", inner, ""], true);
    }
    lines.push(format!("{}{end}{after}", " ".repeat(indent)));
}

/// The operands of the operators that bind most weakly, each behind its operator.
fn operands(text: &str) -> Vec<&str> {
    let mut levels = OPERATORS.iter().map(|level| {
        split(text, |rest| {
            level.iter().any(|operator| rest.starts_with(operator))
        })
    });
    let found = levels.find(|parts| parts.len() > 1);
    found.map_or(vec![text], |parts| {
        parts.into_iter().map(str::trim_start).collect()
    })
}

/// The methods called one after another, behind what the first is called on; none where it is only one.
fn calls(text: &str) -> Vec<&str> {
    let is_call = |rest: &str| {
        let name = rest.strip_prefix('.').and_then(|rest| rest.split_once('('));
        name.is_some_and(|(name, _)| name.chars().all(|own| own.is_alphanumeric() || own == '_'))
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in split(text, is_call) {
        // A name with dots before the first bracket is one.
        match parts.last_mut() {
            Some(last) if !last.contains(['(', '[']) => *last = &text[..last.len() + part.len()],
            _ => parts.push(part),
        }
    }
    if parts.len() > 2 { parts } else { vec![text] }
}

/// The outermost brackets: where each opens and closes.
fn brackets(text: &str) -> Vec<(usize, usize)> {
    let (mut all, mut open) = (Vec::new(), Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => open.push(at),
            ')' | ']' | '}' => {
                let own = open.pop();
                all.extend(own.filter(|_| open.is_empty()).map(|own| (own, at)));
            }
            _ => {}
        }
    }
    all
}

/// The parts of a text, which is cut outside of brackets before what `is_cut` accepts.
fn split(text: &str, is_cut: impl Fn(&str) -> bool) -> Vec<&str> {
    let (brackets, mut parts, mut start) = (brackets(text), Vec::new(), 0);
    for (at, _) in text.char_indices() {
        let is_inside = |(open, close): &(usize, usize)| (*open..*close).contains(&at);
        if at > start && is_cut(&text[at..]) && !brackets.iter().any(is_inside) {
            parts.push(&text[start..at]);
            start = at;
        }
    }
    parts.push(&text[start..]);
    parts
}
