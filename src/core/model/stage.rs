//! The stages between the score of a key and the final weighting of its head, and their order.

/// A stage of addressing (Graves 2014, §3.3), or of another form of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Position of the window; local heads only.
    Centre,
    /// Equation 5, or its counterpart in a local or a Bayesian head.
    Content,
    /// Divergence of the weights from their prior; Bayesian heads only.
    Divergence,
    /// Equation 7.
    Interpolation,
    /// Equation 8.
    Shift,
    /// Equation 9; without sharpening, the previous stage unchanged.
    Sharpening,
    /// Sampled row; hard heads only.
    Draw,
}

/// Walks through the stages in the order of the computation, or back: they are known when a kernel is compiled; a loop
/// over them would ask every time which it is.
macro_rules! for_each_stage {
    (forwards |$each:ident| $work:expr) => {
        $crate::model::stage::for_each_stage!(@ [Centre Content Divergence Interpolation Shift Sharpening Draw] [] |$each| $work)
    };
    (backwards |$each:ident| $work:expr) => {
        $crate::model::stage::for_each_stage!(@ [] [Centre Content Divergence Interpolation Shift Sharpening Draw] |$each| $work)
    };
    (@ [$($stage:ident)*] [] |$each:ident| $work:expr) => {
        $({
            let $each = $crate::model::stage::Stage::$stage;
            $work;
        })*
    };
    (@ [$($last:ident)*] [$stage:ident $($next:ident)*] |$each:ident| $work:expr) => {
        $crate::model::stage::for_each_stage!(@ [$stage $($last)*] [$($next)*] |$each| $work)
    };
}
pub(super) use for_each_stage;

impl Stage {
    /// All of them, in the order of the computation.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for_each_stage!(forwards | stage | all.push(stage));
        all
    }
}
