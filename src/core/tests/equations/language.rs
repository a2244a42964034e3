//! Tests of the language: files that are read, refused, and refused quickly.

#![allow(
    clippy::too_many_lines,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::err_expect,
    reason = "lists of files, and files of many lines"
)]

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tapescope_core::equations::bind::{Bound, GATES, IN};
use tapescope_core::equations::flatten::{Feedback, flatten};
use tapescope_core::equations::included::included;
use tapescope_core::equations::lower::{checked, lower};
use tapescope_core::equations::page::{Given, Key, Page};
use tapescope_core::equations::program::{Program, Series};
use tapescope_core::equations::run::Engine;
use tapescope_core::equations::text::{Checked, Mistake};
use tapescope_core::equations::tree::{FUNCTIONS, Rule};

use super::{library, machines};

fn machine(name: &str) -> &'static str {
    let file = format!("{name}.machine");
    included(&file).expect("a machine")
}

fn given(numbers: &[(&str, f64)], choices: &[(&str, &[&str])]) -> Given {
    Given {
        numbers: numbers
            .iter()
            .map(|(name, value)| ((*name).into(), *value))
            .collect(),
        choices: choices
            .iter()
            .map(|(name, all)| {
                (
                    (*name).into(),
                    all.iter().map(|one| (*one).into()).collect(),
                )
            })
            .collect(),
    }
}

fn read_with(text: impl AsRef<[u8]>, given: &Given) -> Checked<(Page, Program)> {
    let page = Page::read(text.as_ref(), "m.machine", given, &library)?;
    let program = checked(&page)?;
    Ok((page, program))
}

fn read(text: impl AsRef<[u8]>) -> Checked<(Page, Program)> {
    read_with(text, &Given::default())
}

fn refused(text: impl AsRef<[u8]>) -> String {
    read(text)
        .err()
        .map_or("no mistake".to_owned(), |mistake| mistake.to_string())
}

fn keys(page: &Page, program: &Program) -> Vec<String> {
    program
        .keys
        .iter()
        .map(|key| page.keys[*key].name.to_string())
        .collect()
}

fn arrays(program: &Program) -> Vec<String> {
    let head = |kind: usize| format!("{}0.", program.axes[kind].name);
    program
        .series
        .iter()
        .map(|own| own.kind.map_or(String::new(), head) + &own.trace)
        .collect()
}

fn axes_of(program: &Program, tensor: &str) -> String {
    let tensor = program
        .tensors
        .iter()
        .find(|own| own.name == tensor)
        .unwrap_or_else(|| panic!("no tensor {tensor}"));
    tensor
        .axes
        .iter()
        .map(|axis| &*program.axes[*axis].name)
        .collect::<Vec<_>>()
        .join(" ")
}

const SMALL: &str = "machine \"Small\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize units = 8 in 1..64\nstart h, c[units] = 0\nalong steps\n  h, c = lstm[units](x; h[-1], c[-1]) \"controller\"\n  z = linear[outputs](h)\n";

#[test]
fn every_machine_file_is_read_and_flattened() {
    for (name, text) in machines() {
        let (_, mut program) = read(text).unwrap_or_else(|mistake| panic!("{name}: {mistake}"));
        assert!(
            !flatten(&mut program, Feedback::Target).equations.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn twenty_wrong_files_have_these_mistakes() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "linear[outputs](h)",
            "linear[outputs](g)",
            "m.machine:8:23: unknown name g; did you mean c? known: c, h, x, z",
        ),
        (
            "size units",
            "siez units",
            "m.machine:4:1: found 'siez'; allowed here: did you mean size? one of: along, constant, entries, heads, input, machine, noise, once, parameter, size, start, switch, target, use",
        ),
        (
            "linear[outputs](h)",
            "linaer[outputs](h)",
            "m.machine:8:7: unknown function linaer; did you mean linear? functions: abs, allocation, append, argmax, cos, cosine, dot, draw, exp, expm1, floor, gru, index, join, length, lgamma, linear, log, log_softmax, lstm, max, maximum, mean, min, norm, onehot, past, product, rank, relu, sharpen, shift, sigmoid, sin, softmax, softplus, sqrt, stop, sum, tanh, where, window",
        ),
        (
            "linear[outputs](h)",
            "linear[output](h)",
            "m.machine:8:14: unknown axis output; did you mean outputs? known: inputs, outputs, past, steps, units",
        ),
        (
            "size units = 8",
            "size units = 80",
            "m.machine:4:6: units = 80; allowed: 1..64",
        ),
        (
            "8 in 1..64",
            "8 in 1..1099511627776",
            "m.machine:4:6: units = 8 in 1..1099511627776; allowed: whole numbers in 0..16777216",
        ),
        (
            "h[-1], c[-1]",
            "h[-2], c[-1]",
            "m.machine:7:27: found another step than [-1], or [-1] of an expression; allowed is NAME[-1], the step before; for older steps, name a delay: b = a[-1]",
        ),
        (
            "x; h[-1]",
            "x; h",
            "m.machine:7:25: h is used before it is made; write h[-1] for the step before, or move the statement up",
        ),
        (
            "start h, c[units]",
            "start h[units]",
            "m.machine:7:32: c[-1] has no first value; add: start c[…] = 0",
        ),
        (
            "start h, c[units]",
            "start h, c[inputs]",
            "m.machine:5:7: start of h has [inputs]; expected: [units], as its equation in m.machine:7:3",
        ),
        (
            "(x; h[-1], c[-1])",
            "(x)",
            "m.machine:7:10: lstm has 1 arguments; write lstm[units](inputs; h[-1], c[-1])",
        ),
        (
            "  z =",
            "  y_ =",
            "m.machine:1:1: no z and no p; a machine makes z (logits) or p (probabilities) with the axes of its target",
        ),
        (
            "linear[outputs](h)",
            "linear[units](stop(x))",
            "m.machine:8:3: z has [steps, units]; its target has [steps, outputs]",
        ),
        (
            "linear[outputs](h)",
            "linear[outputs](h) + y",
            "m.machine:8:28: y is the target; allowed: y[-1], the answer of the step before",
        ),
        (
            "linear[outputs](h)",
            "linear[outputs](h) * * 2",
            "m.machine:8:28: found '*'; allowed here: a number, a name, a function or '('",
        ),
        (
            "linear[outputs](h)",
            "linear[outputs](softmax[inputs](h))",
            "m.machine:8:23: no axis inputs in [units]; allowed: units",
        ),
        (
            "linear[outputs](h)",
            "linear[outputs](h) + linear[outputs](x)",
            "m.machine:8:28: a second learned function in one statement; give it a statement, and so a name, of its own",
        ),
        (
            "  z =",
            "  if cell is gru z =",
            "m.machine:8:6: unknown switch cell; switches: none",
        ),
        (
            "  z =",
            "  for heads_ z = 1\n  z =",
            "m.machine:8:7: heads_ is no kind of heads; heads and entries: none; declare: heads heads_ = 2 in 0..64",
        ),
        (
            "  z =",
            "  use a = atention(h, x)\n  z =",
            "m.machine:8:11: unknown component atention; no file atention.component; known: none",
        ),
        (
            "  z =",
            "  use a = head(h)\n  z =",
            "m.machine:8:7: a is not given M; it takes h, M",
        ),
        (
            "along steps",
            "along inputs own",
            "m.machine:6:1: tensors of their own along inputs; allowed: a size, heads or entries; the length of a sequence belongs to the episode",
        ),
        (
            "\"controller\"",
            "\"controller",
            "m.machine:7:39: a sentence without an end; write a second quotation mark in the same line",
        ),
        (
            "  z = linear[outputs](h)\n",
            "",
            "m.machine:1:1: no z and no p; a machine makes z (logits) or p (probabilities) with the axes of its target",
        ),
        (
            "  z =",
            "  \tz =",
            "m.machine:8:3: found a tab; indent with spaces",
        ),
    ];
    let mut others = Vec::new();
    for (old, new, expected) in cases {
        assert!(SMALL.contains(old), "{old}");
        let found = refused(SMALL.replacen(old, new, 1));
        if found != *expected {
            others.push(format!("{found}\n  expected {expected}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// Checks that files, without their first two lines, have these mistakes.
fn all_refused(cases: &[(&str, &str)]) {
    let mut others = Vec::new();
    for (text, expected) in cases {
        let found = refused(format!("machine \"m\"\ninput x[steps, inputs]\n{text}"));
        if found != format!("m.machine:{expected}") {
            others.push(format!("{found}\n  expected {expected}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn axes_that_depend_on_themselves_and_widths_of_the_data_are_refused() {
    all_refused(&[
        (
            "target y[steps, outputs]\nstart h[u] = 0\nalong steps\n  k = join[key](h[-1], x)\n  h = tanh(k[key as u])\n  z = linear[outputs](x)\n",
            "6:7: key has no length of its own: it is made of u, which is another name of key; declare: size u = 32 in 1..4096",
        ),
        (
            "target y[steps, outputs]\nstart L[rows] = 0\nalong steps\n  longer = append[rows, more](L[-1], sum[inputs](x))\n  L = longer[more as rows]\n  z = linear[outputs](x)\n",
            "6:12: more has no length of its own: it is made of rows, which is another name of more; declare: size rows = 32 in 1..4096",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..4\nalong steps\n  w = join[inputs](sum[inputs](x), 1)\n  z = linear[outputs](x)\n",
            "6:7: inputs is an axis of the data, which gives its length; choose a new name, or write linear[inputs](…)",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..4\nparameter v[a, a]\nalong steps\n  z = linear[outputs](x, v)\n",
            "5:16: a stands twice; an axis stands once: give one of them another name",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..4\nalong steps\n  h[a, a] = linear[a](x)\n  z = linear[outputs](x)\n",
            "6:8: a stands twice; an axis stands once: give one of them another name",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..4\nalong steps\n  h = linear[a, a](x)\n  z = linear[outputs](x)\n",
            "6:17: a stands twice; an axis stands once: give one of them another name",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..4\nstart h[a, a] = 0\nalong steps\n  h = linear[a](x) + h[-1]\n  z = linear[outputs](x)\n",
            "5:12: a stands twice; an axis stands once: give one of them another name",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..4\nalong steps\n  h = linear[a](x)\n  s = sum[a, a](h)\n  z = linear[outputs](x)\n",
            "7:14: a stands twice; an axis stands once: give one of them another name",
        ),
    ]);
    assert_eq!(
        refused(
            "machine \"m\"\ninput x[stesp, inputs]\ntarget y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\n"
        ),
        "m.machine:5:3: z has [stesp, steps, outputs]; its target has [steps, outputs]"
    );
}

#[test]
fn tensors_have_no_axis_of_the_episode() {
    all_refused(&[
        (
            "target y[steps, outputs]\nparameter u[steps]\nalong steps\n  z = linear[outputs](x) + u\n",
            "4:11: u has the axis steps, whose length differs from episode to episode; a tensor has no size that depends on the length of an episode: use an axis of a size",
        ),
        (
            "input q[asked, inputs]\ntarget y[steps, outputs]\nstart h[asked] = learned\nalong steps\n  h = h[-1] * 1\n  z = linear[outputs](x)\n",
            "5:7: h.start has the axis asked, whose length differs from episode to episode; a tensor has no size that depends on the length of an episode: use an axis of a size",
        ),
        (
            "input q[asked, inputs]\ntarget y[steps, outputs]\nalong steps\n  u = linear[asked](x)\n  z = linear[outputs](x)\n",
            "6:3: u.weight has the axis asked, whose length differs from episode to episode; a tensor has no size that depends on the length of an episode: use an axis of a size",
        ),
        (
            "input q[asked, inputs]\ntarget y[steps, outputs]\nonce\n  w = index[asked][asked as also]\nalong steps\n  u = linear[also](x)\n  z = linear[outputs](x)\n",
            "8:3: u.weight has the axis also, whose length differs from episode to episode; a tensor has no size that depends on the length of an episode: use an axis of a size",
        ),
        (
            "input q[asked, inputs]\ntarget y[steps, outputs]\nonce\n  u = append[asked, more](q, q[asked: 0])\n  v = linear[more](x[steps: 0])\nalong steps\n  z = linear[outputs](x)\n",
            "7:3: v.weight has the axis more, whose length differs from episode to episode; a tensor has no size that depends on the length of an episode: use an axis of a size",
        ),
        (
            "input q[asked, inputs]\ntarget y[steps, outputs]\nstart h[] = learned along steps\nalong steps\n  along asked\n    h = h[steps: -1] * 1\n  z = linear[outputs](x)\n",
            "5:7: h.start has the axis asked, whose length differs from episode to episode; a tensor has no size that depends on the length of an episode: use an axis of a size",
        ),
    ]);
}

#[test]
fn answers_are_read_back_where_they_are_known() {
    all_refused(&[
        (
            "target y[steps, outputs]\nalong steps backwards\n  z = linear[outputs](x, y[-1])\n",
            "5:26: y[-1] in a block along steps; allowed: in a forward block along a sequence of the data that y has",
        ),
        (
            "size n = 3 in 1..9\ntarget y[n, outputs]\nonce\n  m = mean[steps](x)\nalong n\n  z = linear[outputs](m, y[-1])\n",
            "8:26: y[-1] in a block along n; allowed: in a forward block along a sequence of the data that y has",
        ),
        (
            "target y[outputs]\nonce\n  m = mean[steps](x)\nalong outputs\n  z = linear(m, y[-1])\n",
            "7:17: y[-1] in a block along outputs; allowed: in a forward block along a sequence of the data that y has",
        ),
    ]);
}

#[test]
fn blocks_inside_blocks_are_checked() {
    all_refused(&[
        (
            "target y[steps, outputs]\nalong steps\n  along steps\n    a = x\n  z = linear[outputs](x)\n",
            "5:3: a block along steps inside a block along steps; allowed: another axis; give the values a second name of it before: b = a[rows as from]",
        ),
        (
            "target y[steps, outputs]\nsize n = 3 in 1..9\nalong steps\n  along n\n    a = sum[n](onehot[n](0) + index[n])\n  z = linear[outputs](x)\n",
            "7:29: a new value with the axis n inside a block along n; allowed: values made before under this name of the axis, and in sum and dot their products",
        ),
        (
            "target y[steps, outputs]\nsize n = 3 in 1..9\nalong steps\n  along n\n    a = sum[n](tanh(linear[n](x)))\n  z = linear[outputs](x)\n",
            "7:16: a new value with the axis n inside a block along n; allowed: values made before under this name of the axis, and in sum and dot their products",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..9\nonce\n  S = dot[inputs](x, x[steps as from])\nalong steps\n  e = sum[steps](tanh(S)[from as steps])\n  z = linear[outputs](x)\n",
            "8:25: a new value with the axis steps inside a block along steps; allowed: values made before under this name of the axis, and in sum and dot their products",
        ),
        (
            "target y[steps, outputs]\nsize a = 2 in 1..9\nsize b = 3 in 1..9\nsize turn = 2 in 1..9\nstart r[a] = 0 along steps\nalong steps\n  q = r[-1]\n  along turn\n    r = linear[b](x)\n  z = linear[outputs](x)\n",
            "7:7: start of r has [a]; expected: [b], as its equation in m.machine:11:5",
        ),
        (
            "target y[steps, outputs]\nsize n = 2 in 1..9\nalong steps\n  along n\n    g[] = index[n] + sum[inputs](x)\n  s = sum[past](past(g, now))\n  z = linear[outputs](x)\n",
            "8:17: past(g) outside the block along n that makes it; take an entry of it in a statement of this block: b[…] = g[n: last], then past(b)",
        ),
    ]);
}

#[test]
fn pasts_have_a_length_and_meet_one_at_a_time() {
    all_refused(&[
        (
            "target y[steps, outputs]\nalong steps\n  h[] = sum[inputs](x)\n  b = past(h)[past: 0]\n  z = linear[outputs](x)\n",
            "6:14: an entry of past; past has as many entries as there are steps so far: weigh them and sum",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  h[] = sum[inputs](x)\n  b = past(h)[past: index[inputs]]\n  z = linear[outputs](x)\n",
            "6:14: an entry of past; past has as many entries as there are steps so far: weigh them and sum",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  h[] = sum[inputs](x)\n  a[past] = softmax[past](past(h, now))\n  b = sum[past](a * past(h))\n  z = linear[outputs](x)\n",
            "7:19: two different pasts in one expression; write past(a) or past(a, now) for all, of one block",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  h[] = sum[inputs](x)\n  b = sum[past](past(h, now) - past(h))\n  z = linear[outputs](x)\n",
            "6:30: two different pasts in one expression; write past(a) or past(a, now) for all, of one block",
        ),
    ]);
}

#[test]
fn functions_refuse_what_does_not_fit_them() {
    all_refused(&[
        (
            "target y[steps, outputs]\nsize rows = 5 in 1..9\nsize off = 3 in 1..9\nalong steps\n  w = linear[rows](x)\n  s = linear[rows, off](x)\n  t = shift[rows](w, s)\n  z = linear[outputs](x)\n",
            "9:7: shifts have [rows, off], what they shift [rows]; shifts have one axis more, and not the shifted one",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nsize b = 3 in 1..9\nalong steps\n  w = linear[a, b](x)\n  t = w[a: index[b], b: index[a]]\n  z = linear[outputs](x)\n",
            "8:8: the index of a has the axis b, whose entries are selected too; select one after the other: w[a: …][b: …]",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nsize b = 2 in 1..9\nstart h, c[b] = 0\nalong steps\n  h[a], c[a] = lstm[a](x; h[-1], c[-1])\n  z = linear[outputs](x)\n",
            "6:7: start of h has [b]; expected: [a], as its equation in m.machine:8:3",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nsize b = 2 in 1..9\nstart s[b] = 0\nalong steps\n  s = s[-1]\n  h = gru[a](x; s)\n  z = linear[outputs](x)\n",
            "9:17: a state with [b]; gru makes [a]",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nalong steps\n  u = x\n  v = linear[a; weights of u](x)\n  z = linear[outputs](x)\n",
            "7:7: u is not the first name of a statement with linear; allowed: weights of one that is",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nalong steps\n  u = linear[a; weights of u](x)\n  z = linear[outputs](x)\n",
            "6:7: weights of u, which has them from here; one of the statements has weights of its own",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nalong steps\n  u = linear[a; weights of v](x)\n  v = linear[a; weights of u](x)\n  z = linear[outputs](x)\n",
            "6:7: weights of u, which has them from here; one of the statements has weights of its own",
        ),
        (
            "target y[steps, outputs]\nsize a = 3 in 1..9\nstart h, c[a] = 0\nstart k, d[a] = 0\nalong steps\n  h, c = lstm[a](x; h[-1], c[-1])\n  k, d = lstm[a; weights of c](x; k[-1], d[-1])\n  z = linear[outputs](x)\n",
            "9:10: c is not the first name of a statement with lstm; allowed: weights of one that is",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  use k = fad[; weights of k](x)\n  z = linear[outputs](x)\ncomponent fad\ninput v[inputs]\nsize a = 3 in 1..9\nalong steps\n  m = linear[a](v)\n",
            "5:28: k is k itself, or a use of another component; allowed: another use of fad",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  use k = fad(x)\n  use l = other[; weights of k](x)\n  z = linear[outputs](x)\ncomponent fad\ninput v[inputs]\nsize a = 3 in 1..9\nalong steps\n  m = linear[a](v)\ncomponent other\ninput v[inputs]\nsize a = 3 in 1..9\nalong steps\n  m = linear[a](v)\n",
            "6:30: k is l itself, or a use of another component; allowed: another use of other",
        ),
    ]);
}

#[test]
fn lines_have_one_meaning() {
    all_refused(&[
        (
            "target y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\n    q = 1\n",
            "6:5: a line that begins in column 5; the lines of this group begin in column 3",
        ),
        (
            "target y[steps, outputs]\nalong steps\n    z = linear[outputs](x)\n  q = 1\n",
            "6:3: a line that begins in column 3; the lines of this group begin in column 5",
        ),
        (
            "target y[steps, outputs]\nmachine \"second\"\nalong steps\n  z = linear[outputs](x)\n",
            "4:1: a second machine; a file holds one machine",
        ),
        (
            "target y[steps, outputs]\nswitch s = p | p\nalong steps\n  z = linear[outputs](x)\n",
            "4:16: p stands twice; a choice or an entry stands once",
        ),
        (
            "target y[steps, outputs]\nentries s = p, p\nalong steps\n  z = linear[outputs](x)\n",
            "4:16: p stands twice; a choice or an entry stands once",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\ncomponent 17\n",
            "6:1: a component without a name; component NAME",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\ncomponent a b\n",
            "6:13: found 'b'; allowed here: a sentence or the end of the line",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\ncomponent a\nalong steps\n  q = (1\n",
            "8:9: found the end of the line; allowed here: ')'",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\ncomponent a\ngarbage\n",
            "7:1: found 'garbage'; allowed here: one of: along, constant, entries, heads, input, machine, noise, once, parameter, size, start, switch, target, use",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  use k = fad[a = 2, a = 3](x)\n  z = linear[outputs](x)\ncomponent fad\ninput v[inputs]\nsize a = 3 in 1..9\nalong steps\n  m = linear[a](v)\n",
            "5:22: a is given twice; give it once",
        ),
        (
            "target y[steps, outputs]\nalong steps\n  z = linear[outputs; bais](x)\n",
            "5:23: found 'bais'; allowed here: 'no bias', 'each AXIS' or 'weights of NAME'",
        ),
        (
            "target y[steps, outputs]\nsize units = 3 in 1..4\nalong steps\n  h = linear[Units](x)\n  z = linear[outputs](x)\n",
            "6:14: unknown axis Units; did you mean units? known: inputs, outputs, past, steps, units",
        ),
    ]);
    assert_eq!(
        refused(
            "machine\ninput x[steps, inputs]\ntarget y[steps, outputs]\nalong steps\n  z = linear[outputs](x)\n"
        ),
        "m.machine:1:1: a machine without a title; write machine \"Title\""
    );
}

#[test]
fn an_index_may_be_a_function_of_axes() {
    let text = "machine \"m\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize rows = 3 in 1..9\nalong steps\n  w = linear[rows](x)\n  v = w[rows: argmax[rows](w)]\n  m = maximum[rows](w)\n  z = linear[outputs](x)\n";
    let of = |name| values(text, &Given::default(), name)[..3].to_vec();
    assert_eq!(of("v"), of("m"));
}

#[test]
fn a_start_may_read_the_step_before_of_a_block_inside() {
    let text = "machine \"m\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize n = 2 in 1..9\nstart M[inputs] = 0.5 along steps\nstart K[inputs] = M[-1, n: last]\nalong steps\n  along n\n    K = K[-1] + x\n  along n\n    M = x * 2\n  last_K = K[n: last]\n  z = linear[outputs](last_K)\n";
    let of = |name| values(text, &Given::default(), name)[..9].to_vec();
    let (x, found) = (of("x"), of("last_K"));
    let first = |place: usize| place.checked_sub(3).map_or(0.5, |before| 2.0 * x[before]);
    let expected: Vec<f64> = (0..9).map(|place| first(place) + 2.0 * x[place]).collect();
    assert!(agree(&found, &expected), "{found:?} {expected:?}");
}

#[test]
fn length_of_past_is_the_number_of_steps() {
    for (way, [before, now]) in [
        ("", [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]),
        (" backwards", [[2.0, 1.0, 0.0], [3.0, 2.0, 1.0]]),
    ] {
        let text = format!(
            "machine \"m\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nalong steps{way}\n  h[] = sum[inputs](x)\n  a = length[past] + 0 * sum[past](past(h))\n  b = length[past] + 0 * sum[past](past(h, now))\n  z = linear[outputs](x)\n"
        );
        let of = |name| values(&text, &Given::default(), name)[..3].to_vec();
        assert_eq!(
            [of("a"), of("b")],
            [before.to_vec(), now.to_vec()],
            "{text}"
        );
    }
}

#[test]
fn weights_of_weights_are_those_of_the_first() {
    let text = "machine \"m\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize a = 2 in 1..9\nalong steps\n  u = linear[a](x)\n  v = linear[a; weights of u](x)\n  w = linear[a; weights of v](x)\n  use f = fad(x)\n  use g = fad[; weights of f](x)\n  use h = fad[; weights of g](x)\n  z = linear[outputs](u, v, w, f.m, g.m, h.m)\ncomponent fad\ninput v[inputs]\nalong steps\n  m = linear(v)\n";
    let (_, program) = read(text).unwrap_or_else(|mistake| panic!("{mistake}"));
    let names: Vec<&str> = program.tensors.iter().map(|own| &*own.name).collect();
    let expected = [
        "u.weight",
        "u.bias",
        "f.m.weight",
        "f.m.bias",
        "z.weight",
        "z.bias",
    ];
    assert_eq!(names, expected);
}

/// The time that this thread has computed; where the system does not tell it, none.
fn computed() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = times.split(' ').next().and_then(|own| own.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Refuses a file within a second, also without optimisation.
fn refused_soon(text: impl AsRef<[u8]>) -> String {
    let begin = computed();
    let mistake = refused(text);
    let took = computed().saturating_sub(begin);
    assert!(took < Duration::from_secs(1), "{took:?}: {mistake}");
    assert!(mistake.len() < 2000, "{mistake}");
    mistake
}

#[test]
fn large_and_deep_files_are_refused_soon() {
    let with = |line: &str| format!("{SMALL}  a = {line}\n");
    let levels = "give a part of it a statement of its own";
    let cases: Vec<(String, &str)> = vec![
        (
            "a = 1\n".repeat(100_000),
            "the file has 600000 bytes in 100001 lines; allowed: 262144 bytes in 5000 lines",
        ),
        (with(&"1+".repeat(1 << 20)), "allowed: 262144 bytes"),
        (with(&"1+".repeat(1 << 16)), "more than 50000 words"),
        (with(&format!("{}1", "1+".repeat(1 << 14))), levels),
        (with(&"(".repeat(100_000)), "more than 50000 words"),
        (with(&"(".repeat(10_000)), levels),
        (with(&format!("{}x", "-".repeat(10_000))), levels),
        (with(&format!("{}2", "2^".repeat(10_000))), levels),
        (
            with(&format!("x{}", "[inputs: last]".repeat(5_000))),
            levels,
        ),
        (with(&format!("{}x", "exp(".repeat(10_000))), levels),
        (with(&format!("x{}", "[inputs: x".repeat(5_000))), levels),
        (
            with(&"a".repeat(100_000)),
            "a word of 100000 letters; allowed: 80",
        ),
        (
            with(&"1".repeat(100_000)),
            "a word of 100000 letters; allowed: 80",
        ),
        (
            SMALL.to_owned()
                + &(0..100)
                    .map(|i| format!("{}along steps\n", " ".repeat(i + 2)))
                    .collect::<String>(),
            "more than 12 groups",
        ),
        (
            (0..3000)
                .map(|i| format!("size a{i} = 1 in 1..2\n"))
                .collect::<String>(),
            "1000 axes",
        ),
        (
            format!("component a\nuse b = a\n{SMALL}use b = a\n"),
            "more than 8 components inside components",
        ),
        (
            format!("component a\nuse b = a\nuse c = a\n{SMALL}use b = a\n"),
            "more than 8 components inside components",
        ),
        (
            SMALL.replace("units = 8 in 1..64", "units = 1000000 in 1..1000000"),
            "m.machine:7:3: h.weight has more than 2147483648 numbers",
        ),
        (
            SMALL
                .replace("  z =", "  b[units, from] = h * h[units as from]\n  z =")
                .replace("= 8 in 1..64", "= 100000 in 1..100000"),
            "numbers; choose smaller sizes",
        ),
        (
            SMALL.replace("8 in", "1e400 in"),
            "found 1e400; allowed: numbers below 1e308",
        ),
    ];
    for (text, expected) in cases {
        let mistake = refused_soon(&text);
        assert!(mistake.contains(expected), "{expected}: {mistake}");
    }
}

#[test]
fn components_that_double_are_refused_soon() {
    let mut text = "component c0\nalong steps\n  a = 1\n".to_owned();
    for level in 1..=6 {
        text += &format!("component c{level}\nalong steps\n");
        (0..20).for_each(|use_| text += &format!("  use u{use_} = c{}\n", level - 1));
    }
    let mistake = refused_soon(format!("{text}{SMALL}  use all = c6\n"));
    assert!(mistake.contains("more than 50000 words"), "{mistake}");
}

#[test]
fn many_switches_are_checked_or_refused_soon() {
    let text = |switches: usize, statements: usize| {
        let all: String = (0..switches)
            .map(|i| format!("switch s{i} = a | b\n"))
            .collect();
        let lines: String = (0..statements)
            .map(|i| format!("  if s{} is a q{i} = {i}\n", i % switches))
            .collect();
        SMALL.replace("size", &(all + "size")) + &lines
    };
    let begin = computed();
    read(text(12, 200)).expect("a page");
    let took = computed().saturating_sub(begin);
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(refused_soon(text(200, 2000)).contains("too many choices to check"));
}

#[test]
fn characters_of_other_alphabets_and_encodings_are_refused() {
    assert_eq!(
        refused(SMALL.replace("start h", "start һ")),
        "m.machine:5:7: found һ (U+04BB); it looks like the letter h: write that"
    );
    assert_eq!(
        refused(SMALL.replace("start h", "start Ω")),
        "m.machine:5:7: found Ω (U+03A9); allowed: names of ASCII letters, digits and _, numbers, sentences in quotes, operators, # comments"
    );
    assert!(
        refused(SMALL.replace("units", "uni\0ts")).starts_with("m.machine:4:9: found (U+0000)")
    );
    assert!(
        refused(SMALL.replace("\"controller\"", "\"contr\u{202e}oller\""))
            .starts_with("m.machine:7:45: found (U+202E)")
    );
    assert!(
        refused(SMALL.replace("\"Small\"", "# \u{1b}[31m"))
            .starts_with("m.machine:1:11: found (U+001B)")
    );
    assert!(refused(SMALL.replace(' ', "\u{a0}")).starts_with("m.machine:1:8: found (U+00A0)"));
    let mut latin1 = SMALL.as_bytes().to_vec();
    latin1[10] = 0xe9;
    assert_eq!(
        refused(latin1),
        "m.machine:1:11: found the byte 0xE9; save the file as UTF-8"
    );
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(SMALL.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    assert_eq!(
        refused(utf16),
        "m.machine:1:1: found the byte 0xFF; save the file as UTF-8"
    );
    assert_eq!(
        refused(""),
        "m.machine:1:1: no z and no p; a machine makes z (logits) or p (probabilities) with the axes of its target"
    );
}

#[test]
fn byte_order_mark_carriage_returns_and_umlauts_in_sentences_are_read() {
    let plain = format!("{:?}", read(SMALL).expect("a page").1);
    let text = format!("\u{feff}{}", SMALL.replace('\n', "\r\n"));
    assert_eq!(format!("{:?}", read(text).expect("a page").1), plain);
    assert_eq!(
        read(SMALL.replace("Small", "Größe λ"))
            .expect("a page")
            .0
            .title,
        "Größe λ"
    );
}

/// A text with sizes of one digit.
fn small(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.split_once(" = ") {
            Some((name, rest)) if line.starts_with("size") => {
                let (default, rest) = rest.split_once(' ').expect("a range");
                let low = rest
                    .split_once("in ")
                    .map_or('1', |(_, low)| low.chars().next().unwrap_or('1'));
                let default = if default.len() > 1 {
                    '3'.max(low)
                } else {
                    default.chars().next().unwrap_or('1')
                };
                out += &format!("{name} = {default} {rest}");
            }
            _ => out += line,
        }
    }
    out
}

/// A sequence of numbers for mutations.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Runs a page forward and in reverse, on episodes without and with steps, where its sizes are small.
fn run(page: &Page, program: &mut Program) {
    for feedback in [Feedback::Target, Feedback::Class, Feedback::Bits] {
        let flat = flatten(program, feedback);
        let (page, program) = (&Arc::new(page.clone()), &Arc::new(program.clone()));
        for steps in [0, 1, 3] {
            let bound = Bound::new(page, program, &flat, &|_| Some(steps)).unwrap();
            if bound.size < 1 << 16 {
                let mut engine = Engine::<f32>::new(bound, &flat, true);
                // Values that no machine expects where it reads an index or a probability.
                let odd = [0.0, 1.0, -3.7, 1e9, f32::NAN, f32::INFINITY, 0.4];
                let mut odd = odd.iter().cycle();
                let end = engine.memory.gradients;
                engine.memory.arena[2..end].fill_with(|| odd.next().copied().unwrap_or_default());
                engine.forward();
                engine.backward();
            }
            let bound = Bound::for_evaluation(page, program, &flat, &|_| Some(steps), &[]).unwrap();
            if bound.size < 1 << 16 {
                Engine::<f32>::new(bound, &flat, false).forward();
            }
        }
    }
}

#[test]
fn mutated_files_are_read_or_refused_without_a_panic() {
    let (mut random, mut refusals) = (Lcg(1), HashSet::new());
    let all = machines();
    let words: Vec<&str> = all
        .iter()
        .flat_map(|(_, text)| text.split_inclusive([' ', '\n', '[', '(', ',', ')']))
        .collect();
    for round in 0..4000 {
        let text = small(all[round % all.len()].1);
        let mut parts: Vec<&str> = text
            .split_inclusive([' ', '\n', '[', '(', ',', ')'])
            .collect();
        for _ in 0..=random.below(3) {
            let at = random.below(parts.len());
            match random.below(3) {
                0 => _ = parts.remove(at),
                1 => parts.insert(at, words[random.below(words.len())]),
                _ => parts[at] = words[random.below(words.len())],
            }
        }
        let mut bytes = parts.concat().into_bytes();
        if round % 2 == 1 {
            let at = random.below(bytes.len());
            bytes[at] = b"\n\t \"#[](),;:|.-+*/^<>=_0aZ\0\xff"[random.below(28)];
        }
        match read(bytes) {
            Ok((page, mut program)) => run(&page, &mut program),
            Err(Mistake { found, .. }) => _ = refusals.insert(found),
        }
    }
    assert!(refusals.len() > 100, "{}", refusals.len());
}

/// Splits a text behind the signs at which mutations cut it.
fn cut(text: &str) -> Vec<&str> {
    text.split_inclusive([' ', '\n', '[', '(', ',', ')', ';', '|'])
        .collect()
}

#[test]
fn mutated_files_and_components_have_mistakes_at_places_that_exist() {
    let (mut random, mut refusals, mut reads) = (Lcg(7), HashSet::new(), 0);
    let components =
        ["attention", "encoder", "head"].map(|name| library(name).expect("a component").1);
    let components = components.map(|bytes| String::from_utf8(bytes).expect("a text"));
    let texts: Vec<&str> = machines()
        .into_iter()
        .map(|(_, text)| text)
        .chain(components.iter().map(String::as_str))
        .collect();
    let words: Vec<&str> = texts.iter().flat_map(|text| cut(text)).collect();
    for round in 0..3000 {
        // A component stands in one file with a page that uses it.
        let whole = texts[round % texts.len()];
        let uses = [
            "use e = encoder(x)\n",
            "along steps\n  use e = head(x, M)\n",
            "along steps\n  use e = attention[key = inputs](x, M)\n",
        ];
        let page = SMALL.replacen(
            "along",
            "parameter M[rows, columns]\nsize rows = 3 in 1..9\nsize columns = 3 in 1..9\nalong",
            1,
        );
        let whole = if whole.contains("\nmachine") {
            whole.to_owned()
        } else {
            format!("{whole}{page}{}", uses[random.below(3)])
        };
        let mut parts = cut(&whole);
        for _ in 0..=random.below(4) {
            let (at, other) = (
                random.below(parts.len().max(1)),
                random.below(parts.len().max(1)),
            );
            if parts.is_empty() {
                break;
            }
            match random.below(5) {
                0 => _ = parts.remove(at),
                1 => parts.insert(at, words[random.below(words.len())]),
                2 => parts.swap(at, other),
                3 => parts.truncate(at + 1),
                _ => parts[at] = words[random.below(words.len())],
            }
        }
        let mut bytes = parts.concat().into_bytes();
        if round % 3 == 0 && !bytes.is_empty() {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let page = Page::read(&bytes, "m.machine", &Given::default(), &library)
            .and_then(|page| lower(&page));
        let Err(mistake) = page else {
            reads += 1;
            continue;
        };
        assert!(
            mistake.to_string().len() < 4000 && !mistake.allowed.is_empty(),
            "{mistake}"
        );
        let place = &mistake.place;
        if &*place.file == "m.machine" {
            let line = text
                .split('\n')
                .nth(place.line as usize - 1)
                .unwrap_or_else(|| panic!("{mistake}"));
            assert!(
                (1..=line.chars().count() + 2).contains(&(place.column as usize)),
                "{mistake}: {line}"
            );
        }
        refusals.insert(mistake.found);
    }
    assert!(
        refusals.len() > 500 && reads > 100,
        "{} {reads}",
        refusals.len()
    );
}

#[test]
fn wrong_components_have_these_mistakes() {
    let part = "component part\ninput v[width]\ninput factor = 1\nsize many = 3 in 1..9\nswitch kind = a | b\nalong steps\n  if kind is a q = factor * v\n  if kind is b q = sum[width](v) + 0 * v\n";
    let page = |line: &str| {
        format!(
            "{part}{}",
            SMALL.replace("  z =", &format!("  {line}\n  z ="))
        )
    };
    read(page("use one = part(x)")).expect_err("no width");
    read(page("use one = part[width = inputs](x)")).expect("a page");
    let cases = [
        (
            "use one = part(x)",
            "m.machine:16:7: one is not given the axis width; write [width = …]; known here: inputs, outputs, steps, units",
        ),
        (
            "use one = part[wdth = inputs](x)",
            "m.machine:16:18: no wdth in the component; did you mean width? it has: kind, many, steps, width",
        ),
        (
            "use one = part[width = inputs, kind = c](x)",
            "m.machine:16:41: one.kind = c; allowed: a switch of this machine, or some of a, b",
        ),
        (
            "use one = part[width = inputs, many = 10](x)",
            "m.machine:16:41: one.many = 10; allowed: 1..9",
        ),
        (
            "use one = part[width = inputs, many = 2.5](x)",
            "m.machine:16:41: one.many = 2.5 in 1..9; allowed: whole numbers in 0..16777216",
        ),
        (
            "use one = part[width = 3](x)",
            "m.machine:16:26: found '3'; allowed here: a name",
        ),
        (
            "use one = part[width = inputs | units](x)",
            "m.machine:16:26: width = inputs | units; allowed: one name",
        ),
        (
            "use one = part[width = inputs](x, 1, 2)",
            "m.machine:16:7: one is given 3 values; it takes v, factor",
        ),
        (
            "use one = part[width = inputs; weights of two](x)",
            "m.machine:16:45: no use is called two; uses: one",
        ),
        (
            "use one = part[width = inputs](x)\n  use one = head(x, h)",
            "m.machine:17:7: one is already a use of part; give the second a name of its own",
        ),
        (
            "use one = part[width = inputs, many = 2](x)\n  use one = part[width = inputs, many = 3](x)",
            "m.machine:17:41: one.many has another value in an earlier use; the same use has the same keys",
        ),
        (
            "use one = encoder(x)",
            "m.machine:16:7: encoder has blocks of its own; use it without indentation; in a block: components with one block 'along AXIS'",
        ),
        (
            "for inputs\n    a = 1",
            "m.machine:16:7: inputs is no kind of heads; heads and entries: none; declare: heads inputs = 2 in 0..64",
        ),
        (
            "along inputs\n  z_ = 1",
            "m.machine:16:3: nothing is indented below this line; indent what belongs to it",
        ),
        (
            "a = x[-1]",
            "m.machine:16:7: x[-1] outside the block that makes x; allowed: quantities of this block, the target",
        ),
        (
            "a = past(c)",
            "m.machine:16:7: the axes of c are not known in the first step; say them where it is made: c[…] = …",
        ),
        (
            "a, b = x",
            "m.machine:16:3: 2 names for one value; only lstm makes two: h, c = lstm[units](x; h[-1], c[-1])",
        ),
        (
            "a = sum[inputs](x * h)",
            "m.machine:16:23: a factor with [units] under sum[inputs]; it does not vary along the sum: write it outside, or rename its axis with 'as'",
        ),
        (
            "a = cosine[inputs](x)",
            "m.machine:16:7: cosine has 1 arguments; write cosine[columns](a, b; epsilon)",
        ),
        (
            "a = softmax(x)",
            "m.machine:16:7: softmax has 0 axes; write softmax[rows](x)",
        ),
        (
            "sum = x",
            "m.machine:16:3: found 'sum'; allowed here: a name that is no word or function of the language",
        ),
    ];
    let mut others = Vec::new();
    for (line, expected) in cases {
        let found = refused(page(line));
        if !found.starts_with(expected) {
            others.push(format!("{found}\n  expected {expected}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn noise_is_uniform_or_normal_in_components_as_well() {
    let (page, _) = read(machine("bahdanau")).expect("a page");
    let kinds: Vec<(&str, bool)> = page
        .noises
        .iter()
        .map(|own| (&*own.names[0], own.is_normal))
        .collect();
    assert_eq!(kinds, [("attention.t", false), ("attention.n", true)]);
    let found = refused(SMALL.replace("start h", "noise n[units] = equal\nstart h"));
    assert_eq!(
        found,
        "m.machine:5:18: found 'equal'; allowed here: 'uniform' or 'normal'"
    );
}

#[test]
fn components_with_a_second_block_stand_outside_of_blocks() {
    let part =
        "component part\ninput v[inputs]\nalong steps\n  q = v\nonce\n  s = q[steps: last]\n";
    read(format!(
        "{part}{}",
        SMALL.replace("along", "use one = part(x)\nalong")
    ))
    .expect("a page");
    let found = refused(format!("{part}{SMALL}  use one = part(x)\n"));
    assert!(found.contains("part has blocks of its own"), "{found}");
}

#[test]
fn arguments_that_multiply_are_refused_soon() {
    // Each component uses its input ten times in the argument of the next.
    let mut text = String::new();
    for level in 0..8 {
        text += &format!("component c{level}\ninput v[inputs]\nalong steps\n");
        text += &match level {
            7 => "  q = v\n".to_owned(),
            _ => format!("  use u = c{}(v{})\n", level + 1, " + v".repeat(9)),
        };
    }
    let mistake = refused_soon(format!("{text}{SMALL}  use all = c0(x)\n"));
    assert!(
        mistake.contains("more than 50000 words") || mistake.contains("levels"),
        "{mistake}"
    );
}

const DOCS: &str = include_str!("../../../../docs/equations.md");

#[test]
fn docs_list_all_functions() {
    let rules = [
        (Rule::Element, "by element"),
        (Rule::Over, "the axes vanish"),
        (Rule::Pair, "both arguments have the axes, which vanish"),
        (Rule::Along, "the axes stay"),
        (Rule::Learned, "learned"),
        (Rule::Own, "others"),
    ];
    let mut table = "| function | result |\n|---|---|\n".to_owned();
    for (rule, words) in rules {
        table += &format!("| **{words}** | |\n");
        for form in FUNCTIONS.iter().filter(|form| form.rule == rule) {
            assert!(form.usage.starts_with(form.name));
            table += &format!(
                "| `{}` | {} |\n",
                form.usage,
                form.meaning.replace('|', "\\|")
            );
        }
    }
    assert!(
        DOCS.contains(&table),
        "docs/equations.md lacks this table:\n{table}"
    );
}

#[test]
fn examples_of_the_docs_are_read() {
    let code: Vec<&str> = DOCS.split("```\n").skip(1).step_by(2).collect();
    read(code[0]).unwrap_or_else(|mistake| panic!("{mistake}"));
    let find = |part: &str| {
        code.iter()
            .find(|text| text.contains(part))
            .expect("an example")
    };
    let uses = find("use slow")
        .replace("along steps\n", "")
        .replace("  z =", "  z_ =")
        .replace("\"logit\"", "\"second answer\"")
        .replace("[outputs]", "[units]");
    let (_, program) = read(format!("{}{SMALL}{uses}", find("component fading")))
        .unwrap_or_else(|mistake| panic!("{mistake}"));
    assert!(arrays(&program).contains(&"memory.average".to_owned()));
}

#[test]
fn labels_of_uses_and_of_cells_name_arrays() {
    let names = arrays(&read(machine("bahdanau")).expect("a page").1);
    for name in [
        "read0.similarity",
        "read0.weighting",
        "read0.read",
        "controller.hidden",
        "controller.cell",
        "encoder.forward.hidden",
    ] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
}

#[test]
fn stop_is_a_function_by_element() {
    let (_, program) = read(SMALL.replace("(h)", "(stop(h))")).expect("a page");
    assert_eq!(axes_of(&program, "z.weight"), "outputs");
    // Nothing before it has a gradient: neither the tensors of the cell nor the input.
    let stopped = values(&SMALL.replace("(h)", "(stop(h))"), &Given::default(), "z");
    let plain = values(SMALL, &Given::default(), "z");
    let (cell, all) = (9 + 384, plain.len());
    assert_eq!(stopped[..9], plain[..9]);
    assert!(plain[9..cell].iter().any(|slope| *slope != 0.0));
    assert!(
        stopped[9..cell]
            .iter()
            .chain(&stopped[all - 9..])
            .all(|slope| *slope == 0.0)
    );
    assert_eq!(stopped[cell..all - 9], plain[cell..all - 9]);
}

#[test]
fn trainer_sets_constants_by_fixed_names() {
    let page = Page::read(
        machine("caption").as_bytes(),
        "caption.machine",
        &given(&[], &[("attention.weighting", &["hard"])]),
        &library,
    );
    let page = page.expect("a page");
    let program = checked(&page).expect("a program");
    let set: Vec<(&str, &str)> = page
        .keys
        .iter()
        .filter_map(|key| Some((key.trainer_name()?, &*key.name)))
        .collect();
    let expected = [
        ("warm_up", "attention.warm_up"),
        ("reward", "attention.drawn.reward"),
        ("baseline", "attention.drawn.baseline"),
        ("expected", "attention.drawn.expected"),
    ];
    assert_eq!(set, expected);
    assert!(keys(&page, &program).contains(&"attention.drawn.lambda_r".to_owned()));
    assert!(
        !keys(&page, &program)
            .iter()
            .any(|key| key.ends_with("reward"))
    );
    let mistake = read_with(
        machine("caption"),
        &given(&[("attention.drawn.reward", 1.0)], &[]),
    )
    .err()
    .expect("a mistake");
    assert_eq!(
        mistake.found,
        "the preset sets attention.drawn.reward, which is no key"
    );
}

#[test]
fn keys_of_untaken_choices_are_not_listed() {
    let listed = |choices: &[(&str, &[&str])]| {
        let (page, program) =
            read_with(machine("bahdanau"), &given(&[("units", 64.0)], choices)).expect("a page");
        let mut all = keys(&page, &program);
        assert_eq!(all.pop().unwrap(), "coverage.kind");
        all
    };
    let encoder = [
        "units",
        "encoder.units",
        "encoder.embedded",
        "encoder.cell",
        "encoder.direction",
    ];
    assert_eq!(listed(&[])[..5], encoder);
    assert_eq!(
        listed(&[])[5..],
        ["score", "biases", "weighting", "units"].map(|key| format!("attention.{key}"))
    );
    let general = listed(&[("attention.score", &["general"])]);
    assert_eq!(
        general[5..],
        ["score", "weighting"].map(|key| format!("attention.{key}"))
    );
    let cosine = listed(&[
        ("attention.score", &["cosine"]),
        ("attention.weighting", &["weibull"]),
    ]);
    let expected = [
        "score",
        "weighting",
        "form",
        "epsilon",
        "prior",
        "shape",
        "rate",
        "rho",
    ];
    assert_eq!(cosine[5..], expected.map(|key| format!("attention.{key}")));
    let unknown = read_with(machine("bahdanau"), &given(&[("unts", 3.0)], &[]))
        .err()
        .expect("a mistake");
    assert!(
        unknown
            .allowed
            .starts_with("did you mean units? keys: attention.D, "),
        "{unknown}"
    );
}

#[test]
fn stages_of_a_head_can_be_off() {
    let choices: &[(&str, &[&str])] = &[
        ("head.strength", &["off"]),
        ("head.gate", &["off"]),
        ("head.shift", &["off"]),
        ("head.sharpening", &["off"]),
        ("erase", &["off"]),
    ];
    let (page, program) = read_with(machine("ntm"), &given(&[], choices)).expect("a page");
    let names = arrays(&program);
    for gone in ["gate", "shift", "sharpening"] {
        assert!(
            !names.contains(&format!("read0.{gone}")),
            "{gone}: {names:?}"
        );
    }
    let tensors: Vec<&str> = program
        .tensors
        .iter()
        .map(|own| &*own.name)
        .filter(|name| name.starts_with("write."))
        .collect();
    assert_eq!(
        tensors,
        [
            "write.head.k.weight",
            "write.head.k.bias",
            "write.a.weight",
            "write.a.bias"
        ]
    );
    assert!(!keys(&page, &program).contains(&"head.offsets".to_owned()));
    let (_, scalar) =
        read_with(machine("ntm"), &given(&[], &[("head.shift", &["scalar"])])).expect("a page");
    assert_eq!(axes_of(&scalar, "read.head.d.weight"), "read");
}

#[test]
fn heads_may_have_choices_of_their_own() {
    let numbers = [("read", 2.0), ("write", 1.0)];
    let scores: &[(&str, &[&str])] = &[
        ("head.content.score", &["cosine", "additive", "dot"]),
        ("head.gate", &["on", "off", "on"]),
    ];
    let (page, mut program) = read_with(machine("ntm"), &given(&numbers, scores)).expect("a page");
    assert_eq!(
        axes_of(&program, "read1.head.content.e.weight"),
        "head.content.units"
    );
    assert_eq!(axes_of(&program, "read0.head.g.weight"), "");
    assert_eq!(axes_of(&program, "read.head.k.weight"), "read columns");
    let names: Vec<&str> = program.tensors.iter().map(|own| &*own.name).collect();
    assert!(
        !names.contains(&"read1.head.g.weight") && names.contains(&"write0.head.g.weight"),
        "{names:?}"
    );
    let listed = keys(&page, &program);
    assert!(
        ["head.content.units", "head.content.epsilon"]
            .iter()
            .all(|key| listed.contains(&(*key).to_owned())),
        "{listed:?}"
    );
    // One series has the entries of all heads.
    let similarity: Vec<_> = program
        .series
        .iter()
        .filter(|own| own.trace == "similarity")
        .collect();
    assert_eq!(similarity.len(), 2);
    assert_eq!(
        program
            .equations
            .iter()
            .filter(|own| own.head.is_some())
            .count(),
        8
    );
    assert!(!flatten(&mut program, Feedback::Target).equations.is_empty());
    let mistake = |choices: &[(&str, &[&str])]| {
        read_with(machine("ntm"), &given(&numbers, choices))
            .err()
            .expect("a mistake")
            .to_string()
    };
    assert_eq!(
        mistake(&[("head.gate", &["on", "off"])]),
        "m.machine:1:1: head.gate has 2 choices; give one, or 3: one for each head of read, then write"
    );
    assert_eq!(
        mistake(&[("head.gate", &["on", "of", "on"])]),
        "head.component (head):10:9: head.gate is of; did you mean off? allowed: off, on"
    );
    assert_eq!(
        mistake(&[("memory", &["learned", "constant", "constant"])]),
        "m.machine:20:29: memory has a list of choices, one for each head; give one choice: this stands in no 'for'"
    );
}

#[test]
fn starts_and_parameters_under_a_list_are_those_of_its_heads() {
    let text = SMALL.replace("start h", "heads read = 3 in 0..8\nswitch s = a | b\nif s is a parameter v[units] for read\nif s is a start w[units] = 1 for read\nif s is b start w[units] = learned for read\nstart h");
    let text = text + "  for read\n    if s is a w = w[-1] * v\n    if s is b w = w[-1] + 1\n";
    let (_, mut program) =
        read_with(text, &given(&[], &[("s", &["b", "a", "b"])])).expect("a page");
    assert_eq!(axes_of(&program, "read.v"), "read units");
    assert_eq!(axes_of(&program, "read0.w.start"), "units");
    assert_eq!(
        program
            .tensors
            .iter()
            .filter(|own| own.name.starts_with("read"))
            .count(),
        3
    );
    assert_eq!(
        program
            .firsts
            .iter()
            .filter_map(|first| first.head)
            .map(|(_, head)| head)
            .collect::<Vec<_>>(),
        [1, 0, 2]
    );
    assert!(!flatten(&mut program, Feedback::Target).firsts.is_empty());
}

#[test]
fn arrays_have_names_of_their_own() {
    let (_, ntm) = read(machine("ntm")).expect("a page");
    let names = arrays(&ntm);
    for name in [
        "controller.hidden",
        "controller.cell",
        "read0.key",
        "read0.strength",
        "read0.similarity",
        "read0.content.weighting",
        "read0.weighting",
        "write0.erase",
        "memory",
        "logit",
    ] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    for (name, text) in machines() {
        let names = arrays(&read(text).expect("a page").1);
        assert_eq!(
            names.iter().collect::<HashSet<_>>().len(),
            names.len(),
            "{name}: {names:?}"
        );
    }
    let twice = SMALL.replace("  z =", "  a = x \"logit x\"\n  logit_x = x\n  z =");
    assert_eq!(
        refused(twice),
        "m.machine:9:3: logit_x would be logit_x in traces, as a is; give it another label"
    );
    let noises = |labels: [&str; 2]| {
        let lines = labels.map(|label| format!("{label} = normal \"the noise\"\n"));
        SMALL.replace("start h", &(lines.concat() + "start h"))
    };
    assert_eq!(
        refused(noises(["noise a[steps]", "noise b[steps]"])),
        "m.machine:6:7: b would be the_noise in traces, as a is; give it another label"
    );
    assert_eq!(
        refused(noises(["noise a[steps]", "noise b[steps]"]).replace("the noise", "loss")),
        "m.machine:5:7: a would be loss in traces, which every trace has of its own; give it another label"
    );
}

#[test]
fn lowering_names_the_axes_of_tensors_in_their_order() {
    let golden = [
        ("dnc", "pi", "read modes"),
        ("bahdanau", "attention.e", "attention.units"),
        ("multi_head", "Q", "read depth"),
        ("multi_head_layers", "Q", "layers read depth"),
    ];
    for (name, tensor, axes) in golden {
        let (_, program) = read(machine(name)).expect("a page");
        let found = program
            .tensors
            .iter()
            .find(|own| own.name.ends_with(&format!("{tensor}.weight")))
            .unwrap_or_else(|| panic!("{name}"));
        assert_eq!(axes_of(&program, &found.name), axes, "{name}");
    }
    assert!(
        read(machine("ntm"))
            .expect("a page")
            .0
            .keys
            .iter()
            .any(Key::is_settable)
    );
}

/// Runs three steps of a Neural Turing Machine with two read heads and a write head, and returns its logits and gradients by tensor
/// and head. `differs`: holds the gradients to differences.
fn logits(
    scores: &[&str],
    is_listed: bool,
    differs: bool,
) -> (Vec<f64>, BTreeMap<String, Vec<f64>>) {
    let all = [
        (
            "head.content.score",
            if is_listed { scores } else { &scores[..1] },
        ),
        ("head.gate", if is_listed { &["on"; 3] } else { &["on"] }),
    ];
    let numbers = [
        ("read", 2.0),
        ("write", 1.0),
        ("rows", 6.0),
        ("columns", 5.0),
        ("units", 4.0),
        ("head.content.units", 3.0),
    ];
    let (page, mut program) = read_with(machine("ntm"), &given(&numbers, &all)).expect("a page");
    let flat = flatten(&mut program, Feedback::Target);
    let page = Arc::new(page);
    let program = Arc::new(program);
    let length = |name: &str| Some(if name == "steps" { 3 } else { 2 });
    let bound = Bound::new(&page, &program, &flat, &length).unwrap();
    let mut engine = Engine::<f64>::new(bound, &flat, true);
    let (mut groups, gradients) = (
        BTreeMap::<String, Vec<usize>>::new(),
        engine.memory.gradients,
    );
    for (index, tensor) in program.tensors.iter().enumerate() {
        // Elements are numbered within their head, whether heads share a tensor or not.
        let (first, rest) = tensor.name.split_once('.').unwrap_or(("", &tensor.name));
        let kind = first.trim_end_matches(|c: char| c.is_ascii_digit());
        let mut axes = tensor.axes.clone();
        if tensor.gates > 0 {
            axes.insert(tensor.before_gates, GATES);
        }
        if !tensor.inputs.is_empty() {
            axes.push(IN);
        }
        let places = engine.bound.tensors[index].places(&axes);
        let is_whole = first == kind
            && axes.first().is_some_and(|axis| {
                *axis < program.axes.len() && *program.axes[*axis].name == *kind
            });
        let heads = if is_whole {
            engine.bound.lengths[axes[0]]
        } else {
            1
        };
        for (head, places) in places
            .chunks((places.len() / heads.max(1)).max(1))
            .enumerate()
        {
            let head: usize = first[kind.len()..].parse().unwrap_or(head);
            let name = format!("{kind}{head}.{rest}");
            let seed = name
                .bytes()
                .fold(0.0, |sum, byte| sum * 1.1 + f64::from(byte));
            for (index, place) in places.iter().enumerate() {
                engine.memory.arena[*place] = (seed + 0.7 * index as f64).sin();
            }
            groups.insert(name, places.to_vec());
        }
    }
    let place = |name: &str| {
        let named = |own: &Series| &*own.name == name;
        program.series.iter().position(named).expect("a series")
    };
    let all = |engine: &Engine<f64>, name: &str| {
        let layout = engine.layout(place(name));
        let axes: Vec<usize> = layout.dims.iter().map(|dim| dim.0).collect();
        layout.places(&axes)
    };
    for (index, place) in all(&engine, "x").into_iter().enumerate() {
        engine.memory.arena[place] = (index as f64).cos();
    }
    let answers = all(&engine, "z");
    let run = |engine: &mut Engine<f64>| {
        engine.forward();
        answers
            .iter()
            .map(|place| engine.memory.arena[*place])
            .collect::<Vec<f64>>()
    };
    let values = run(&mut engine);
    assert!(engine.verify().iter().all(|difference| *difference == 0.0));
    let slopes: Vec<f64> = (0..values.len())
        .map(|index| (index as f64 * 1.7).sin())
        .collect();
    engine.clear_gradients();
    answers
        .iter()
        .zip(&slopes)
        .for_each(|(place, slope)| engine.memory.arena[place + gradients] = *slope);
    engine.backward();
    let of = |engine: &Engine<f64>, places: &[usize]| {
        places
            .iter()
            .map(|place| engine.memory.arena[place + gradients])
            .collect()
    };
    let gradients: BTreeMap<String, Vec<f64>> = groups
        .iter()
        .map(|(name, places)| (name.clone(), of(&engine, places)))
        .collect();
    for (name, places) in groups.iter().filter(|_| differs) {
        for (place, found) in places.iter().zip(&gradients[name]).step_by(3) {
            let value = engine.memory.arena[*place];
            let [more, less] = [1e-5, -1e-5].map(|step| {
                engine.memory.arena[*place] = value + step;
                run(&mut engine)
                    .iter()
                    .zip(&slopes)
                    .map(|(z, slope)| z * slope)
                    .sum::<f64>()
            });
            engine.memory.arena[*place] = value;
            let wanted = (more - less) / 2e-5;
            assert!(
                (found - wanted).abs() < 1e-7 * (1.0 + wanted.abs()),
                "{name}: {found} by the rules, {wanted} by differences"
            );
        }
    }
    (values, gradients)
}

/// Whether the numbers are the same but for rounding.
fn agree(one: &[f64], other: &[f64]) -> bool {
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12 * (1.0 + other.abs());
    one.len() == other.len() && one.iter().zip(other).all(is_near)
}

#[test]
fn heads_with_equal_choices_in_a_list_give_the_same_values_and_gradients() {
    for score in ["cosine", "additive", "general"] {
        let (listed, shared) = (
            logits(&[score; 3], true, false),
            logits(&[score; 3], false, false),
        );
        assert!(
            shared
                .0
                .iter()
                .all(|value| value.is_finite() && *value != 0.0),
            "{shared:?}"
        );
        assert!(
            agree(&listed.0, &shared.0),
            "{score}: {listed:?} {shared:?}"
        );
        assert!(
            listed.1.keys().eq(shared.1.keys()),
            "{score}: {:?} {:?}",
            listed.1.keys(),
            shared.1.keys()
        );
        for (name, slopes) in &shared.1 {
            assert!(
                agree(&listed.1[name], slopes),
                "{score}, {name}: {:?} {slopes:?}",
                listed.1[name]
            );
        }
    }
}

#[test]
fn heads_with_different_choices_in_a_list_have_gradients() {
    let (mixed, _) = logits(&["cosine", "additive", "general"], true, true);
    assert!(mixed != logits(&["cosine"; 3], true, true).0);
    logits(&["dot", "cosine", "additive"], true, true);
}

#[test]
fn a_list_of_choices_allows_kinds_without_heads() {
    for (switch, choices) in [
        ("head.strength", ["on", "off"]),
        ("head.gate", ["off", "on"]),
        ("head.keys", ["tanh", "linear"]),
        ("head.sharpening", ["on", "off"]),
        ("head.content.score", ["additive", "cosine"]),
    ] {
        for heads in [[0.0, 2.0], [2.0, 0.0]] {
            let given = given(
                &[("read", heads[0]), ("write", heads[1])],
                &[(switch, &choices)],
            );
            let read = read_with(machine("ntm"), &given);
            assert!(read.is_ok(), "{switch}, {heads:?}: {:?}", read.err());
        }
    }
}

/// The values of a series of a page on three steps, with numbers that look random; all gradients are 1.
fn values(text: &str, given: &Given, name: &str) -> Vec<f64> {
    let (page, mut program) = read_with(text, given).unwrap_or_else(|mistake| panic!("{mistake}"));
    let flat = flatten(&mut program, Feedback::Target);
    let page = Arc::new(page);
    let program = Arc::new(program);
    let bound = Bound::new(&page, &program, &flat, &|_| Some(3)).unwrap();
    let mut engine = Engine::<f64>::new(bound, &flat, true);
    let data = (0..program.series.len()).filter(|series| *program.series[*series].name == *"x");
    let layouts: Vec<_> = engine
        .bound
        .tensors
        .iter()
        .cloned()
        .chain(data.map(|series| engine.layout(series).clone()))
        .collect();
    for (index, layout) in layouts.iter().enumerate() {
        let axes: Vec<usize> = layout.dims.iter().map(|dim| dim.0).collect();
        for (number, place) in layout.places(&axes).into_iter().enumerate() {
            engine.memory.arena[place] = (1.0 + 3.0 * index as f64 + 0.7 * number as f64).sin();
        }
    }
    engine.forward();
    let series = program
        .series
        .iter()
        .position(|own| *own.name == *name)
        .expect("a series");
    let layout = engine.layout(series);
    let axes: Vec<usize> = layout.dims.iter().map(|dim| dim.0).collect();
    let mut out: Vec<f64> = layout
        .places(&axes)
        .iter()
        .map(|place| engine.memory.arena[*place])
        .collect();
    let gradients = engine.memory.gradients;
    layout
        .places(&axes)
        .iter()
        .for_each(|place| engine.memory.arena[place + gradients] = 1.0);
    engine.backward();
    for layout in &layouts {
        let axes: Vec<usize> = layout.dims.iter().map(|dim| dim.0).collect();
        out.extend(
            layout
                .places(&axes)
                .iter()
                .map(|place| engine.memory.arena[place + gradients]),
        );
    }
    out
}

#[test]
fn functions_over_all_heads_give_each_head_of_a_list_its_entry() {
    for q in [
        "softmax[read](k) * (1 + index[read])",
        "k * index[read]",
        "maximum[units](k + onehot[read](1)) - product[read](k)",
        "norm[read](k) * k",
    ] {
        let text = SMALL.replace(
            "start h",
            "heads read = 3 in 0..8\nswitch s = a | b\nstart h",
        );
        let text = format!(
            "{text}  for read\n    k = linear[units](h)\n    if s is a q = {q}\n    if s is b q = {q}\n  z_ = sum[read](q)\n"
        );
        let shared = values(&text, &Given::default(), "z_");
        let listed = values(&text, &given(&[], &[("s", &["b", "a", "b"])]), "z_");
        assert!(
            shared.iter().any(|value| *value != 0.0) && agree(&listed, &shared),
            "{q}: {listed:?} {shared:?}"
        );
    }
}

#[test]
fn entries_that_an_array_does_not_have_are_zero() {
    for (entry, is_there) in [("2", true), ("3", false), ("last", true)] {
        let text = format!("{SMALL}once\n  t = x[steps: {entry}]\n");
        let values = values(&text, &Given::default(), "t");
        assert_eq!(
            values[..3].iter().any(|value| *value != 0.0),
            is_there,
            "{entry}: {values:?}"
        );
    }
}

#[test]
fn what_operations_do_not_take_is_refused() {
    let renamed: String = (0..8).map(|i| format!(" * h[units as u{i}]")).collect();
    let layers = "size a = 2 in 1..3\nsize b = 2 in 1..3\nstart h";
    let cases = [
        (
            SMALL.to_owned() + &format!("  t = h{renamed}\n"),
            "a value with 9 axes: units, u0, u1, u2, u3, u4, u5, u6, u7; allowed: 8 axes",
        ),
        (
            SMALL.replace("start h", layers)
                + "  along a own\n    t = linear[units](h)\n  along b own\n    s = linear[units; weights of t](h)\n",
            "t.weight has another shape here; shared weights have one shape",
        ),
        (
            SMALL.to_owned() + "  t = onehot[units](h)\n",
            "units is already an axis of this value; choose another name",
        ),
        (
            SMALL.to_owned() + "  t = window[units, units](h)\n",
            "units is already an axis of this value; choose another name",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(text);
        assert!(found.ends_with(expected), "{found}\n  expected {expected}");
    }
    read(SMALL.to_owned() + "  t = join[units](h)\n").expect("the same axis once more");
}

/// What a researcher stumbled over, who had read the docs only.
#[test]
fn mistakes_of_a_newcomer_have_advice() {
    let mut others = Vec::new();
    let cases = [
        (
            "parameter w[units]\nstart h",
            "  u[units] = h\n  t = sum[past](w[units as past] * past(u, now))\n",
            "m.machine:11:18: past has its own length at each step; write w[units: index[past]]",
        ),
        (
            "size places = 4 in 1..9\nparameter v[places]\nstart h",
            "  u[units] = h\n  t = v * past(u, now)[past as places]\n",
            "m.machine:12:23: past has its own length at each step; write w[places: index[past]]",
        ),
        (
            "start h",
            "  t = linear[units](h; no bias)\n",
            "m.machine:9:24: an option among the arguments; options stand in square brackets: linear[; no bias](h)",
        ),
        (
            "start h",
            "  t = linear[units](h, each inputs)\n",
            "m.machine:9:24: an option among the arguments; options stand in square brackets: linear[; each inputs](h)",
        ),
        (
            "start h",
            "  t = linear(h; weights of z)\n",
            "m.machine:9:17: an option among the arguments; options stand in square brackets: linear[; weights of z](h)",
        ),
        (
            "heads stack = 2 in 0..64\nsize depth = 3 in 1..9\nstart s[depth] = 0\nstart h",
            "  for stack\n    s[depth] = s[-1] + index[depth]\n",
            "m.machine:7:7: start s is not for stack; write: start s[depth] = … for stack",
        ),
        (
            "entries action = push, pop\nstart h",
            "  a = softmax[action](linear[action](h))\n  t = a[push]\n",
            "m.machine:11:9: push is an entry of action; write a[action: push]",
        ),
        (
            "start h",
            "  t = h * units\n",
            "m.machine:9:11: units is an axis; its numbers are index[units]",
        ),
        (
            "size stack = 2 in 0..64\nheads read = 1 in 0..9\nentries action = push, pop\nstart h",
            "  for stack\n    t = h\n",
            "m.machine:12:7: stack is no kind of heads; heads and entries: action, read; declare: heads stack = 2 in 0..64",
        ),
        (
            "parameter D[units] = 1\nstart h",
            "  t = h * D\n",
            "m.machine:5:20: a parameter has no first value; remove it: the trainer draws the first value",
        ),
        (
            "size taps = 2 in 1..9\nstart h",
            "  t = join[taps](h, c)\n",
            "m.machine:10:7: taps has 16 entries here and 2 elsewhere; one axis has one length; an axis that stays is said: join[taps; each units](…)",
        ),
    ];
    for (declared, lines, expected) in cases {
        let found = refused(SMALL.replacen("start h", declared, 1) + lines);
        if found != expected {
            others.push(format!("{found}\n  expected {expected}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    let fine = SMALL.to_owned() + "  u[units] = h\n  t = sum[from](past(u, now)[past as from])\n";
    read(fine).expect("another name of past");
    for (old, new) in [
        ("start h", "parameter w[past]\nstart h"),
        ("start h", "input v[past]\nstart h"),
        ("start h", "start v[past] = 0\nstart h"),
        ("along steps", "along past"),
        ("linear[outputs]", "linear[past]"),
    ] {
        let found = refused(SMALL.replacen(old, new, 1));
        assert!(
            found.ends_with(
                ": past has its own length at each step; choose another name for this axis"
            ),
            "{new}: {found}"
        );
    }
    // An axis that is declared below the line that renames to it keeps its length.
    let late = format!(
        "{SMALL}  u[units] = h\n  t = sum[places](past(u, now)[past as places])\nsize places = 4 in 1..9\n"
    );
    assert!(
        refused(late)
            .ends_with("past has its own length at each step; write w[places: index[past]]")
    );
}

#[test]
fn an_index_may_have_the_axis_that_it_selects_from() {
    let run = |line: &str| {
        values(
            &format!("{SMALL}  q[units] = {line}\n"),
            &Given::default(),
            "q",
        )
    };
    let back = "max(0, index[units] - 1)";
    let other = back.replace("units", "other");
    let before = format!("{SMALL}  q = h[units: {other}][other as units]\n");
    let renamed = values(
        &before.replace("start h", "size other = 8 in 8..8\nstart h"),
        &Given::default(),
        "q",
    );
    assert!(agree(&run(&format!("h[units: {back}]")), &renamed));
    assert!(agree(&run("h[units: index[units]]"), &run("1 * h")));
    // Twice, and of the step before.
    let twice = run(&format!("h[units: {back}][units: {back}]"));
    assert!(agree(&twice, &run("h[units: max(0, index[units] - 2)]")));
    let mut last = run(&format!("h[-1][units: {back}]"));
    last.truncate(24);
    let plain = run("1 * h");
    let wanted: Vec<f64> = (0..24)
        .map(|i| {
            if i < 8 {
                0.0
            } else {
                plain[i - 8 - usize::from(i % 8 > 0)]
            }
        })
        .collect();
    assert!(agree(&last, &wanted), "{last:?} {wanted:?}");
}

#[test]
fn past_of_a_step_does_not_depend_on_what_runs_at_once() {
    let all = [
        "sum[past](w[units: index[past]] * past(u, now))",
        "sum[past](past(u, now)[past: max(0, index[past] - 1)] * past(v, now))",
        "sum[past](softmax[past](index[past] * past(v, now)) * past(u, now))",
        "length[past] * sum[past](past(u))",
        "sum[from](past(u, now)[past as from])",
        "sum[past](softmax[past](index[past] / 9) * past(u, now))",
    ];
    for value in all {
        // The recurrence of h keeps its block from running all steps at once.
        let text = |u: &str| {
            let parameter = if value.contains("w[") {
                "parameter w[units]\nstart h"
            } else {
                "start h"
            };
            let machine = SMALL.replacen("start h", parameter, 1);
            format!("{machine}  u[] = {u}\n  v[] = 2 * u\n  q = {value}\n")
        };
        let (alone, bound) = (
            text("sum[inputs](x)"),
            text("sum[inputs](x) + 0 * sum[units](h) + 0 * r").replacen(
                "start h",
                "start r = 0\nstart h",
                1,
            ),
        );
        let bound = bound.replacen("+ 0 * r", "+ 0 * r[-1]", 1) + "  r = 0 * q\n";
        let [alone, bound] = [alone, bound].map(|text| values(&text, &Given::default(), "q"));
        assert!(agree(&alone, &bound), "{value}: {alone:?} {bound:?}");
        assert!(
            alone[0].is_finite() && alone[..3].iter().any(|own| *own != 0.0),
            "{value}"
        );
    }
}

#[test]
fn entries_between_whole_numbers_are_rounded_down() {
    let run = |index: &str| {
        values(
            &format!("{SMALL}  q = h[units: {index}]\n"),
            &Given::default(),
            "q",
        )
    };
    assert!(agree(&run("2.7"), &run("2")) && agree(&run("1 + 1.7"), &run("2")));
    for outside in ["0 - 0.5", "index[steps] + 8", "0 - 1"] {
        assert!(
            run(outside)[..3].iter().all(|value| *value == 0.0),
            "{outside}"
        );
    }
}

#[test]
fn recipes_of_the_docs_are_read() {
    let declared = "heads stack = 2 in 0..64\nsize taps = 3 in 1..9\nsize seen = 2 in 1..9\nstart L[taps] = 0\nstart s[taps] = 0 for stack\nstart b = 0 for stack\nstart V[rows, units] = 0\nstart h";
    let machine = SMALL.replacen("start h", declared, 1);
    let machine = machine.replacen(
        "along steps",
        "once\n  place = index[steps][steps as rows]\n\nalong steps",
        1,
    );
    let lines = "  u[] = linear[; no bias](h)\n  longer = append[taps, more](L[-1], u)\n  L[taps] = longer[more: index[taps] + 1]\n  first = L[taps: index[seen]]\n  \
                 three = sum[past](past(u, now) * (index[past] > index[steps] - 3))\n  V = where(place == index[steps], h, V[-1])\n  join_ = join[all; each units](h, c)\n  \
                 for stack\n    s[taps] = 1 + s[-1][taps: index[taps] - 1]\n    b = s[-1, taps: 0] + b[-1]\n  q = sum[taps](L) - three\n  moved = linear[units; each all, no bias](join_)\n";
    let all = machine + lines;
    let (_, program) = read(&all).unwrap_or_else(|mistake| panic!("{mistake}"));
    assert_eq!(axes_of(&program, "h.weight"), "units");
    assert!(
        program
            .tensors
            .iter()
            .all(|own| own.name != "u.bias" && own.name != "moved.bias")
    );
    let difference = values(&all, &Given::default(), "q");
    assert!(
        difference[..3].iter().all(|value| value.abs() < 1e-12),
        "the last values are a memory, and the newest of past: {difference:?}"
    );
    let gru = SMALL
        .replace(
            "h, c = lstm[units](x; h[-1], c[-1])",
            "h = gru[units](x; h[-1])",
        )
        .replace("h, c[units]", "h[units]");
    let (_, program) = read(gru).unwrap_or_else(|mistake| panic!("{mistake}"));
    let names: Vec<&str> = program.tensors.iter().map(|own| &*own.name).collect();
    assert_eq!(
        names[..4],
        [
            "h.gates.weight",
            "h.gates.bias",
            "h.candidate.weight",
            "h.candidate.bias"
        ]
    );
}

#[test]
fn what_nothing_uses_is_said() {
    let text = "machine \"M\"\ninput x[steps, inputs]\ntarget y[steps, outputs]\nsize units = 4 in 1..9\nsize lost = 4 in 1..9\nconstant rate = 1 in 0..2\nconstant kept = 1 in 0..2\nswitch how = one | other\nparameter v[units]\nnoise n[steps, units] = normal\nstart h[units] = 0\nstart g[units] = 0\nalong steps\n  g = linear[units](x)\n  if how is one h = h[-1] + kept * v\n  if how is other h = h[-1] + g\n  z = linear[outputs](h)\n";
    let (_, program) = read(text).unwrap();
    let said: Vec<String> = program.warnings.iter().map(ToString::to_string).collect();
    let unused = [
        "5:6: nothing uses lost",
        "6:10: nothing uses rate",
        "12:",
        "10:",
    ];
    assert_eq!(said.len(), unused.len(), "{said:?}");
    for (line, part) in said.iter().zip(unused) {
        assert!(line.starts_with(&format!("m.machine:{part}")), "{line}");
    }
}
