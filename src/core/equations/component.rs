//! Components: a use reads the lines of a component into the page, under names of its own. Everything else follows.

use std::collections::{HashMap, HashSet};

use super::page::{Key, Page, Scope};
use super::parse::{Cursor, is_word};
use super::text::{Checked, Line, Name, Place, Sort, Token, ensure, lines, suggestion, wrong};
use super::tree::{Kind, Node};

/// Declarations that give a component a key or an axis.
const KEYS: [&str; 6] = ["size", "heads", "entries", "constant", "switch", "noise"];
/// The most components inside components.
const MOST_INSIDE: usize = 8;

/// What a component declares on its unindented lines.
#[derive(Default)]
struct Outline<'a> {
    /// The word of each declaration of a key or an axis, by name.
    declared: HashMap<&'a Name, &'a str>,
    /// Inputs in their order, with a default.
    inputs: Vec<(&'a Name, Option<f64>)>,
    /// Axes that the use gives.
    given: Vec<&'a Name>,
    /// The axis of its only block.
    only_block: Option<&'a Name>,
}

impl<'a> Outline<'a> {
    fn of(lines: &'a [Line]) -> Self {
        let (mut out, mut blocks) = (Self::default(), 0);
        for line in lines.iter().filter(|line| line.indent() == 1) {
            let names = line.tokens[1..].iter();
            let names = names.filter(|token| token.sort == Sort::Name);
            let mut names = names.map(|token| &token.text);
            match (&*line.tokens[0].text, names.next()) {
                ("along", Some(axis)) => {
                    blocks += 1;
                    out.given.push(axis);
                    out.only_block = Some(axis);
                }
                ("once", _) => blocks += 1,
                ("input", Some(name)) => {
                    let mut behind = line.tokens.iter().skip_while(|token| !token.is("="));
                    let default = behind.nth(1).filter(|token| token.sort == Sort::Number);
                    out.inputs
                        .push((name, default.and_then(|token| token.text.parse().ok())));
                    out.given.extend(names);
                }
                (word, Some(name)) if KEYS.contains(&word) => _ = out.declared.insert(name, word),
                _ => {}
            }
        }
        out.only_block = out.only_block.filter(|_| blocks == 1);
        out.given
            .retain(|name| !out.declared.contains_key(*name) && !is_word(name));
        out
    }
}

impl Scope {
    /// The scope of a component that nothing uses: its inputs and axes have the names that it gives them.
    pub(super) fn unused(name: &Name, lines: &[Line]) -> Self {
        let (mut scope, outline) = (Self::default(), Outline::of(lines));
        scope.name.clone_from(name);
        for (input, _) in outline.inputs {
            let value = Node::new(&Place::default(), Kind::Name(input.clone()), vec![]);
            scope.values.insert(input.clone(), value);
        }
        let given = outline
            .given
            .into_iter()
            .map(|axis| (axis.clone(), axis.clone()));
        scope.names.extend(given);
        scope
    }
}

impl Cursor<'_> {
    /// Reads `use NAME = COMPONENT[formal = actual, …; weights of NAME](arguments)`, which stands in a block, and enters its
    /// scope; returns its lines.
    pub(super) fn enter_use(&mut self, block: Option<usize>) -> Checked<Vec<Line>> {
        self.need("use")?;
        let (name, place) = self.name(false)?;
        self.need("=")?;
        let (component, component_place) = self.any(Sort::Name, "the name of a component")?;
        let before = self.page.uses.insert(name.clone(), component.clone());
        let before = before.unwrap_or_else(|| component.clone());
        ensure!(before == component, place,
            "{name} is already a use of {before}"; "give the second a name of its own");
        ensure!(self.page.scopes.len() < MOST_INSIDE, place,
            "more than {MOST_INSIDE} components inside components"; "write the statements where they are needed");
        let all = self.component(&component, &component_place, &name)?;
        let outline = Outline::of(&all);
        ensure!(block.is_none() || outline.only_block.is_some(), place, "{component} has blocks of its own";
            "use it without indentation; in a block: components with one block 'along AXIS'");
        let mut scope = Scope::default();
        scope.name.clone_from(&name);
        if self.take("[") {
            if !self.is_closed() {
                let mut bound = HashSet::new();
                self.list(",", |cursor| {
                    let Token { text, place, .. } = cursor.token().clone();
                    let is_new = bound.insert(text.clone());
                    ensure!(is_new, place, "{text} is given twice"; "give it once");
                    cursor.bind(&mut scope, &outline, &all)
                })?;
            }
            if self.take(";") {
                let (other, place) = self.weights_of()?;
                let uses = &self.page.uses;
                ensure!(uses.contains_key(&other), place,
                    "no use is called {other}"; "{}", suggestion(&other, uses.keys(), "uses"));
                let is_same = uses[&other] == component && other != name;
                ensure!(is_same, place, "{other} is {name} itself, or a use of another component";
                    "allowed: another use of {component}");
                self.page.shared.push((name.clone(), other));
            }
            self.close(true)?;
        }
        self.give(&mut scope, &outline, &place)?;
        let block_axis = block.and_then(|block| self.page.blocks[block].axis);
        let (mut given, only_block) = (outline.given, outline.only_block);
        given.retain(|axis| !scope.names.contains_key(*axis));
        for axis in given {
            let (outer, page) = (self.page.scoped(axis), &*self.page);
            let is_bound = |scope: &Scope| scope.names.contains_key(axis);
            let of_block = block_axis.filter(|_| only_block == Some(axis));
            let is_known =
                page.scopes.last().is_some_and(is_bound) || page.axis_named(&outer).is_some();
            ensure!(is_known || of_block.is_some(), place, "{name} is not given the axis {axis}"; "write [{axis} = …]; {}",
                suggestion(axis, page.axis_names(|_| true), "known here"));
            let actual = of_block.map_or(outer, |axis| page.axes[axis].name.clone());
            scope.names.insert(axis.clone(), actual);
        }
        self.page.scopes.push(scope);
        Ok(all)
    }

    /// `(arguments)`: the values of the inputs, which may have a default.
    fn give(&mut self, scope: &mut Scope, outline: &Outline, place: &Place) -> Checked<()> {
        let mut values = Vec::new();
        if self.take("(") {
            values = self.list(",", Self::expression)?;
            self.need(")")?;
        }
        let label = self.sentence()?;
        if !label.is_empty() {
            self.page.labels.insert(scope.name.clone(), label);
        }
        let names: Vec<&str> = outline.inputs.iter().map(|(input, _)| &***input).collect();
        let takes = Some(names.join(", ")).filter(|_| !names.is_empty());
        let takes = takes.unwrap_or_else(|| "none".into());
        let (name, count) = (&scope.name, values.len());
        ensure!(count <= names.len(), place, "{name} is given {count} values"; "it takes {takes}");
        let mut values = values.into_iter();
        for (input, default) in &outline.inputs {
            let default = default.map(|number| Node::new(place, Kind::Number(number), vec![]));
            let Some(value) = values.next().or(default) else {
                wrong!(place, "{name} is not given {input}"; "it takes {takes}");
            };
            scope.values.insert((*input).clone(), value);
        }
        Ok(())
    }

    /// `formal = actual`: a name of the component stands for one of the page, or a key of it has a number or some choices.
    fn bind(&mut self, scope: &mut Scope, outline: &Outline, all: &[Line]) -> Checked<()> {
        let (name, place) = self.any(Sort::Name, "a name of the component")?;
        let is_input = outline.inputs.iter().any(|(input, _)| **input == name);
        let mut tokens = all.iter().flat_map(|line| &line.tokens);
        let is_named = tokens.any(|token| token.sort == Sort::Name && token.text == name);
        let known = outline.given.iter().chain(outline.declared.keys());
        ensure!(is_named && !is_input, place,
            "no {name} in the component"; "{}", suggestion(&name, known.copied(), "it has"));
        self.need("=")?;
        let (place, word) = (self.place(), outline.declared.get(&name).copied());
        let is_number = self.token().sort != Sort::Name;
        let actual = match word {
            Some("size" | "constant") if is_number => vec![self.number()?.to_string().into()],
            _ => self.choices("|")?,
        };
        let outer = self.page.scoped(&actual[0]);
        let key = self.page.key(&outer).filter(|_| actual.len() == 1);
        let is_bound = word != Some("switch") || key.is_some_and(Key::is_switch);
        if is_bound && !is_number {
            ensure!(actual.len() == 1, place, "{name} = {}", actual.join(" | "); "allowed: one name");
            scope.names.insert(name, outer);
            return Ok(());
        }
        let own: Name = format!("{}.{name}", scope.name).into();
        let before = self.page.set.get(&own).map(|(before, _)| before);
        let is_new = before.is_none() && self.page.key(&own).is_none();
        ensure!(is_new || before == Some(&actual), place,
            "{own} has another value in an earlier use"; "the same use has the same keys");
        self.page.set.insert(own, (actual, place));
        Ok(())
    }

    /// The lines of a component, of this file or of the library, with the name of the use.
    fn component(&mut self, name: &Name, place: &Place, own: &Name) -> Checked<Vec<Line>> {
        let page = &mut *self.page;
        if !page.components.contains_key(name)
            && let Some((file, bytes)) = (self.library)(name)
        {
            page.split(&lines(&bytes, &file)?)?;
        }
        let Some(mut lines) = page.components.get(name).cloned() else {
            wrong!(place, "unknown component {name}"; "no file {name}.component; {}",
                suggestion(name, page.components.keys(), "known"));
        };
        for token in lines.iter_mut().flat_map(|line| &mut line.tokens) {
            token.place.file = format!("{} ({own})", token.place.file).into();
        }
        Ok(lines)
    }
}

impl Page {
    /// The lines of the machine; those of components are kept under their names.
    pub(super) fn split(&mut self, all: &[Line]) -> Checked<Vec<Line>> {
        let is_title = |line: &Line, word| line.indent() == 1 && line.tokens[0].is(word);
        let is_part =
            |_: &Line, next: &Line| !is_title(next, "component") && !is_title(next, "machine");
        let mut own = Vec::new();
        for part in all.chunk_by(is_part) {
            if !is_title(&part[0], "component") {
                own.extend_from_slice(part);
                continue;
            }
            let (title, lines) = (&part[0].tokens, part[1..].to_vec());
            let is_name = |token: &Token| token.sort == Sort::Name && !is_word(&token.text);
            ensure!(title.len() > 1 && is_name(&title[1]), title[0].place, "a component without a name"; "component NAME");
            let is_over = title.len() < 3 || title.len() == 3 && title[2].sort == Sort::Sentence;
            ensure!(is_over, title[2].place, "found '{}'", title[2].text; "allowed here: a sentence or the end of the line");
            let before = self.components.insert(title[1].text.clone(), lines);
            ensure!(before.is_none(), title[1].place, "component {} is defined twice", title[1].text; "choose another name");
        }
        Ok(own)
    }
}
