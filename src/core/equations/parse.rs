//! Expressions from tokens: a cursor over one logical line.

use super::page::{Library, Mark, Page, Word};
use super::text::{Checked, Name, Place, Sort, Token, ensure, suggestion, wrong};
use super::tree::{
    Axis, Call, FUNCTIONS, Form, Function, Item, Kind, Node, OPERATORS, Rule, second_name,
};

/// Words that begin a declaration.
pub(super) const DECLARATIONS: &str =
    "machine size entries heads constant switch input target noise parameter start";
/// The other words of the language, which are no names either.
const WORDS: &str = "component use along once for if is or in as last learned infinity backwards";
/// The deepest expression.
const DEEPEST: usize = 60;
/// The greatest strength of an operator.
const POWER: usize = 4;
/// The advice to whoever passes it.
const SPLIT: &str = "give a part of it a statement of its own";

/// Whether it is a word of the language and so no name.
pub(super) fn is_word(text: &str) -> bool {
    let mut words = DECLARATIONS.split(' ').chain(WORDS.split(' '));
    words.any(|word| word == text)
}

/// A cursor over the tokens of one logical line, which stands in the innermost scope of a page.
pub(super) struct Cursor<'a> {
    tokens: &'a [Token],
    /// The page that it belongs to.
    pub page: &'a mut Page,
    /// Where its components are found.
    pub library: Library<'a>,
    next: usize,
    depth: usize,
    end: Token,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at the start of a line.
    pub fn new(tokens: &'a [Token], page: &'a mut Page, library: Library<'a>) -> Self {
        let mut end = tokens[tokens.len() - 1].clone();
        end.place.column += end.text.chars().count() as u32;
        (end.sort, end.text) = (Sort::End, "the end of the line".into());
        Self {
            tokens,
            page,
            library,
            next: 0,
            depth: 0,
            end,
        }
    }

    /// The next token.
    pub fn token(&self) -> &Token {
        self.tokens.get(self.next).unwrap_or(&self.end)
    }

    /// The place of the next token.
    pub fn place(&self) -> Place {
        self.token().place.clone()
    }

    /// Returns a mistake at the next token.
    pub fn fail<T>(&self, allowed: &str) -> Checked<T> {
        let Token { sort, text, place } = self.token();
        let quote = if *sort == Sort::End { "" } else { "'" };
        wrong!(place, "found {quote}{text:.40}{quote}"; "allowed here: {allowed}")
    }

    /// Goes past the next token if it is this word or sign.
    pub fn take(&mut self, text: &str) -> bool {
        let is = self.token().is(text);
        self.next += usize::from(is);
        is
    }

    /// Goes past this word or sign.
    pub fn need(&mut self, text: &str) -> Checked<()> {
        if self.take(text) {
            return Ok(());
        }
        self.fail(&format!("'{text}'"))
    }

    /// Goes past a token of this kind and returns it.
    pub fn any(&mut self, sort: Sort, what: &str) -> Checked<(Name, Place)> {
        let token = self.token().clone();
        if token.sort != sort {
            return self.fail(what);
        }
        self.next += 1;
        Ok((token.text, token.place))
    }

    /// A new name; in a component as the page has it. An axis or a switch may be called like a function.
    pub fn name(&mut self, may_be_function: bool) -> Checked<(Name, Place)> {
        let text = &self.token().text;
        if is_word(text) || !may_be_function && Function::named(text).is_some() {
            return self.fail("a name that is no word or function of the language");
        }
        let (name, place) = self.any(Sort::Name, "a name")?;
        Ok((self.page.scoped(&name), place))
    }

    /// One or more things, separated by a sign.
    pub fn list<T>(
        &mut self,
        sign: &str,
        mut one: impl FnMut(&mut Self) -> Checked<T>,
    ) -> Checked<Vec<T>> {
        let mut out = vec![one(self)?];
        while self.take(sign) {
            out.push(one(self)?);
        }
        Ok(out)
    }

    /// Whether what stands in brackets is over.
    pub fn is_closed(&self) -> bool {
        self.token().is("]") || self.token().is(";")
    }

    /// Goes past the end of what stands in brackets.
    pub fn close(&mut self, has_options: bool) -> Checked<()> {
        if self.take("]") {
            return Ok(());
        }
        self.fail(if has_options {
            "',' or ';' or ']'"
        } else {
            "',' or ']'"
        })
    }

    /// Choices of a switch or entries of an axis, which may be called like functions.
    pub fn choices(&mut self, sign: &str) -> Checked<Vec<Name>> {
        let mut seen = Vec::new();
        self.list(sign, |cursor| {
            let (name, place) = cursor.any(Sort::Name, "a name")?;
            ensure!(!seen.contains(&name), place, "{name} stands twice"; "a choice or an entry stands once");
            seen.push(name.clone());
            Ok(name)
        })
    }

    /// An axis.
    pub fn axis(&mut self) -> Checked<Axis> {
        let (name, place) = self.name(true)?;
        Ok(self.page.axis(&name, &place))
    }

    /// Checks that what has a length of its own is not called `past`.
    pub fn no_past(&self, axis: Option<&Axis>, place: &Place) -> Checked<()> {
        let is_past = axis.is_some_and(|axis| &*self.page.axes[*axis].name == "past");
        // A component that is used along past may have choices that would not fit it.
        ensure!(!is_past || !self.page.scopes.is_empty(), place, "past has its own length at each step"; "choose another name for this axis");
        Ok(())
    }

    /// Axes in brackets, or none.
    pub fn axes(&mut self) -> Checked<Option<Vec<Axis>>> {
        if !self.take("[") {
            return Ok(None);
        }
        if self.take("]") {
            return Ok(Some(vec![]));
        }
        let axes = self.distinct()?;
        self.need("]").map(|()| Some(axes))
    }

    /// Axes separated by commas, each once.
    fn distinct(&mut self) -> Checked<Vec<Axis>> {
        let mut seen = Vec::new();
        self.list(",", |cursor| {
            let (place, axis) = (cursor.place(), cursor.axis()?);
            let name = &cursor.page.axes[axis].name;
            // Two axes of a component may be one where it is used.
            ensure!(!seen.contains(&axis) || !cursor.page.scopes.is_empty(), place, "{name} stands twice"; "an axis stands once: give one of them another name");
            seen.push(axis);
            Ok(axis)
        })
    }

    /// A number with a sign.
    pub fn number(&mut self) -> Checked<f64> {
        let sign = if self.take("-") { -1.0 } else { 1.0 };
        let (text, place) = self.any(Sort::Number, "a number")?;
        let number = text.parse().unwrap_or(f64::INFINITY);
        ensure!(number.is_finite(), place, "found {text}"; "allowed: numbers below 1e308");
        Ok(sign * number)
    }

    /// The sentence at the end of a declaration or a statement, and the end of the line.
    pub fn sentence(&mut self) -> Checked<String> {
        let sentence = self.any(Sort::Sentence, "").map(|(text, _)| text);
        match self.token().sort {
            Sort::End => Ok(sentence.map_or(String::new(), |text| text.to_string())),
            _ => self.fail("an operator or the end of the line"),
        }
    }

    fn node(place: &Place, kind: Kind, parts: Vec<Node>) -> Checked<Node> {
        let node = Node::new(place, kind, parts);
        ensure!(node.depth <= DEEPEST, place, "an expression of more than {DEEPEST} levels"; "{SPLIT}");
        Ok(node)
    }

    /// An expression.
    pub fn expression(&mut self) -> Checked<Node> {
        self.binary(0)
    }

    /// Operators of this strength or of a greater one. All nesting passes here, with the least or the greatest strength.
    fn binary(&mut self, least: usize) -> Checked<Node> {
        let (place, nests) = (self.place(), usize::from(least == 0 || least == POWER));
        self.depth += nests;
        ensure!(self.depth <= DEEPEST, place, "brackets or signs of more than {DEEPEST} levels"; "{SPLIT}");
        let mut left = if self.take("-") {
            Self::node(&place, Kind::Negative, vec![self.binary(POWER)?])?
        } else {
            self.selected()?
        };
        loop {
            let (token, place) = (self.token(), self.place());
            let is_here = |row: &&(&str, _, _)| row.2 >= least && token.is(row.0);
            let Some((_, operator, strength)) = OPERATORS.iter().find(is_here) else {
                self.depth -= nests;
                return Ok(left);
            };
            self.next += 1;
            // A power takes in the powers behind it, all others the operators before them.
            let right = self.binary(POWER.min(strength + 1))?;
            left = Self::node(&place, Kind::Binary(*operator), vec![left, right])?;
        }
    }

    /// A value and what is selected of it.
    fn selected(&mut self) -> Checked<Node> {
        let mut value = self.primary()?;
        while self.token().is("[") {
            let (place, name) = (self.place(), value.name().cloned());
            let mut parts = vec![value];
            self.next += 1;
            let items = self.list(",", |cursor| cursor.item(name.as_ref(), &mut parts))?;
            self.need("]")?;
            value = Self::node(&place, Kind::Select(items), parts)?;
        }
        Ok(value)
    }

    /// What stands between the brackets behind a value; an index goes to `parts`.
    fn item(&mut self, name: Option<&Name>, parts: &mut Vec<Node>) -> Checked<Item> {
        let (place, mut axis) = (self.place(), None);
        if !self.token().is("-") {
            let text = self.token().text.clone();
            let old = self.axis()?;
            if self.token().is("]") || self.token().is(",") {
                let mut keys = self.page.keys.iter();
                let key = keys.find(|key| key.word == Word::Entries && key.choices.contains(&text));
                if let Some(key) = key {
                    let (axis, value) = (&key.name, name.map_or("…", |name| name));
                    wrong!(place, "{text} is an entry of {axis}"; "write {value}[{axis}: {text}]");
                }
            }
            if self.take("as") {
                let (place, new) = (self.place(), self.axis()?);
                self.page.rename_axis(old, new, &place)?;
                return Ok(Item::As(old, new));
            }
            self.need(":")?;
            axis = Some(old);
        }
        let ahead = self.tokens[self.next..].iter().take(3);
        let ahead: Vec<&str> = ahead.map(|token| &*token.text).collect();
        if name.is_some() && matches!(ahead[..], ["-", "1", "]" | ","]) {
            self.next += 2;
            return Ok(Item::Before(axis));
        }
        let Some(axis) = axis else {
            wrong!(place, "found another step than [-1], or [-1] of an expression";
                "allowed is NAME[-1], the step before; for older steps, name a delay: b = a[-1]");
        };
        if self.take("last") {
            return Ok(Item::Entry(axis, None));
        }
        let entries = self.page.key(&self.page.axes[axis].name);
        let entries =
            entries.filter(|key| key.word == Word::Entries && self.token().sort == Sort::Name);
        let Some(entries) = entries else {
            let index = self.expression()?;
            if let Kind::Number(number) = index.kind {
                return Ok(Item::Entry(axis, Some(number as usize)));
            }
            // An index that has the axis itself selects from a second name of it.
            let second = second_name(&self.page.axes[axis].name).into();
            let second = self.page.axis(&second, &place);
            self.page.rename_axis(axis, second, &place)?;
            parts.push(index);
            return Ok(Item::Pick(axis));
        };
        let mut known = entries.choices.iter();
        let entry = known.position(|entry| *entry == self.token().text);
        if entry.is_none() {
            let (name, known) = (&entries.name, entries.choices.join(", "));
            return self.fail(&format!("an entry of {name}: {known}"));
        }
        self.next += 1;
        Ok(Item::Entry(axis, entry))
    }

    fn primary(&mut self) -> Checked<Node> {
        let Token { sort, text, place } = self.token().clone();
        let kind = if sort == Sort::Number {
            Kind::Number(self.number()?)
        } else if self.take("infinity") {
            Kind::Number(f64::INFINITY)
        } else if self.take("learned") {
            Kind::Learned
        } else if self.take("(") {
            let inner = self.expression()?;
            return self.need(")").map(|()| inner);
        } else if sort != Sort::Name || is_word(&text) {
            return self.fail("a number, a name, a function or '('");
        } else {
            self.next += 1;
            if let Some(function) = Function::named(&text) {
                return self.call(function, &place);
            }
            let mut rest = self.tokens[self.next..].iter();
            let mut after = rest.next();
            if after.is_some_and(|sign| sign.is("[")) {
                let mut depth = 1;
                let mut is_end = |sign: &&Token| {
                    depth += sign.depth();
                    depth == 0
                };
                after = rest.find(&mut is_end).and_then(|_| rest.next());
            }
            let names = FUNCTIONS.iter().map(|form| form.name);
            ensure!(!after.is_some_and(|sign| sign.is("(")), place,
                "unknown function {text}"; "{}", suggestion(&text, names, "functions"));
            if let Some(value) = self.page.argument(&text, &place)? {
                return Ok(value);
            }
            let name = self.page.scoped(&text);
            self.page.read.insert(name.clone());
            Kind::Name(name)
        };
        Ok(Node::new(&place, kind, vec![]))
    }

    fn call(&mut self, function: Function, place: &Place) -> Checked<Node> {
        let form = function.form();
        let mut call = Call {
            function,
            axes: vec![],
            bias: true,
            weights: None,
            each: vec![],
            now: false,
        };
        if self.take("[") {
            if !self.is_closed() {
                call.axes = match form.rule {
                    Rule::Own => self.list(",", Self::axis)?,
                    _ => self.distinct()?,
                };
            }
            let has_options = form.rule == Rule::Learned || function == Function::Join;
            while has_options && (self.take(";") || self.take(",")) {
                if self.take("no") {
                    self.need("bias")?;
                    call.bias = false;
                } else if self.take("each") {
                    call.each.push(self.axis()?);
                } else if !self.token().is("weights") {
                    return self.fail("'no bias', 'each AXIS' or 'weights of NAME'");
                } else {
                    call.weights = Some(self.weights_of()?.0);
                }
            }
            self.close(has_options)?;
        }
        let makes = matches!(function, Function::Join | Function::Append);
        if makes || function == Function::Window || form.rule == Rule::Learned {
            self.no_past(call.axes.last(), place)?;
        }
        if let Some(made) = call.axes.last().filter(|_| makes) {
            self.page.marks.insert((Mark::Known, *made));
            if function == Function::Append {
                self.page.marks.insert((Mark::Sequence, *made));
            }
        }
        let (mut parts, mut inputs) = (vec![], 0);
        if form.arguments[1] > 0 {
            self.need("(")?;
            parts.push(self.argument()?);
            while self.take(",") {
                call.now = function == Function::Past && self.take("now");
                if !call.now {
                    parts.push(self.argument()?);
                }
            }
            inputs = parts.len();
            if self.take(";") {
                parts.extend(self.list(",", Self::argument)?);
            }
            self.need(")")?;
        }
        let Form { name, usage, .. } = form;
        let fits = |count: usize, [low, high]: [usize; 2]| low <= count && count <= high;
        let states = parts.len() - inputs;
        let more = (states > 0).then(|| format!(" and {states} states"));
        let more = more.unwrap_or_default();
        ensure!(fits(inputs, form.arguments) && fits(states, form.states), place,
            "{name} has {inputs} arguments{more}"; "write {usage}");
        ensure!(fits(call.axes.len(), form.axes), place, "{name} has {} axes", call.axes.len(); "write {usage}");
        Self::node(place, Kind::Call(call), parts)
    }

    /// An argument of a function; an option, which has its place in brackets, is none.
    fn argument(&mut self) -> Checked<Node> {
        let ahead = self.tokens[self.next..].iter().take(3);
        let ahead: Vec<&str> = ahead.map(|token| &*token.text).collect();
        let option = match ahead[..] {
            ["no", "bias", ..] => "no bias".to_owned(),
            ["each", axis, ")" | "," | ";"] if axis != "[" => format!("each {axis}"),
            ["weights", "of", name] => format!("weights of {name}"),
            _ => return self.expression(),
        };
        wrong!(self.place(), "an option among the arguments";
            "options stand in square brackets: linear[; {option}](h)");
    }

    /// `weights of NAME`
    pub fn weights_of(&mut self) -> Checked<(Name, Place)> {
        self.need("weights")?;
        self.need("of")?;
        self.name(false)
    }
}
