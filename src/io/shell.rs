//! Shell command lines of this program, for messages and logs.

use std::ffi::OsStr;
use std::path::Path;

/// The command line with these words behind `tapescope`, as a shell reads it: whatever is in a word, it stays one.
pub fn command(words: &[impl AsRef<OsStr>]) -> String {
    let words = words.iter().map(|word| quoted(word.as_ref()));
    let words: Vec<_> = std::iter::once("tapescope".to_owned())
        .chain(words)
        .collect();
    words.join(" ")
}

/// Returns the command line of a command for one file or folder.
pub fn on(name: &str, path: &Path) -> String {
    command(&[name.as_ref(), path.as_os_str()])
}

/// Returns the command line that resumes the run in a folder.
pub fn resume(folder: &Path) -> String {
    command(&["train".as_ref(), "--resume".as_ref(), folder.as_os_str()])
}

/// Returns a word as a shell reads it.
pub fn quoted(word: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        // A name that is no text, byte by byte, as bash, zsh and ksh have it.
        None => {
            let byte = |byte: &u8| match char::from(*byte) {
                c if byte.is_ascii() && plain(c) => c.to_string(),
                _ => format!("\\x{byte:02x}"),
            };
            let bytes: String = word.as_encoded_bytes().iter().map(byte).collect();
            format!("$'{bytes}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_keeps_a_word_whole() {
        let folders = [
            ("runs/copy-1", "runs/copy-1"),
            ("my runs/copy 1", "'my runs/copy 1'"),
            ("it's", r"'it'\''s'"),
            ("$HOME;`x`", "'$HOME;`x`'"),
            ("Läufe", "'Läufe'"),
            ("", "''"),
        ];
        for (folder, shown) in folders {
            let expected = format!("tapescope train --resume {shown}");
            assert_eq!(resume(Path::new(folder)), expected);
        }
        assert_eq!(command(&["view", "a b"]), "tapescope view 'a b'");
    }
}
