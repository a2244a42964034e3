//! The machine files inside the binary.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::page::{Given, Library, Page};

/// Embeds files by their names in `src/core/machines/`.
macro_rules! included {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../machines/", $name)))),*]
    };
}

/// Machines and components: the name and the text of each file.
pub const INCLUDED: [(&str, &str); 30] = included! {
    "attention.component" "coverage.component" "encoder.component" "head.component"
    "attention_over_attention.machine" "bahdanau.machine" "caption.machine" "coattention.machine" "delta_rule.machine"
    "dnc.machine" "fast_weights.machine" "fixed_context.machine" "gated_delta.machine" "hopfield.machine"
    "lstmn.machine" "lstmn_fusion.machine" "luong.machine" "memory_network.machine" "mlstm.machine"
    "multi_head.machine" "multi_head_layers.machine" "ntm.machine" "ntm_in_turn.machine" "ntm_one_page.machine"
    "plain.machine" "sam.machine" "self_attention.machine" "structured_self_attention.machine" "tape_reader.machine"
    "titans.machine"
};

/// The text of an included file.
pub fn included(name: &str) -> Option<&'static str> {
    let found = INCLUDED.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text)
}

/// The text of an included machine of this name (`bahdanau`) with its components.
pub fn whole(name: &str) -> Option<Result<String, String>> {
    let file = format!("{name}.machine");
    let library = |name: &str| {
        let name = format!("{name}.component");
        included(&name).map(|text| (name, text.as_bytes().to_vec()))
    };
    Some(with_components(included(&file)?, &file, &library))
}

/// The text of a file and of the components that it uses, which `library` finds, each with the name and the bytes of its
/// file.
///
/// # Errors
/// The mistake, with its file, line and column.
pub fn with_components(text: &str, file: &str, library: Library<'_>) -> Result<String, String> {
    let used = RefCell::new(BTreeMap::new());
    let see = |name: &str| {
        let (name, bytes) = library(name)?;
        used.borrow_mut().insert(name.clone(), bytes.clone());
        Some((name, bytes))
    };
    Page::read(text.as_bytes(), file, &Given::default(), &see)
        .map_err(|mistake| mistake.to_string())?;
    let unix = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut whole = unix(text);
    for component in used.into_inner().values() {
        if !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push('\n');
        whole.push_str(&unix(&String::from_utf8_lossy(component)));
    }
    Ok(whole)
}
