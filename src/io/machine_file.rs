//! Machine files: found beside a preset or among the included ones, with the components that they use.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::error::short;
use super::{Error, file};
use crate::keys::Words as _;
use crate::model::equations::{INCLUDED, Unfit, included, with_components};
use crate::model::{EquationsConfig, Kind as _, ModelConfig};
use crate::spelling::nearest;
use crate::task::Task;
use crate::train::offer;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1 << 18;

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
    if let Some(text) = read_in(path, folder, label)? {
        return Ok(text);
    }
    included(name).map(str::to_owned).map_or_else(
        || {
            let meant = nearest(name, included_names());
            let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            let there = folder.map_or_else(String::new, |_| " in the folder of the preset".to_owned());
            fail(format!(
                "is `{}`, but there is no such file{there}, and no included machine of this name{meant}",
                short(name)
            ))
        },
        Ok,
    )
}

/// The text of a file in a folder; none if there is no such file.
fn read_in(path: &Path, folder: Option<&Path>, label: &str) -> Result<Option<String>, Error> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let beside = folder.join(path);
    if beside.symlink_metadata().is_err() && !file::exists(&beside) {
        return Ok(None);
    }
    let real = |path: &Path| path.canonicalize().ok();
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let is_outside = real(&beside)
        .zip(real(folder))
        .is_some_and(|(beside, folder)| !beside.starts_with(folder));
    let fail = |why: &str| {
        let problem = format!("is `{}`, which {why}", short(&path.to_string_lossy()));
        Err(Error::content(label, "model.file", problem))
    };
    if is_outside {
        return fail("leads out of the folder of the preset");
    }
    if !file::exists(&beside) {
        return fail("is no ordinary file");
    }
    file::read_text(&beside, LIMIT).map(Some)
}

/// The text of a machine file with all components that it uses, which stand in it or beside it, or are included ones.
///
/// # Errors
/// The file cannot be read; or the mistake in it, with its file, line and column.
pub fn read(name: &str, folder: Option<&Path>, label: &str) -> Result<String, Error> {
    let text = text(name, folder, label)?;
    let parent = Path::new(name).parent().unwrap_or(Path::new(""));
    let unreadable = RefCell::new(None);
    let library = |component: &str| {
        let name = format!("{component}.component");
        let own = match read_in(&parent.join(&name), folder, label) {
            Ok(own) => own.or_else(|| included(&name).map(str::to_owned))?,
            Err(error) => {
                unreadable.borrow_mut().get_or_insert(error);
                return None;
            }
        };
        Some((name, own.into_bytes()))
    };
    let label = Path::new(name)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let whole = with_components(&text, &label, &library);
    match unreadable.into_inner() {
        Some(error) => Err(error),
        None => whole.map_err(|mistake| Error::machine(&mistake)),
    }
}

/// Puts the text of its machine file into a preset that only names it, and checks the text.
pub(super) fn fill(given: &mut Value, folder: Option<&Path>, label: &str) -> Result<(), Error> {
    let model = |key: &str| given.get("model")?.get(key)?.as_str().map(str::to_owned);
    if model("kind").is_none_or(|kind| kind != "equations") {
        return Ok(());
    }
    let (name, inline) = (model("file"), model("text").filter(|text| !text.is_empty()));
    let text = match (&inline, &name) {
        (Some(text), _) => text.clone(),
        (None, Some(name)) => read(name, folder, label)?,
        (None, None) => return Ok(()),
    };
    // A mistake names its place in the machine file.
    let wrong = |mistake: String| match inline {
        Some(_) => Error::content(label, "", mistake),
        None => Error::machine(&mistake),
    };
    EquationsConfig::of_file(&name.unwrap_or_default(), &text).map_err(wrong)?;
    given["model"]["text"] = text.into();
    Ok(())
}

/// Checks that the machine file of a model holds, and that its data are those of the task.
pub(super) fn check(model: &mut ModelConfig, task: &Task, label: &str) -> Result<(), Error> {
    let ModelConfig::Equations(config) = model else {
        return Ok(());
    };
    if let Err(mistake) = config.check() {
        return Err(Error::content(label, "", mistake));
    }
    let offered = offer(task);
    config.question = offered.document.map_or(config.question, |own| own.question);
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

/// What fits in the machine file of a model but is often a mistake, with file, line and column.
pub fn warnings(model: &ModelConfig) -> Vec<String> {
    match model {
        ModelConfig::Equations(config) => config.check().unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The name of the machine file beside a preset, if it is another one by now than that of the machine.
pub fn changed(model: &ModelConfig, preset: &Path) -> Option<String> {
    let ModelConfig::Equations(EquationsConfig { file, text, .. }) = model else {
        return None;
    };
    let folder: PathBuf = preset.parent()?.to_owned();
    file::exists(&folder.join(file)).then_some(())?;
    let there = read(file, Some(&folder), "").ok()?;
    (there != *text).then(|| file.clone())
}
