//! The plan of a sweep: the names of its run folders, and the list of all planned runs.
//!
//! Every sweep leaves its list beside the folders of its runs, as `plan-HASH.json`: the hash is that of the
//! list, so that shards of one sweep, and a sweep that is repeated, write the same file, and no two sweeps
//! ever change one. What is planned in a folder is what any list in it names.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::io::preset::Override;
use crate::io::weights::hexadecimal;
use crate::io::{Error, file};

const FORMAT: &str = "tapescope-plan";
/// The largest list that is read, in bytes.
const LIMIT: u64 = 256 << 20;
/// The longest name of a run's folder; file systems allow 255 bytes.
const MOST_NAME: usize = 160;

/// The name of the folder of a run: the changed preset keys, and the seed.
///
/// Characters that a file system or a shell could take for something else become `_`; a name that is not
/// the whole truth any more ends with the beginning of its hash.
pub fn run_name(setting: &[Override], seed: u64) -> String {
    let parts: Vec<String> = setting.iter().map(ToString::to_string).collect();
    let full = parts.join(",");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,=+".contains(c);
    let mut name: String = full
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(MOST_NAME)
        .collect();
    if name != full {
        name += &short_hash(full.as_bytes());
    }
    let comma = if name.is_empty() { "" } else { "," };
    format!("{name}{comma}seed={seed}")
}

fn short_hash(bytes: &[u8]) -> String {
    let mut hash = hexadecimal(Sha256::new_with_prefix(bytes));
    hash.truncate(8);
    hash
}

#[derive(Serialize, Deserialize)]
struct Form {
    /// The names of the folders.
    runs: BTreeSet<String>,
}

/// Leaves the list of the runs of a sweep in its folder, which is created where it is not there.
///
/// # Errors
/// The file cannot be written; or the one that is there cannot be read, or lists something else.
pub fn write_plan(folder: &Path, runs: BTreeSet<String>) -> Result<(), Error> {
    let hash = short_hash(file::json(&runs).as_bytes());
    let path = folder.join(format!("plan-{hash}.json"));
    if file::exists(&path) {
        if read(&path)? == runs {
            return Ok(());
        }
        let problem = "lists other runs than its name says; move the file away to continue";
        return Err(Error::content(&file::label(&path), "runs", problem));
    }
    file::create_folder(folder)?;
    file::write_json(&path, FORMAT, &Form { runs })
}

/// True for the name of such a list.
pub(super) fn is_plan(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("plan-") && name.ends_with(".json")
}

/// The names of the folders that a list has.
pub(super) fn read(path: &Path) -> Result<BTreeSet<String>, Error> {
    let form: Form = file::read_json(path, LIMIT, FORMAT)?;
    let is_name = |name: &&String| {
        let name = Path::new(name.as_str());
        name.file_name() != Some(name.as_os_str())
    };
    if let Some(name) = form.runs.iter().find(is_name) {
        let problem = format!("`{name}` is not a valid folder name");
        return Err(Error::content(&file::label(path), "runs", problem));
    }
    Ok(form.runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn overrides(texts: &[&str]) -> Vec<Override> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn names_of_folders_are_plain_and_different() {
        let name = |texts: &[&str]| run_name(&overrides(texts), 3);
        assert_eq!(name(&[]), "seed=3");
        assert_eq!(
            name(&[
                "model.memory.rows=64",
                "training.optimizer.learning_rate=3e-4"
            ]),
            "model.memory.rows=64,training.optimizer.learning_rate=0.0003,seed=3"
        );
        let odd = name(&["title=a/b c"]);
        assert!(odd.starts_with("title=a_b_c") && odd.ends_with(",seed=3"));
        assert_ne!(odd, name(&["title=a/b_c"]));
        let long = name(&[&format!("title={}", "x".repeat(500))]);
        assert!(long.len() < 200, "{}", long.len());
        assert_ne!(long, name(&[&format!("title={}", "x".repeat(501))]));
    }

    fn plans(folder: &Path) -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| is_plan(path)).collect()
    }

    #[test]
    fn a_plan_is_written_once_and_reads_back() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("sweep");
        let runs = |seeds: &[u64]| -> BTreeSet<String> {
            seeds.iter().map(|seed| run_name(&[], *seed)).collect()
        };
        write_plan(&folder, runs(&[1, 2])).unwrap();
        write_plan(&folder, runs(&[2, 1])).unwrap();
        let [path] = &plans(&folder)[..] else {
            panic!("another number of plans than one")
        };
        assert_eq!(read(path).unwrap(), runs(&[1, 2]));
        write_plan(&folder, runs(&[1, 2, 3])).unwrap();
        assert_eq!(plans(&folder).len(), 2);
    }

    #[test]
    fn an_unreadable_plan_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let runs = BTreeSet::from(["seed=1".to_owned()]);
        write_plan(folder.path(), runs.clone()).unwrap();
        let path = &plans(folder.path())[0];
        let right = fs::read_to_string(path).unwrap();
        let is_refused = |wrong: &str, words: &str| {
            fs::write(path, wrong).unwrap();
            let error = write_plan(folder.path(), runs.clone()).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(fs::read_to_string(path).unwrap(), wrong);
        };
        for (from, to, words) in [
            ("1.0", "2.0", "`version`: is `2.0`; expected `1.0`"),
            (
                "tapescope-plan",
                "x",
                "`format`: is `x`; expected `tapescope-plan`",
            ),
            ("seed=1", "seed=2", "`runs`: lists other runs"),
            (
                "seed=1",
                "../seed=1",
                "`runs`: `../seed=1` is not a valid folder name",
            ),
        ] {
            is_refused(&right.replace(from, to), words);
        }
        is_refused(&right[..20], "EOF while parsing");
        is_refused("{}", "`format`");
    }
}
