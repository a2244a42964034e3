//! The machine files inside the binary.

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
