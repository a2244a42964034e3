//! Machine files: found beside a preset or among the included ones, with the components that they use.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::error::{nearest, short};
use super::preset::at;
use super::{Error, Experiment, file};
use crate::equations::page::{Given, Page};
use crate::keys::Words as _;
use crate::model::equations::{Offer, Unfit};
use crate::model::{EquationsConfig, Kind as _, ModelConfig};
use crate::task::Task;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1 << 18;

/// Embeds files by their names in `src/core/machines/`.
macro_rules! included {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../core/machines/", $name)))),*]
    };
}

/// The files inside the binary: name and text.
const INCLUDED: [(&str, &str); 29] = included! {
    "attention.component" "encoder.component" "head.component"
    "attention_over_attention.machine" "bahdanau.machine" "caption.machine" "coattention.machine" "delta_rule.machine"
    "dnc.machine" "fast_weights.machine" "fixed_context.machine" "gated_delta.machine" "hopfield.machine"
    "lstmn.machine" "lstmn_fusion.machine" "luong.machine" "memory_network.machine" "mlstm.machine"
    "multi_head.machine" "multi_head_layers.machine" "ntm.machine" "ntm_in_turn.machine" "ntm_one_page.machine"
    "plain.machine" "sam.machine" "self_attention.machine" "structured_self_attention.machine" "tape_reader.machine"
    "titans.machine"
};

fn included(name: &str) -> Option<&'static str> {
    let found = INCLUDED.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text)
}

/// The names of the included machine files.
pub fn included_names() -> impl Iterator<Item = &'static str> {
    let names = INCLUDED.into_iter().map(|(name, _)| name);
    names.filter(|name| name.ends_with(".machine"))
}

/// True for the path of a machine file.
pub fn is_machine(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "machine")
}

/// The text of a file beside a preset, or of an included one. `Err`: what is wrong with its name, or with the file.
fn text(name: &str, folder: Option<&Path>, label: &str) -> Result<String, Error> {
    let fail = |problem: String| Err(Error::content(label, "model.file", problem));
    let path = Path::new(name);
    let is_inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.is_empty() || !is_inside {
        let name = short(name);
        return fail(format!(
            "is `{name}`; expected the name of a file in the folder of the preset, or of an included machine"
        ));
    }
    let beside = folder
        .map(|folder| folder.join(path))
        .filter(|path| file::exists(path));
    if let Some(beside) = beside {
        return file::read_text(&beside, LIMIT);
    }
    included(name).map(str::to_owned).map_or_else(
        || {
            let names = included_names();
            let meant = nearest(name, names).map(|meant| format!("; did you mean {meant}?"));
            let there =
                folder.map_or_else(String::new, |folder| format!(" in {}", file::label(folder)));
            fail(format!(
                "is `{}`, but there is no such file{there}, and no included machine of this name{}",
                short(name),
                meant.unwrap_or_default()
            ))
        },
        Ok,
    )
}

/// The text of a machine file with all components that it uses, which stand in it or beside it, or are included ones.
///
/// # Errors
/// The file cannot be read; or the mistake in it, with its file, line and column.
pub fn read(name: &str, folder: Option<&Path>, label: &str) -> Result<String, Error> {
    let text = text(name, folder, label)?;
    let folder =
        folder.map(|folder| folder.join(Path::new(name).parent().unwrap_or(Path::new(""))));
    let used = RefCell::new(Vec::<(String, String)>::new());
    let library = |component: &str| {
        let name = format!("{component}.component");
        let beside = folder.as_ref().map(|folder| folder.join(&name));
        let beside = beside.filter(|path| file::exists(path));
        let own = beside.map(|path| file::read_text(&path, LIMIT));
        let own = own.map_or_else(|| included(&name).map(str::to_owned), Result::ok)?;
        let mut used = used.borrow_mut();
        if used.iter().all(|(known, _)| *known != name) {
            used.push((name.clone(), own.clone()));
        }
        Some((name, own.into_bytes()))
    };
    let label = Path::new(name)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    Page::read(text.as_bytes(), &label, &Given::default(), &library)
        .map_err(|mistake| Error::machine(&mistake))?;
    let mut whole = without_returns(&text);
    let mut used = used.into_inner();
    used.sort();
    for (_, own) in &used {
        if !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push('\n');
        whole.push_str(&without_returns(own));
    }
    Ok(whole)
}

/// A text with the ends of lines that this program writes.
fn without_returns(text: &str) -> String {
    file::without_mark(text).replace("\r\n", "\n")
}

/// Puts the text of its machine file into a preset that only names it.
pub(super) fn fill(given: &mut Value, folder: Option<&Path>, label: &str) -> Result<(), Error> {
    let is_file = at(given, "model.kind").is_some_and(|kind| kind == "equations");
    let has_text = at(given, "model.text")
        .and_then(Value::as_str)
        .is_some_and(|text| !text.is_empty());
    let name = at(given, "model.file")
        .and_then(Value::as_str)
        .map(str::to_owned);
    if let Some(name) = name.filter(|_| is_file && !has_text) {
        given["model"]["text"] = read(&name, folder, label)?.into();
    }
    Ok(())
}

/// What a task offers to a machine file.
fn offer(task: &Task) -> Offer {
    Offer {
        inputs: task.inputs(),
        outputs: task.outputs(),
        answers_last: task.answers_last(),
        question: match task {
            Task::Span(span) => Some(span.question),
            _ => None,
        },
        has_one_answer: matches!(task, Task::Aspects(_)),
    }
}

/// Checks that the machine file of a model holds, and that its data are those of the task.
pub(super) fn check(model: &mut ModelConfig, task: &Task, label: &str) -> Result<(), Error> {
    let ModelConfig::Equations(config) = model else {
        return Ok(());
    };
    if let Some(mistake) = config.mistake() {
        let problem = format!("does not hold: {mistake}");
        return Err(Error::content(label, "model.text", problem));
    }
    let offered = offer(task);
    config.question = offered.question.unwrap_or(config.question);
    // The channels of a file of episodes are known when it is read; of another program the arrays are taken as they are.
    if !task.has_channels() || matches!(task, Task::External(_)) {
        return Ok(());
    }
    let Err(Unfit { has, offers, needs }) = config.fits(offered) else {
        return Ok(());
    };
    let all = Task::WORDS.iter().filter(|(_, task)| {
        let mut other = config.clone();
        other.set_channels(task.inputs(), task.outputs());
        other.fits(offer(task)).is_ok()
    });
    let all: Vec<&str> = all.map(|(word, _)| *word).collect();
    let fitting = match all.join(", ") {
        none if none.is_empty() => "none".to_owned(),
        all => all,
    };
    let problem = format!(
        "is {}, with {has}; it needs {needs}. The task {} offers {offers}. Tasks that fit: {fitting}",
        config.file,
        task.name(),
    );
    Err(Error::content(label, "model.file", problem))
}

/// The experiment of a run, and whether the machine file beside its preset is another one by now: its name.
pub fn changed(experiment: &Experiment, preset: &Path) -> Option<String> {
    let ModelConfig::Equations(EquationsConfig { file, text, .. }) = &experiment.model else {
        return None;
    };
    let folder: PathBuf = preset.parent()?.to_owned();
    file::exists(&folder.join(file)).then_some(())?;
    let there = read(file, Some(&folder), "").ok()?;
    (there != *text).then(|| file.clone())
}
