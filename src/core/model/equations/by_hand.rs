//! The machines that are written by hand, of included files with choices that they have.

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use super::labels::{SHIFT_FORMS, chosen, key};
use super::parts::Outline;
use crate::equations::included::{included, whole};
use crate::keys::{PerHead, Switch, Words as _};
use crate::math::Real;
use crate::model::attention::{Score, Strength, Weighting};
use crate::model::config::{
    ControllerConfig, ControllerKind, InitialMemory, InitialWeighting, NtmConfig, VectorActivation,
};
use crate::model::dnc::DncConfig;
use crate::model::kind::{AsKind, Kind};
use crate::model::machine::Machine;
use crate::model::sam::SamConfig;

/// A machine by hand.
#[derive(Clone, Debug)]
pub(super) enum ByHand {
    Ntm(NtmConfig),
    Dnc(DncConfig),
    Sam(SamConfig),
}

impl Deref for ByHand {
    type Target = dyn Kind;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Ntm(config) => config,
            Self::Dnc(config) => config,
            Self::Sam(config) => config,
        }
    }
}

impl DerefMut for ByHand {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Ntm(config) => config,
            Self::Dnc(config) => config,
            Self::Sam(config) => config,
        }
    }
}

impl AsKind for ByHand {
    fn kind(&self) -> &(dyn Kind + 'static) {
        &**self
    }
}

impl ByHand {
    /// Its passes.
    pub(super) fn passes<R: Real>(&self) -> &dyn Machine<R> {
        match self {
            Self::Ntm(config) => config,
            Self::Dnc(config) => config,
            Self::Sam(config) => config,
        }
    }

    fn is_valid(&self) -> bool {
        let valid = match self {
            Self::Ntm(config) => config.validate(),
            Self::Dnc(config) => config.validate(),
            Self::Sam(config) => config.validate(),
        };
        valid.is_ok()
    }
}

/// The included files with passes by hand.
const NAMES: [&str; 3] = ["ntm", "dnc", "sam"];

/// The text of each of them with its components; read when a file begins with one of them.
static TEXTS: LazyLock<[Option<String>; 3]> =
    LazyLock::new(|| NAMES.map(|name| whole(name).and_then(Result::ok)));

/// The machine by hand of a file with these choices, for one input and one output; none where there is no such machine.
pub(super) fn by_hand(text: &str, outline: &Outline) -> Option<ByHand> {
    let begins = |name: &&str| {
        let own = included(&format!("{name}.machine"));
        own.is_some_and(|own| text.starts_with(own))
    };
    let at = NAMES.iter().position(begins)?;
    if TEXTS[at].as_deref() != Some(text) {
        return None;
    }
    let of = Choices(outline);
    let config = match NAMES[at] {
        "ntm" => ByHand::Ntm(of.ntm()?),
        "dnc" => ByHand::Dnc(of.dnc()?),
        _ => ByHand::Sam(of.sam()?),
    };
    config.is_valid().then_some(config)
}

/// The choices of a file.
struct Choices<'a>(&'a Outline);

impl Choices<'_> {
    fn number(&self, name: &str) -> f64 {
        key(self.0, name).map_or(0.0, |key| key.value)
    }

    fn size(&self, name: &str) -> usize {
        self.number(name) as usize
    }

    /// What a switch is set to, where the machine by hand has it under another word.
    fn of<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let all = self.each(name, words)?;
        (all.len() == 1).then(|| all[0])
    }

    /// The same of a switch that may have a choice for each head.
    fn each<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Option<Vec<T>> {
        let chosen = key(self.0, name)?.chosen.iter();
        let of = |word: &str| words.iter().find(|own| own.0 == word).map(|own| own.1);
        chosen.map(|word| of(word)).collect()
    }

    fn heads<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Option<PerHead<T>> {
        let all = self.each(name, words)?;
        Some(if all.len() == 1 {
            all[0].into()
        } else {
            all.into()
        })
    }

    fn controller(&self) -> Option<ControllerConfig> {
        Some(ControllerConfig {
            kind: chosen::<ControllerKind>(self.0, "controller", None)?,
            size: self.size("units"),
            layers: 1 + self.size("upper"),
        })
    }

    fn memory(&self) -> Option<InitialMemory> {
        let constant = InitialMemory::Constant(self.number("filled"));
        self.of(
            "memory",
            &[("constant", constant), ("learned", InitialMemory::Learned)],
        )
    }

    fn ntm(&self) -> Option<NtmConfig> {
        const ACTIVATIONS: &[(&str, VectorActivation)] = &[
            ("linear", VectorActivation::Identity),
            ("tanh", VectorActivation::Tanh),
        ];
        let mut config = NtmConfig::new(1, 1);
        config.controller = self.controller()?;
        (config.rows, config.columns) = (self.size("rows"), self.size("columns"));
        (config.read_heads, config.write_heads) = (self.size("read"), self.size("write"));
        config.initial_memory = self.memory()?;
        config.similarity_epsilon = self.number("epsilon");
        let offsets = self.size("offsets");
        config.shift_range = offsets / 2;
        config.shift_form = self.heads("shift", &SHIFT_FORMS)?;
        config.order = chosen(self.0, "order", None)?;
        config.key_activation = self.of("keys", ACTIVATIONS)?;
        config.add_activation = self.of("adds", ACTIVATIONS)?;
        let weightings = [
            ("first_row", InitialWeighting::OneHot),
            ("learned", InitialWeighting::Learned),
        ];
        config.initial_weighting = self.of("weightings", &weightings)?;
        let scores = [
            ("cosine", Score::Cosine),
            ("dot", Score::Dot),
            ("scaled_dot", Score::ScaledDot),
        ];
        let attention = &mut config.attention;
        attention.score = self.heads("score", &scores)?;
        attention.strength = self.heads(
            "strength",
            &[("on", Strength::Emitted), ("off", Strength::One)],
        )?;
        attention.gate = self.heads("gate", Switch::WORDS)?;
        attention.sharpening = self.heads("sharpening", Switch::WORDS)?;
        let erase = self.each("erase", Switch::WORDS)?;
        if erase.len() > 1 {
            let reads = vec![Switch::On; config.read_heads];
            attention.erase = [reads, erase].concat().into();
        } else {
            attention.erase = erase[0].into();
        }
        // Neither windows nor noise: their tensors have other forms by hand.
        self.heads("weighting", &[("soft", Weighting::Soft)])?;
        self.heads("drawn", &[("no", ())])?;
        (offsets % 2 == 1).then_some(config)
    }

    fn dnc(&self) -> Option<DncConfig> {
        let mut config = DncConfig::new(1, 1);
        config.controller = self.controller()?;
        (config.rows, config.columns) = (self.size("rows"), self.size("columns"));
        config.read_heads = self.size("read");
        config.initial_memory = self.memory()?;
        config.similarity_epsilon = self.number("epsilon");
        config.links = chosen(self.0, "links", None)?;
        config.allocation = chosen(self.0, "allocation", None)?;
        config.free_gates = chosen(self.0, "free_gates", None)?;
        Some(config)
    }

    fn sam(&self) -> Option<SamConfig> {
        let mut config = SamConfig::new(1, 1);
        config.controller = self.controller()?;
        (config.rows, config.columns) = (self.size("rows"), self.size("columns"));
        (config.heads, config.read_rows) = (self.size("head"), self.size("K"));
        config.initial_memory = self.memory()?;
        config.similarity_epsilon = self.number("epsilon");
        config.threshold = self.number("delta");
        (self.number("K").fract() == 0.0).then_some(config)
    }
}
