//! `tapescope pytorch`: a machine file as a readable module for PyTorch.

mod expression;
mod lines;

use std::collections::{BTreeMap, BTreeSet};

use self::expression::{Code, Writer, identifier, listed};
use self::lines::{WIDTH, broken};
use crate::equations::page::{Page, Part, Record, Word};
use crate::equations::program::{Axis, Equation, First, Length, Op, Program, Source};
use crate::math::Answer;
use crate::model::EquationsConfig;

/// Functions that a module may need.
const FUNCTIONS: &str = include_str!("functions.py");
/// The names that a quantity may not have in a module.
const TAKEN: &str = "F False None True and arrays as assert async await break class continue def del elif else except fed \
    finally float for from global if import in is itertools lambda math nn noise nonlocal not or own pass raise range return \
    self torch try while with yield";

/// A module with its arguments that belong to a task.
#[derive(Clone, Copy, Debug)]
pub struct OfTask {
    /// The widths of inputs and targets.
    pub widths: [usize; 2],
    /// What a machine that reads its own answer takes from it.
    pub answer: Answer,
}

/// Returns the text of a PyTorch module that computes what a machine file says, under the choices of its preset.
/// Without a task the constructor asks for the widths of the data, and an answer that is fed back is one symbol.
///
/// # Errors
/// The machine has no heads of some kind.
pub fn module(config: &EquationsConfig, task: Option<OfTask>) -> Result<String, String> {
    let compiled = config.compiled();
    let (page, program) = (&*compiled.page, &*compiled.program);
    let is_none = |own: &&crate::equations::page::Key| own.word == Word::Heads && own.value < 1.0;
    if let Some(kind) = page.keys.iter().find(is_none) {
        let name = &kind.name;
        return Err(format!(
            "`model.heads.{name}`: is 0; a module for PyTorch needs 1 or more"
        ));
    }
    let names = names(program);
    let mut module = Module {
        writer: Writer {
            page,
            program,
            frames: Vec::new(),
            sizes: BTreeSet::new(),
            like: input_name(page, program, &names, 0),
            past: "0".to_owned(),
            joins: joins(program),
            names,
        },
        answer: task.map_or(Answer::Symbols, |task| task.answer),
        lines: Vec::new(),
        depth: 2,
    };
    for block in (0..page.blocks.len()).filter(|block| page.blocks[*block].parent.is_none()) {
        module.block(block);
    }
    module.result();
    let code = module.simplify();
    let body = module.take();
    module.dictionaries(&code);
    let body = module.take() + &body;
    module.head(&body);
    let forward = module.take() + &body;
    let widths = module.constructor(task, &forward);
    let class = module.take() + &forward;
    let example = module.example(task, &widths);
    Ok(whole(page, program, &example, &class))
}

/// The name of an input in Python.
fn input_name(page: &Page, program: &Program, names: &[String], index: usize) -> String {
    let source = Source::Input(index);
    let known = program.series.iter().position(|own| own.source == source);
    known.map_or_else(
        || identifier(&page.inputs[index].names[0]),
        |known| names[known].clone(),
    )
}

/// The number of places of a name of Python in a text.
fn count(text: &str, name: &str) -> usize {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let found = text.match_indices(name).filter(|(at, _)| {
        !text[..*at].ends_with(|before: char| is_name(before) || before == '.')
            && !text[at + name.len()..].starts_with(is_name)
    });
    found.count()
}

/// The file: imports, the functions that the class needs, and the class.
fn whole(page: &Page, program: &Program, example: &str, class: &str) -> String {
    let [title, file] = [&*page.title, &*page.file].map(|text| text.replace(['"', '\\'], "'"));
    let calls = |text: &str, name: &str| {
        let call = format!("{name}(");
        let mut found = text.match_indices(&call).map(|found| found.0);
        found.any(|at| {
            !text[..at].ends_with(|before: char| before.is_alphanumeric() || "_.".contains(before))
        })
    };
    let functions = FUNCTIONS
        .trim_end()
        .split("\n\n\n")
        .filter(|text| calls(class, function_name(text)));
    let functions: String = functions.flat_map(|text| [text, "\n\n\n"]).collect();
    let all = format!("{functions}class Machine(nn.Module):\n    \"\"\"{title}.\"\"\"\n\n{class}");
    let uses = |module: &str| all.contains(&format!("{module}."));
    let mut imports = String::new();
    for module in ["itertools", "math"] {
        if uses(module) {
            imports.extend(["import ", module, "\n"]);
        }
    }
    imports += if imports.is_empty() {
        "import torch\n"
    } else {
        "\nimport torch\n"
    };
    if uses("F") {
        imports += "import torch.nn.functional as F\n";
    }
    let mut of_heads = program.series.iter().filter_map(|own| {
        let is_made = matches!(own.source, Source::Statement(..));
        let kind = &program.axes[own.kind.filter(|_| is_made)?].name;
        let own = &own.trace;
        Some(format!(
            ":\n\"{kind}0.{own}\" is that of the first head in \"{kind}.{own}\""
        ))
    });
    let heads = of_heads.next().unwrap_or_default();
    let stem = file.trim_end_matches(".machine");
    format!(
        "\"\"\"{title}, as in {file}.

One sequence, without a batch axis, gives an answer, and all arrays by their names in {file}:

    import torch

{example}

Traces of Tapescope lack arrays that repeat another, and may name others otherwise{heads}.
For a batch of sequences of one length PyTorch 2 has `torch.vmap(machine)`. Tensors have the type and the device of the
input, so `machine.double()` and `machine.to(\"cuda\")` take such inputs.

Parameters have the names and the shapes of Tapescope's weights files:

    from safetensors.torch import load_file
    from tapescope import read_weights, write_weights

    machine.load_state_dict(load_file(\"{stem}.safetensors\"))
    preset = read_weights(\"{stem}.safetensors\")[1][\"experiment\"]
    write_weights(\"changed.safetensors\", machine.state_dict(), preset)
\"\"\"

{imports}from torch import nn


{all}"
    )
}

fn function_name(text: &str) -> &str {
    text.trim_start_matches("def ")
        .split('(')
        .next()
        .unwrap_or_default()
}

/// The axes that `join` makes, with the axes of its parts.
fn joins(program: &Program) -> BTreeMap<Axis, Vec<Vec<Axis>>> {
    let mut joins = BTreeMap::new();
    for equation in &program.equations {
        equation.value.each(&mut |value| {
            if let Op::Join(axis, parts) = &value.op {
                joins.insert(*axis, parts.clone());
            }
        });
    }
    joins
}

/// The names of the series of a program in Python. Of one that several kinds of heads have, each begins with its kind.
fn names(program: &Program) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    program
        .series
        .iter()
        .for_each(|own| *counts.entry(&own.name).or_default() += 1);
    let mut known: BTreeSet<String> = TAKEN.split_whitespace().map(str::to_owned).collect();
    known.extend(
        FUNCTIONS
            .split("\n\n\n")
            .map(|text| function_name(text).to_owned()),
    );
    let mut names = Vec::new();
    for own in &program.series {
        let mut name = identifier(&own.name);
        if let Some(kind) = own.kind.filter(|_| counts[&*own.name] > 1) {
            name = format!("{}_{name}", identifier(&program.axes[kind].name));
        }
        while name.starts_with("n_") || !known.insert(name.clone()) {
            name = format!("{}_", name.trim_start_matches("n_"));
        }
        names.push(name);
    }
    names
}

/// A line of code.
struct Line {
    depth: usize,
    text: String,
    comment: String,
    /// Whether it only gives another name to a value.
    is_alias: bool,
}

/// The lines of the class.
struct Module<'a> {
    writer: Writer<'a>,
    answer: Answer,
    lines: Vec<Line>,
    depth: usize,
}

impl Module<'_> {
    fn line(&mut self, text: &str) {
        self.commented(text, "");
    }

    fn commented(&mut self, text: &str, comment: &str) {
        self.lines.push(Line {
            depth: self.depth,
            text: text.to_owned(),
            comment: comment.to_owned(),
            is_alias: false,
        });
    }

    /// The text of all lines so far. A comment stands above its line where both are too long for one.
    fn take(&mut self) -> String {
        let mut text = Vec::new();
        for line in std::mem::take(&mut self.lines) {
            let indent = 4 * line.depth;
            let mut all = broken(&line.text, indent);
            if !line.comment.is_empty() {
                let comment = format!("# {}", line.comment);
                if all.len() == 1 && all[0].len() + comment.len() + 2 <= WIDTH {
                    all[0].extend(["  ", &comment]);
                } else {
                    all.insert(0, " ".repeat(indent) + &comment);
                }
            }
            text.extend(
                all.into_iter()
                    .map(|line| line.trim_end().to_owned() + "\n"),
            );
        }
        text.concat()
    }

    /// Writes values in the place of their other names; returns the code.
    fn simplify(&mut self) -> String {
        let code = |lines: &[Line]| -> String {
            let texts = lines.iter().map(|line| &*line.text);
            texts.flat_map(|text| [text, "\n"]).collect()
        };
        for alias in self
            .lines
            .iter()
            .rev()
            .filter(|line| line.is_alias)
            .map(|line| line.text.clone())
            .collect::<Vec<_>>()
        {
            let all = code(&self.lines);
            let (place, value) = alias.split_once(" = ").unwrap_or_default();
            let name = place.split('[').next().unwrap_or_default();
            if count(&all, name) == all.matches(place).count() {
                self.lines.retain(|line| line.text != alias);
                for line in &mut self.lines {
                    line.text = line.text.replace(place, value);
                }
            }
        }
        code(&self.lines)
    }

    // The constructor.

    /// The width of the data that an axis counts.
    fn width(&self, task: Option<OfTask>, axis: Axis) -> Option<usize> {
        let page = self.writer.page;
        let target = page.target.as_ref().and_then(|own| own.given().last());
        let is_target = target.is_some_and(|target| page.origin(*target) == axis);
        task.map(|task| task.widths[usize::from(is_target)])
    }

    /// The constructor; `used` are the other methods. Returns its arguments without a default.
    fn constructor(&mut self, task: Option<OfTask>, used: &str) -> Vec<String> {
        let program = self.writer.program;
        let has = |name: String| program.tensors.iter().any(|own| own.name == name);
        let (mut parameters, mut containers) = (Vec::new(), BTreeSet::new());
        for tensor in &program.tensors {
            let (path, end) = tensor.name.rsplit_once('.').unwrap_or(("", &tensor.name));
            let mut axes = tensor.axes.iter().chain(tensor.inputs.iter().flatten());
            let is_bias = end == "bias" && has(format!("{path}.weight"));
            if is_bias || axes.any(|axis| self.writer.is_empty(*axis)) {
                continue;
            }
            let is_map = !tensor.inputs.is_empty();
            let own = if is_map { path } else { &tensor.name };
            let around: Vec<&str> = own.match_indices('.').map(|dot| &own[..dot.0]).collect();
            let (inner, outer) = around
                .into_iter()
                .partition::<Vec<_>, _>(|part| has(format!("{part}.weight")));
            for part in outer.into_iter().filter(|part| containers.insert(*part)) {
                parameters.push((!inner.is_empty(), format!("self.{part} = nn.Module()")));
            }
            let text = if is_map {
                let gates = if tensor.gates > 1 {
                    format!("{} * ", tensor.gates)
                } else {
                    String::new()
                };
                let inputs: Vec<String> = tensor
                    .inputs
                    .iter()
                    .map(|axes| self.writer.count(axes))
                    .collect();
                let count = self.writer.count(&tensor.axes);
                let bias = if has(format!("{path}.bias")) {
                    ""
                } else {
                    ", bias=False"
                };
                format!("nn.Linear({}, {gates}{count}{bias})", inputs.join(" + "))
            } else {
                let rows = self
                    .writer
                    .count(&tensor.axes[..tensor.axes.len().saturating_sub(1)]);
                let columns = self
                    .writer
                    .count(&tensor.axes[tensor.axes.len().saturating_sub(1)..]);
                format!("nn.Parameter(torch.empty({rows}, {columns}))")
            };
            parameters.push((
                !inner.is_empty(),
                format!("self.{own} = {}", text.replace("self.", "")),
            ));
        }
        parameters.sort_by_key(|own| own.0);
        let mut arguments = vec!["self".to_owned()];
        let (mut sizes, mut kept, mut widths) = (Vec::new(), Vec::new(), Vec::new());
        for axis in self.writer.sizes.clone() {
            let info = &program.axes[axis];
            let default = match info.length {
                Length::Fixed(0) => continue,
                Length::Fixed(length) => Some(length),
                _ => self.width(task, axis),
            };
            let name = format!("n_{}", identifier(&info.name));
            widths.extend(default.is_none().then(|| name.clone()));
            let argument = default.map_or(name.clone(), |default| format!("{name}={default}"));
            sizes.push((matches!(info.length, Length::Fixed(_)), argument));
            if used.contains(&format!("self.{name}")) {
                kept.push(name);
            }
        }
        sizes.sort_by_key(|own| own.0);
        arguments.extend(sizes.into_iter().map(|own| own.1));
        self.depth = 1;
        self.line(&format!("def __init__({}):", listed(arguments)));
        self.depth = 2;
        self.line("super().__init__()");
        for name in &kept {
            self.line(&format!("self.{name} = {name}"));
        }
        parameters.iter().for_each(|own| self.line(&own.1));
        self.line("for name, parameter in self.named_parameters():");
        self.line("    if name.endswith(\"bias\"):");
        self.line("        nn.init.zeros_(parameter)");
        self.line("    elif name.endswith(\"start\"):");
        self.line("        nn.init.uniform_(parameter, -0.05, 0.05)");
        self.line("    else:");
        self.line("        nn.init.xavier_uniform_(parameter)");
        self.line("");
        widths
    }

    // The method that computes.

    /// Whether the machine reads its own answer, or the target in its place.
    fn is_fed(&self) -> bool {
        let mut series = self.writer.program.series.iter();
        series.any(|own| own.source == Source::Target)
    }

    /// The names of the inputs, and the numbers of steps of the answer that the inputs do not have.
    fn arguments(&mut self) -> [Vec<String>; 2] {
        let page = self.writer.page;
        let inputs = (0..page.inputs.len())
            .map(|index| input_name(page, self.writer.program, &self.writer.names, index));
        let inputs = inputs.collect();
        let of_inputs = page.inputs.iter().flat_map(Record::given);
        let known: Vec<Axis> = of_inputs.map(|axis| page.origin(*axis)).collect();
        let own = page.target.iter().flat_map(Record::given).copied();
        let own = own.filter(|axis| page.is_sequence(*axis));
        let own = own.filter(|axis| !known.contains(&page.origin(*axis)));
        [inputs, own.map(|axis| self.writer.length(axis)).collect()]
    }

    /// The beginning: arguments and the lengths of the data; `body` is the rest.
    fn head(&mut self, body: &str) {
        let (page, program, is_fed) = (self.writer.page, self.writer.program, self.is_fed());
        let [inputs, own] = self.arguments();
        let has_noise = program
            .series
            .iter()
            .any(|own| matches!(own.source, Source::Noise(_)));
        let mut arguments = [&["self".to_owned()], &inputs[..], &own].concat();
        arguments.extend(is_fed.then(|| "y=()".to_owned()));
        arguments.extend(has_noise.then(|| "noise=None".to_owned()));
        self.depth = 1;
        self.line(&format!("def forward({}):", listed(arguments)));
        self.depth = 2;
        self.description(has_noise);
        for (record, name) in page.inputs.iter().zip(&inputs) {
            let steps = record.given().iter().take(record.given().len() - 1);
            let lengths = steps.map(|axis| {
                let length = self.writer.length(*axis);
                let is_used = count(body, &length) > 0;
                if is_used { length } else { "_".to_owned() }
            });
            let lengths: Vec<String> = lengths.collect();
            match &lengths[..] {
                [one] if one != "_" => self.line(&format!("{one} = len({name})")),
                all if all.iter().all(|length| length == "_") => {}
                _ => self.line(&format!("{}, _ = {name}.shape", listed(lengths))),
            }
        }
    }

    fn description(&mut self, has_noise: bool) {
        let page = self.writer.page;
        let described = |record: &Record| {
            let axes = record.given().iter().map(|axis| &*page.axes[*axis].name);
            format!("{}[{}]", record.names[0], listed(axes))
        };
        let inputs = listed(page.inputs.iter().map(described));
        let target = page
            .target
            .as_ref()
            .filter(|_| self.is_fed())
            .map(described);
        let sentence = format!("Returns the answer to {inputs}, and all arrays.");
        if target.is_none() && !has_noise {
            return self.line(&format!("\"\"\"{sentence}\"\"\""));
        }
        self.line(&format!("\"\"\"{sentence}"));
        self.line("");
        if let Some(target) = target {
            self.line(&format!(
                "{target} is fed back; where it ends, the machine reads its own answers."
            ));
        }
        if has_noise {
            self.line(
                "The arrays of `noise` have their names in traces; without them, each is its mean.",
            );
        }
        self.line("\"\"\"");
    }

    /// Lines that make a machine and call it. `widths` are the arguments of the constructor without a default.
    fn example(&mut self, task: Option<OfTask>, widths: &[String]) -> String {
        let (page, program) = (self.writer.page, self.writer.program);
        let shape = |record: &Record| {
            let lengths = record.given().iter().map(|axis| {
                let length = match program.axes[page.origin(*axis)].length {
                    Length::Fixed(length) => length,
                    _ if page.is_sequence(*axis) => 9,
                    _ => self.width(task, page.origin(*axis)).unwrap_or(8),
                };
                length.to_string()
            });
            format!("torch.rand({})", listed(lengths))
        };
        let mut arguments: Vec<String> = page.inputs.iter().map(shape).collect();
        let [_, own] = self.arguments();
        arguments.extend(own.iter().map(|length| format!("{length}=9")));
        let made = listed(widths.iter().map(|width| format!("{width}=8")));
        let comment = if widths.is_empty() {
            ""
        } else {
            "  # the widths of your data"
        };
        format!(
            "    machine = Machine({made}){comment}\n    answer, arrays = machine({})",
            listed(arguments)
        )
    }

    /// Noise, the answers that are fed back, and a dictionary for each quantity that is made step by step.
    /// `code` is that of the steps.
    fn dictionaries(&mut self, code: &str) {
        let (program, like) = (self.writer.program, self.writer.like.clone());
        for (index, series) in program.series.iter().enumerate() {
            let name = self.writer.names[index].clone();
            match series.source {
                Source::Noise(noise) => {
                    let noise = &self.writer.page.noises[noise];
                    let shape = listed(self.writer.shape(noise.given()));
                    let mean = if noise.is_normal { "0.0" } else { "0.5" };
                    let key = &series.trace;
                    self.line(&format!("{name} = {like}.new_full([{shape}], {mean}) if noise is None else noise[\"{key}\"]"));
                }
                Source::Target => {
                    let shape = listed(self.writer.shape(&series.axes[1..]));
                    self.line(&format!(
                        "fed = {{-1: {like}.new_zeros({shape}), **dict(enumerate(y))}}"
                    ));
                }
                _ => {}
            }
        }
        let all = 0..program.series.len();
        let of_steps = all.filter(|index| self.is_of_steps(*index));
        let of_steps = of_steps.map(|index| self.writer.names[index].clone());
        let of_steps = of_steps.filter(|name| count(code, name) > 0);
        let mut lines: Vec<Vec<String>> = Vec::new();
        for name in of_steps {
            let length = |line: &Vec<String>| line.iter().map(|own| own.len() + 6).sum::<usize>();
            match lines.last_mut() {
                Some(line) if length(line) + name.len() + 6 <= WIDTH - 8 => line.push(name),
                _ => lines.push(vec![name]),
            }
        }
        for names in lines {
            let dictionaries = vec!["{}"; names.len()];
            self.line(&format!("{} = {}", listed(names), listed(dictionaries)));
        }
        self.line("");
    }

    /// Whether a statement makes a series step by step.
    fn is_of_steps(&self, series: usize) -> bool {
        let is_made = matches!(
            self.writer.program.series[series].source,
            Source::Statement(..)
        );
        is_made && !self.writer.loops(series).is_empty()
    }

    fn steps(&self) -> Vec<String> {
        let steps = self.writer.frames.iter().map(|frame| frame.1.clone());
        steps.filter(|step| !step.is_empty()).collect()
    }

    /// A block with all that is in it.
    fn block(&mut self, block: usize) {
        let (page, program) = (self.writer.page, self.writer.program);
        let own = &page.blocks[block];
        let Some(axis) = own.axis else {
            self.writer.frames.push((block, String::new()));
            self.items(block);
            self.writer.frames.pop();
            return;
        };
        let count = self.lines.len();
        self.gap();
        for first in program.firsts.iter().filter(|first| first.block == block) {
            self.start(first, axis, own.backwards);
        }
        let before = self.lines.len();
        let (step, length) = (self.step_name(self.steps().len()), self.writer.length(axis));
        let range = if own.backwards {
            format!("reversed(range({length}))")
        } else {
            format!("range({length})")
        };
        self.line(&format!("for {step} in {range}:"));
        self.depth += 1;
        self.writer.frames.push((block, step));
        self.items(block);
        self.writer.frames.pop();
        self.depth -= 1;
        if self.writer.is_empty(axis) {
            self.lines.truncate(before);
        } else if self.lines.len() == before + 1 {
            self.lines.truncate(count);
        } else {
            self.gap();
        }
    }

    /// An empty line around the outermost blocks.
    fn gap(&mut self) {
        if self.depth == 2 && self.lines.last().is_some_and(|line| !line.text.is_empty()) {
            self.line("");
        }
    }

    /// A name for the steps of a block inside of others that no quantity has.
    fn step_name(&self, depth: usize) -> String {
        let mut name = ["t", "l", "m"][depth.min(2)].to_owned();
        while self.writer.names.contains(&name) {
            name.push('_');
        }
        name
    }

    fn items(&mut self, block: usize) {
        let (page, program) = (self.writer.page, self.writer.program);
        for item in &page.blocks[block].items {
            match *item {
                Part::Block(inner) => self.block(inner),
                Part::Statement(statement) => {
                    let equations = program
                        .equations
                        .iter()
                        .filter(|own| own.statement == statement);
                    equations.for_each(|own| self.equation(own));
                }
            }
        }
    }

    /// The value before the first step of a block, for all entries of the blocks inside it.
    fn start(&mut self, first: &First, axis: Axis, backwards: bool) {
        self.writer.past = String::from("0");
        let loops = self.writer.loops(first.series);
        let outer = self.steps();
        let inner = &loops[outer.len() + 1..];
        if loops.iter().any(|axis| self.writer.is_empty(*axis)) && !inner.is_empty() {
            return;
        }
        let before = if backwards {
            self.writer.length(axis)
        } else {
            "-1".to_owned()
        };
        let mut text = self.writer.value(&first.value);
        let depth = self.depth;
        let mut keys = [&outer[..], &[before]].concat();
        for axis in inner {
            let (step, length) = (self.step_name(keys.len()), self.writer.length(*axis));
            self.line(&format!("for {step} in range({length}):"));
            self.depth += 1;
            if text.axes.contains(axis) {
                text = text.select(*axis, &step);
            }
            keys.push(step);
        }
        let mut axes = self.writer.program.series[first.series].axes.clone();
        axes.retain(|axis| first.head.is_none_or(|head| head.0 != *axis));
        let text = self.writer.whole(&text, &axes);
        let is_last = self
            .writer
            .program
            .firsts
            .iter()
            .rfind(|own| own.series == first.series && own.block == first.block);
        let is_last = is_last.is_some_and(|own| std::ptr::eq(own, first));
        let place = format!("{}[{}]", self.writer.names[first.series], listed(keys));
        let is_alias = self.writer.is_empty(axis) && first.head.is_none() && text.is_name();
        self.put(&place, &text, first.head, is_last, "");
        if let Some(line) = self.lines.last_mut() {
            line.is_alias = is_alias;
        }
        self.depth = depth;
    }

    /// Puts a value in its place; that of one of several heads with different choices in a list.
    fn put(
        &mut self,
        place: &str,
        value: &Code,
        head: Option<(Axis, usize)>,
        is_last: bool,
        comment: &str,
    ) {
        let Some((_, head)) = head else {
            return self.commented(&format!("{place} = {}", value.text), comment);
        };
        if head == 0 {
            self.line(&format!("{place} = {{}}"));
        }
        self.commented(&format!("{place}[{head}] = {}", value.text), comment);
        if is_last {
            self.line(&format!(
                "{place} = torch.stack([{place}[i] for i in range({})])",
                head + 1
            ));
        }
    }

    fn equation(&mut self, equation: &Equation) {
        let (page, program) = (self.writer.page, self.writer.program);
        self.writer.past = self.past_of(equation);
        let steps = self.steps();
        let place = |writer: &Writer<'_>, series: usize| {
            let name = &writer.names[series];
            if steps.is_empty() {
                name.clone()
            } else {
                format!("{name}[{}]", listed(&steps))
            }
        };
        let places: Vec<String> = equation
            .makes
            .iter()
            .map(|series| place(&self.writer, *series))
            .collect();
        let statement = &page.statements[equation.statement];
        let comment = [&*statement.sentence, &*statement.comment];
        let comment: Vec<&str> = comment
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        let comment = comment.join("; ");
        let made = equation.makes[0];
        let mut axes = program.series[made].axes.clone();
        axes.retain(|axis| equation.head.is_none_or(|head| head.0 != *axis));
        let is_last = program
            .equations
            .iter()
            .rfind(|own| own.makes.contains(&made));
        let is_last = is_last.is_some_and(|own| std::ptr::eq(own, equation));
        if let ([_, _], Op::Cell(function, learned)) = (&places[..], &equation.value.op) {
            let cell = self.writer.cell(*function, learned, &equation.value);
            if equation.head.is_none() && cell.axes == axes {
                return self.commented(&format!("{} = {}", listed(&places), cell.text), &comment);
            }
            self.commented(&format!("states = {}", cell.text), &comment);
            for (index, place) in places.iter().enumerate() {
                let state = self
                    .writer
                    .whole(&Code::new(format!("states[{index}]"), &cell.axes), &axes);
                self.put(place, &state, equation.head, is_last, "");
            }
            return;
        }
        let value = self.writer.value(&equation.value);
        let value = self.writer.whole(&value, &axes);
        self.put(&places[0], &value, equation.head, is_last, &comment);
        if self.is_fed() && program.answer() == Some(made) && !steps.is_empty() {
            let (z, like) = (&places[0], self.writer.like.clone());
            let length = axes
                .first()
                .map_or(String::new(), |axis| self.writer.length(*axis));
            let answer = match self.answer {
                Answer::Values(_) => z.clone(),
                Answer::Symbols => format!("onehot({z}.argmax(), {length}, {like})"),
                Answer::Bits => {
                    let is_probability = &*program.series[made].name == "p";
                    let half = if is_probability { "0.5" } else { "0" };
                    format!("({z} > {half}).to({like})")
                }
            };
            self.commented(
                &format!("fed.setdefault({}, {answer})", steps[0]),
                "its own answer, unless y is given",
            );
        }
    }

    /// The number of steps so far that an equation sees.
    fn past_of(&self, equation: &Equation) -> String {
        let mut past = self.steps().pop().unwrap_or_else(|| "0".to_owned());
        equation.value.each(&mut |value| {
            if let Op::Past(_, _, (_, frame), now) = value.op {
                past = format!(
                    "{}{}",
                    self.writer.frames[frame].1,
                    if now { " + 1" } else { "" }
                );
            }
        });
        past
    }

    /// What the method returns.
    fn result(&mut self) {
        let program = self.writer.program;
        self.gap();
        self.line("arrays = {");
        let mut answer = String::new();
        for (index, series) in program.series.iter().enumerate() {
            let loops = self.writer.loops(index);
            let is_empty = loops.iter().any(|axis| self.writer.is_empty(*axis));
            if is_empty || !matches!(series.source, Source::Statement(..)) {
                continue;
            }
            let (name, kind) = (self.writer.names[index].clone(), series.kind);
            let kind = kind.map_or(String::new(), |kind| {
                format!("{}.", program.axes[kind].name)
            });
            let key = format!("\"{kind}{}\"", series.trace);
            let lengths: Vec<String> = loops.iter().map(|axis| self.writer.length(*axis)).collect();
            let is_past =
                |axis: &Axis| program.axes[program.axes[*axis].origin].length == Length::Past;
            let value = match (series.axes.iter().position(is_past), &lengths[..]) {
                (_, []) => name,
                (None, _) => format!("stack({name}, {})", listed(&lengths)),
                (Some(0), [length]) => format!("padded({name}, {length})"),
                // It has more entries from step to step.
                _ => continue,
            };
            self.line(&format!("    {key}: {value},"));
            if program.answer() == Some(index) {
                answer = key;
            }
        }
        self.line("}");
        self.line(&format!("return arrays[{answer}], arrays"));
    }
}
