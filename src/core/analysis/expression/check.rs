//! Expressions against the arrays of a machine: the types of all parts, and their values in a step.

use std::sync::Arc;

use super::error::ExpressionError;
use super::functions::{FUNCTIONS, Meaning, Type, writes};
use super::parse::{COMPARED, Expression, Node, Term};
use crate::model::sam::RECORDED_ROWS;
use crate::model::{Array, Place, Trace, array};
use crate::train::{Recording, is_absent};

/// A step of an episode.
type At<'a> = (&'a Recording, usize);

/// The values of a part in a step; `None` where they are not known.
type Values = Arc<dyn Fn(At<'_>) -> Option<Vec<f64>> + Send + Sync>;

/// An expression whose arrays and types are right for a machine.
#[derive(Clone)]
pub struct Checked {
    /// The type of its values.
    pub result: Type,
    /// The value, where it is a number that no array decides.
    constant: Option<f64>,
    /// The most entries of an array whose number of entries belongs to the episode, where that is known.
    most: Option<usize>,
    /// The array of a machine file that it is, whose later axes may belong to the episode.
    array: Option<Array>,
    values: Values,
}

/// An array by its name.
pub(super) type Named = (String, Checked);

/// The arrays with values in every step, in the order of the computation; `trace` may be empty, or an empty one of the
/// longest episode.
pub(super) fn arrays(trace: &Trace<f32>) -> Vec<Named> {
    let layers = trace.layers.len();
    let of = |(place, array, width): (Place, &'static _, usize)| {
        // The layers of a controller are one array.
        let places = match place {
            Place::Layer(0) => (0..layers).map(Place::Layer).collect(),
            Place::Layer(_) => return None,
            place => vec![place],
        };
        let (entries, size) = match (array, places.len()) {
            (array::MEMORY, _) => trace.memory_size().into(),
            (_, 1) => match trace.array_sizes(array) {
                Some([first, others @ ..]) if !others.is_empty() => {
                    (*first, others.iter().product())
                }
                _ => (width, 1),
            },
            (_, layers) => (layers, width),
        };
        let is_part = trace.series(Place::Machine, RECORDED_ROWS).is_some();
        let is_of_episode = array.dims.contains(&"n") && (trace.has_row_per_step() || is_part);
        let is_longest = trace.steps() == 0 && trace.setting.source > 0;
        let most = (is_of_episode && is_longest).then_some(entries);
        let entries = (!is_of_episode).then_some(entries);
        let result = match array.dims {
            [_] => Type::Number,
            _ => Type::Array { entries, size },
        };
        let values = move |(Recording { trace, .. }, step): At<'_>| {
            if array == array::MEMORY {
                return known(trace.memory(step + 1).iter());
            }
            let series = places.iter().map(|place| trace.series(*place, array));
            let rows: Option<Vec<_>> = series.map(|series| Some(series?.row(step))).collect();
            known(rows?.into_iter().flatten())
        };
        let checked = Checked::new(result, values);
        let checked = Checked {
            most,
            array: trace.array_sizes(array).map(|_| array),
            ..checked
        };
        Some((trace.array_name(place, array), checked))
    };
    let all = trace.of_steps().into_iter();
    let all = all.map(|(place, array, series)| (place, array, series.width()));
    let entries = Some(trace.output.width());
    let result = Type::Array { entries, size: 1 };
    let target = |at: At<'_>| known(at.0.episode.target.row(at.1).iter());
    let target = ("target".to_owned(), Checked::new(result, target));
    let loss = |at: At<'_>| known(at.0.loss.get(at.1).into_iter());
    let loss = ("loss".to_owned(), Checked::new(Type::Number, loss));
    all.filter_map(of).chain([target, loss]).collect()
}

/// Recorded values; `None` where one is absent.
fn known<'a>(values: impl Iterator<Item = &'a f32>) -> Option<Vec<f64>> {
    let known = |value: &f32| (!is_absent(*value)).then_some(f64::from(*value));
    values.map(known).collect()
}

impl Expression {
    /// Checks names and types against a machine, by a trace of it, which may be empty; one of the longest episode
    /// ([`Trace::of_episode`]) decides what a constant index may be.
    ///
    /// # Errors
    /// The first part that is wrong for this machine.
    pub fn check(&self, trace: &Trace<f32>) -> Result<Checked, ExpressionError> {
        check(&arrays(trace), &self.root)
    }

    /// [`Expression::check`], for an expression that has to be a condition.
    ///
    /// # Errors
    /// It is none, or a part is wrong for this machine.
    pub fn condition(&self, trace: &Trace<f32>) -> Result<Checked, ExpressionError> {
        let checked = self.check(trace)?;
        expect(CONDITION, &self.root, &checked).map(|()| checked)
    }

    /// [`Expression::check`], for an expression that has to be a number, or a condition, which counts as 1 or 0.
    ///
    /// # Errors
    /// It is an array, or a part is wrong for this machine.
    pub fn quantity(&self, trace: &Trace<f32>) -> Result<Checked, ExpressionError> {
        let checked = self.check(trace)?;
        if checked.result.kind() == ARRAY {
            expect("a number or a condition", &self.root, &checked)?;
        }
        Ok(checked)
    }
}

const NUMBER: &str = "a number";
const ARRAY: &str = "an array";
const CONDITION: &str = "a condition";

/// Checks that a part has the type that is expected: one of those above, or several, which it has not.
fn expect(expected: &str, node: &Node, found: &Checked) -> Result<(), ExpressionError> {
    let found = found.result;
    // The number of wrong bits is true where there are some.
    let is_count = matches!(&node.term, Term::Call(function) if function.name == "wrong");
    if found.kind() == expected || is_count && expected == CONDITION {
        return Ok(());
    }
    let help = match found.kind() {
        ARRAY => "; use an index such as [0], or a function such as `max`",
        NUMBER if expected == CONDITION => "; compare it, as in `… > 0.5`",
        _ => "",
    };
    let message = format!("expected {expected}, found {found}{help}");
    Err(ExpressionError::new(&node.at, message))
}

fn check(arrays: &[Named], node: &Node) -> Result<Checked, ExpressionError> {
    let parts = node.parts.iter().map(|part| check(arrays, part));
    let parts: Vec<Checked> = parts.collect::<Result<_, _>>()?;
    let wants = |expected| {
        let mut parts = node.parts.iter().zip(&parts);
        parts.try_for_each(|(node, part)| expect(expected, node, part))
    };
    let values = |index: usize| parts[index].values.clone();
    Ok(match &node.term {
        Term::Number(number) => {
            let number = *number;
            let checked = Checked::new(Type::Number, move |_| Some(vec![number]));
            checked.with_constant(Some(number))
        }
        Term::Array(name) => {
            let array = arrays.iter().find(|(array, _)| array == name);
            array.ok_or_else(|| unknown(arrays, node, name))?.1.clone()
        }
        Term::Call(function) => match function.meaning {
            Meaning::Step(of) => {
                Checked::new(function.result, move |at| Some(vec![of(at.0, at.1)]))
            }
            Meaning::Array(of) => {
                wants(ARRAY)?;
                let array = values(0);
                Checked::new(function.result, move |at| Some(vec![of(&array(at)?)]))
            }
            Meaning::Changes => {
                if node.parts.iter().any(Node::has_changes) {
                    let message = "`changes` within `changes`; expected one";
                    return Err(ExpressionError::new(&node.at, message));
                }
                let values = values(0);
                Checked::condition(move |(recording, step)| {
                    let now = values((recording, step))?;
                    Some(step > 0 && now != values((recording, step - 1))?)
                })
            }
            Meaning::Writes => {
                wants(NUMBER)?;
                if !arrays.iter().any(|(array, _)| array.starts_with("write")) {
                    let message = "`writes` needs a machine with a write head; this one has none";
                    return Err(ExpressionError::new(&node.at, message));
                }
                let memory = arrays.iter().find(|(array, _)| array == array::MEMORY.name);
                let rows = memory.and_then(|(_, memory)| memory.result.entries());
                check_index(&node.parts[0], &parts[0], rows)?;
                let row = values(0);
                Checked::condition(move |at| writes(at.0, at.1, whole(row(at)?[0])?))
            }
        },
        Term::Entry => {
            let Type::Array { size, .. } = parts[0].result else {
                let message = format!("this is {}, which takes no index", parts[0].result);
                return Err(ExpressionError::new(&node.parts[0].at, message));
            };
            expect(NUMBER, &node.parts[1], &parts[1])?;
            let entries = parts[0].result.entries().or(parts[0].most);
            check_index(&node.parts[1], &parts[1], entries)?;
            let (array, index, entries) = (values(0), values(1), Some(size));
            let own = parts[0].array;
            let result = match size {
                1 => Type::Number,
                _ => Type::Array { entries, size: 1 },
            };
            Checked::new(result, move |at| {
                let index = whole(index(at)?[0])?;
                let sizes = own.and_then(|own| at.0.trace.array_sizes(own)?.get(1..));
                let size = sizes.map_or(size, |sizes| sizes.iter().product());
                Some(array(at)?.chunks_exact(size.max(1)).nth(index)?.to_vec())
            })
        }
        Term::Not => {
            wants(CONDITION)?;
            let of = values(0);
            Checked::condition(move |at| Some(of(at)?[0] == 0.0))
        }
        Term::Binary(operator) if operator.level < COMPARED => {
            wants(CONDITION)?;
            let (left, right, decides) = (values(0), values(1), operator.sign == "or");
            // The right part is needed only where the left one does not decide.
            Checked::condition(move |at| match left(at)?[0] != 0.0 {
                left if left == decides => Some(left),
                _ => Some(right(at)?[0] != 0.0),
            })
        }
        Term::Binary(operator) => {
            let result = if operator.level == COMPARED {
                wants(NUMBER)?;
                Type::Condition
            } else {
                computed(node, &parts)?
            };
            let (left, right, of) = (values(0), values(1), operator.of);
            let constant = parts[0].constant.zip(parts[1].constant);
            let checked = Checked::new(result, move |at| pairwise(of, &left(at)?, &right(at)?));
            checked.with_constant(constant.map(|(left, right)| of(left, right)))
        }
    })
}

/// The error for a name that is none of an array.
fn unknown(arrays: &[Named], node: &Node, name: &str) -> ExpressionError {
    let mut functions = FUNCTIONS.iter().map(|function| function.name);
    if functions.any(|function| function == name) {
        let message = format!("expected `{name}(…)`: it is a function");
        return ExpressionError::new(&node.at, message);
    }
    let known = arrays.iter().map(|(array, _)| &**array);
    let known = known.chain(FUNCTIONS.iter().map(|function| function.name));
    ExpressionError::unknown(&node.at, ("array or function", name), known)
}

/// Checks that an index, where no array decides it, is inside an axis; `None`: the axis belongs to the episode.
fn check_index(
    node: &Node,
    index: &Checked,
    entries: Option<usize>,
) -> Result<(), ExpressionError> {
    let is_inside = |index: usize| entries.is_none_or(|entries| index < entries);
    match index.constant {
        Some(number) if !whole(number).is_some_and(is_inside) => {
            let end = entries.map_or("or more".to_owned(), |entries| {
                format!("to {}", entries.saturating_sub(1))
            });
            let message = format!("expected a whole number, 0 {end}, found {number}");
            Err(ExpressionError::new(&node.at, message))
        }
        _ => Ok(()),
    }
}

/// The type of an operation on numbers, on arrays of one shape, or on a number and every value of an array.
fn computed(node: &Node, parts: &[Checked]) -> Result<Type, ExpressionError> {
    for (node, part) in node.parts.iter().zip(parts) {
        if part.result == Type::Condition {
            expect("a number or an array", node, part)?;
        }
    }
    let (one, other) = (parts[0].result, parts[1].result);
    if one == Type::Number || one == other {
        return Ok(other);
    }
    if other != Type::Number {
        let expected = format!("{one} as on the left, or a number");
        expect(&expected, &node.parts[1], &parts[1])?;
    }
    Ok(one)
}

/// The results of an operation on the values of arrays of one length; a single number is used with each.
fn pairwise(of: fn(f64, f64) -> f64, left: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let count = left.len().max(right.len());
    let at = |values: &[f64], index: usize| match values {
        [number] => Some(*number),
        _ => values.get(index).copied(),
    };
    let pair = |index| Some(of(at(left, index)?, at(right, index)?));
    (0..count).map(pair).collect()
}

/// A number as an index.
fn whole(number: f64) -> Option<usize> {
    (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)
}

impl Checked {
    fn new(
        result: Type,
        values: impl Fn(At<'_>) -> Option<Vec<f64>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            result,
            constant: None,
            most: None,
            array: None,
            values: Arc::new(values),
        }
    }

    fn with_constant(self, constant: Option<f64>) -> Self {
        Self { constant, ..self }
    }

    fn condition(of: impl Fn(At<'_>) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self::new(Type::Condition, move |at| Some(vec![of(at)?.into()]))
    }

    /// The values in a step: one of a number or a condition, which is 1 or 0. `None` where a part was not recorded, or an
    /// index is outside.
    pub fn values(&self, recording: &Recording, step: usize) -> Option<Vec<f64>> {
        (step < recording.trace.steps()).then(|| (self.values)((recording, step)))?
    }

    /// The steps in which a condition is known and holds; from the end, the last one first.
    pub fn matches(&self, recording: &Recording) -> impl DoubleEndedIterator<Item = usize> {
        let values = |step: &usize| self.values(recording, *step);
        let holds = move |step: &usize| values(step).is_some_and(|holds| holds[0] != 0.0);
        (0..recording.trace.steps()).filter(holds)
    }
}
