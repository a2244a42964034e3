//! The family of attention mechanisms: what each attends to, its equation, its paper and an episode that shows it.
//!
//! One table for docs/attention.md and for the page in the window. Symbols as in the window: k is the query of a head,
//! M(i) row i, K(i) its score, w(i) its weight. The test `formats` names the command that draws the picture of a new row.

/// Mechanisms that attend to the same kind of rows.
#[derive(Clone, Copy, Debug)]
pub struct MechanismGroup {
    /// The rows, as a heading.
    pub title: &'static str,
    /// A sentence or two on these rows.
    pub about: &'static str,
    /// The mechanisms, each built on those before it.
    pub mechanisms: &'static [Mechanism],
}

/// One mechanism of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// The name.
    pub name: &'static str,
    /// The equation that sets it apart, in plain characters.
    pub equation: &'static str,
    /// The paper and its place in it, such as `Graves 2014, section 3.3.1`.
    pub paper: &'static str,
    /// The number of the paper, such as `arXiv:1410.5401` or `doi:10.1038/nature20101`.
    pub number: &'static str,
    /// One sentence on its purpose.
    pub purpose: &'static str,
    /// A link to an episode of an included machine, as `tapescope view --link` takes it.
    pub link: &'static str,
    /// The options of `tapescope render` for its picture.
    pub picture: &'static str,
}

impl Mechanism {
    /// Returns the name of the included machine.
    pub fn machine(&self) -> &'static str {
        let first = self.link.split('&').next().unwrap_or_default();
        first.strip_prefix("machine=").unwrap_or_default()
    }
}

/// What all mechanisms have in common, in a paragraph.
pub const FAMILY_ABOUT: &str = "Attention reads a memory. A head compares its query k with every row M(i); the scores K(i) become weights w(i) \
     with the sum 1, and the head reads r\u{a0}=\u{a0}Σ\u{a0}w(i)\u{a0}·\u{a0}M(i). Mechanisms differ in the rows that they attend to, in the score, \
     and in the way from scores to weights.";

/// The first mechanism, with the episode and the step that docs/how.md explains.
pub static FIRST: &Mechanism = &FAMILY[0].mechanisms[0];
/// The step of its link.
pub const FIRST_STEP: usize = 13;

/// The mechanisms, by the rows that they attend to.
#[rustfmt::skip] // Four lines for each.
pub static FAMILY: [MechanismGroup; 5] = [
    MechanismGroup { title: "A memory that the machine writes",
        about: "A Neural Turing Machine writes its rows itself and finds them again by content or by location. A head may take its scores and its weights in other ways too. A Differentiable Neural Computer also manages its rows, and sparse access memory uses few of them in a step.",
        mechanisms: &[
            Mechanism { name: "Content addressing", equation: "wᶜ = softmax(β · cos(k, M))",
                paper: "Graves 2014, section 3.3.1", number: "arXiv:1410.5401",
                purpose: "Finds a row by what it holds: here the first row again, for each repetition.",
                link: "machine=repeat_copy&length=6&repeats=3&seed=1&step=13&stage=1&head=R0", picture: "--head R0" },
            Mechanism { name: "Location addressing", equation: "wᵍ = g · wᶜ + (1 − g) · wₜ₋₁,  w̃(i) = Σ wᵍ(j) · s(i − j)",
                paper: "Graves 2014, section 3.3.2", number: "arXiv:1410.5401",
                purpose: "Moves to the next row whatever it holds, and so steps through a list.",
                link: "machine=copy&length=10&seed=7&step=5&stage=3&head=W0", picture: "" },
            Mechanism { name: "Location-based score", equation: "K(i) = (k · W)(i)",
                paper: "Luong 2015, section 3.1", number: "arXiv:1508.04025",
                purpose: "Scores a row by its position alone, so that contents cannot mislead it.",
                link: "machine=copy_location&length=10&seed=7&step=5&stage=1&head=W0", picture: "" },
            Mechanism { name: "Hard attention", equation: "i ~ α,  r = M(i)",
                paper: "Xu 2015, section 4.1", number: "arXiv:1502.03044",
                purpose: "Reads a single sampled row instead of a mixture; rewards teach it which one.",
                link: "machine=copy_hard&length=10&seed=7&sample=1&step=12&stage=5&head=R0", picture: "" },
            Mechanism { name: "Bayesian attention", equation: "w(i) = S(i) / Σ S,  S(i) random, E S(i) = exp(β · K(i))",
                paper: "Fan 2020, section 3", number: "arXiv:2010.10604",
                purpose: "Gives the weights a distribution and a prior: samples show how certain an answer is.",
                link: "machine=recall_bayesian_weibull&items=6&seed=7&sample=1&step=29&stage=1&head=R0", picture: "--head R0,R1" },
            Mechanism { name: "Redundancy penalty", equation: "P = ‖A·A′ − I‖², a row of A for each head",
                paper: "Lin 2017, equation 8", number: "arXiv:1703.03130",
                purpose: "Penalises heads that attend to the same rows, so that they share the work.",
                link: "machine=recall_four_heads&items=5&seed=7&step=25&head=R0", picture: "--head R0,R1" },
            Mechanism { name: "Dynamic allocation", equation: "w = gʷ · (gᵃ · a + (1 − gᵃ) · wᶜ),  a from the usage u of the rows",
                paper: "Graves 2016, Methods", number: "doi:10.1038/nature20101",
                purpose: "Writes to rows that are free, and frees those that were read: memory is used again.",
                link: "machine=copy_dnc&length=10&seed=7&step=5&stage=2&head=W0", picture: "--head W0" },
            Mechanism { name: "Temporal links", equation: "w = π₁ · b + π₂ · wᶜ + π₃ · f,  f = L · wₜ₋₁,  b = L′ · wₜ₋₁",
                paper: "Graves 2016, Methods", number: "doi:10.1038/nature20101",
                purpose: "Reads rows in the order in which they were written, wherever they are.",
                link: "machine=copy_dnc&length=10&seed=7&step=15&stage=8&head=R0", picture: "--head R0" },
            Mechanism { name: "Sparse access", equation: "w = softmax(β · cos(k, M)) over the few rows of the largest cosine",
                paper: "Rae 2016, section 3", number: "arXiv:1610.09027",
                purpose: "Reads and writes few rows a step, so that a step costs little in a memory of any size.",
                link: "machine=recall_sam&items=6&seed=7&step=29&head=R0", picture: "" },
        ] },
    MechanismGroup { title: "A source that an encoder reads",
        about: "An encoder turns each step of the source into a row h(i), and a decoder with the state s answers. The weights over time are the alignment of answer and source.",
        mechanisms: &[
            Mechanism { name: "Fixed context", equation: "s₀ = h(last),  sₜ = f(sₜ₋₁, yₜ₋₁)",
                paper: "Sutskever 2014, section 2", number: "arXiv:1409.3215",
                purpose: "The baseline without attention: one vector holds the whole source, and long sources are forgotten.",
                link: "machine=transduce_fixed_context&length=6&seed=7&step=9", picture: "--layout quantities --size 420x400" },
            Mechanism { name: "Additive attention, before the state", equation: "K(i) = v · tanh(sₜ₋₁ · W_k + h(i) · W_M)",
                paper: "Bahdanau 2015, section 3.1", number: "arXiv:1409.0473",
                purpose: "Looks at the source before each step of the answer, so that no single vector has to hold all of it.",
                link: "machine=transduce&length=6&seed=7&step=9&head=R0", picture: "" },
            Mechanism { name: "General score, after the state", equation: "K(i) = sₜ · W · h(i),  s̃ₜ = tanh([r; sₜ] · W_c)",
                paper: "Luong 2015, section 3.1", number: "arXiv:1508.04025",
                purpose: "Looks at the source after the state is known; one matrix compares both.",
                link: "machine=transduce_luong&length=6&seed=8&step=9&head=R0", picture: "" },
            Mechanism { name: "Local attention", equation: "w(i) = a(i) · exp(−(i − p)² / 2σ²),  a = softmax(K) within p ± D",
                paper: "Luong 2015, section 3.2", number: "arXiv:1508.04025",
                purpose: "Predicts a centre p and looks at a window around it, however long the source is.",
                link: "machine=frames_local_predictive&length=5&seed=7&step=34&head=R0", picture: "--steps 30..37" },
        ] },
    MechanismGroup { title: "A picture",
        about: "Each patch of the picture is a row a(i), and the answer names what the picture shows.",
        mechanisms: &[
            Mechanism { name: "Attention to patches", equation: "K(i) = v · tanh(sₜ₋₁ · W_k + a(i) · W_M),  ẑ = Σ w(i) · a(i)",
                paper: "Xu 2015, section 4.2", number: "arXiv:1502.03044",
                purpose: "Looks at the part of the picture that the next word is about.",
                link: "machine=caption&items=3&seed=7&step=18&head=R0", picture: "--layout patches" },
            Mechanism { name: "Structural biases", equation: "K(i) = v · tanh(k · W_k + M(i) · W_M + f),  f = Σ wᵤ(i) · W_F, u < t",
                paper: "Cohn 2016, section 3.3", number: "arXiv:1601.01085",
                purpose: "Tells the score what each row was given so far (fertility), its position or its neighbours.",
                link: "machine=caption&items=5&seed=7&step=18&stage=1&head=R0", picture: "--steps 16..22" },
        ] },
    MechanismGroup { title: "Its own sequence",
        about: "Each step of one sequence is a row, and other steps of it attend to this row. No head writes.",
        mechanisms: &[
            Mechanism { name: "LSTM with a tape (LSTMN)", equation: "K(i) = v · tanh(k · W_k + h(i) · W_M),  k = [xₜ; ĥₜ₋₁], i < t",
                paper: "Cheng 2016, section 3", number: "arXiv:1601.06733",
                purpose: "Replaces the one previous state of an LSTM by a weighted sum of all earlier states.",
                link: "machine=copy_lstmn&length=6&seed=7&step=9&head=R0", picture: "" },
            Mechanism { name: "Self-attention", equation: "wₜ = softmax(f(h(t), h(i))), any score f",
                paper: "Cheng 2016, section 3", number: "arXiv:1601.06733",
                purpose: "Lets every step read the states of all steps, earlier and later.",
                link: "machine=copy_self_attention&length=6&seed=7&step=9&head=R0", picture: "" },
            Mechanism { name: "Structured self-attention", equation: "A = softmax(W₂ · tanh(W₁ · H′)),  m = [A · H]",
                paper: "Lin 2017, section 2", number: "arXiv:1703.03130",
                purpose: "Gives each of several heads a fixed query, so that each collects another aspect of the sequence.",
                link: "machine=aspects_structured&length=12&seed=7&step=13&head=R0", picture: "--steps 12..13 --size 420x260" },
            Mechanism { name: "Multi-head attention", equation: "w = softmax(k · K(i) / √d),  r = Σ w(i) · V(i), keys K, values V",
                paper: "Vaswani 2017, section 3.2", number: "arXiv:1706.03762",
                purpose: "Replaces recurrence: several heads compare all steps at once, by queries, keys and values of their own.",
                link: "machine=copy_multi_head&length=6&seed=7&step=9&head=R4", picture: "--head R4,R6" },
        ] },
    MechanismGroup { title: "Two texts",
        about: "The words of a document attend to those of a question, and those of the question to the document. The answer is in the document.",
        mechanisms: &[
            Mechanism { name: "Dynamic coattention", equation: "L = D′ · Q,  C = [Q; D · softmax(L)] · softmax(L′)",
                paper: "Xiong 2016, section 2", number: "arXiv:1611.01604",
                purpose: "Reads both texts in the light of each other, then points at both ends of the answer, round after round.",
                link: "machine=span_coattention&length=12&seed=7&step=17&head=R0", picture: "" },
            Mechanism { name: "Attention over attention", equation: "s = Σ β(j) · α(j),  P(word) = Σ s(i) of its places i",
                paper: "Cui 2016, section 3", number: "arXiv:1607.04423",
                purpose: "Weighs what each word of the question attends to by how much the document attends to that word.",
                link: "machine=span_attention_over_attention&length=12&seed=7&step=16&head=R0", picture: "" },
        ] },
];

/// The places of randomness, with an episode for each.
#[rustfmt::skip] // Four lines for each.
pub static UNCERTAINTY: MechanismGroup = MechanismGroup { title: "Uncertainty",
    about: "An answer can be uncertain because the data are random (aleatoric), or because the machine does not know (epistemic). Samples of one episode tell them apart as far as a head samples. The page docs/uncertainty.md says what this can show and what it cannot.",
    mechanisms: &[
        Mechanism { name: "In the data", equation: "H(p) = −p log₂ p − (1 − p) log₂(1 − p)",
            paper: "Kendall and Gal 2017, section 2", number: "arXiv:1703.04977",
            purpose: "The next bit of the stream is random: even the best predictor cannot know it.",
            link: "machine=ngrams&length=100&seed=7&step=60", picture: "" },
        Mechanism { name: "In the attention weights", equation: "H(p̄) = mean H(p) + I",
            paper: "Depeweg 2018, equation 2", number: "arXiv:1710.07283",
            purpose: "Samples of random weights disagree where the machine does not know: Show spread of samples (S).",
            link: "machine=recall_bayesian_weibull&items=15&seed=7&sample=1&step=66&head=R0", picture: "" },
        Mechanism { name: "In the choice of a row", equation: "p(y) = Σ α(i) · p(y | i)",
            paper: "Xu 2015, section 4.1", number: "arXiv:1502.03044",
            purpose: "One unlikely row can spoil a whole answer: Sample again (A).",
            link: "machine=copy_hard&length=10&seed=7&sample=5&step=11&head=R0", picture: "" },
        Mechanism { name: "In the machine", equation: "confidence ≠ share of right answers",
            paper: "Guo 2017, equation 3", number: "arXiv:1706.04599",
            purpose: "Beyond its trained lengths this machine is certain and wrong; no sample of it shows that.",
            link: "machine=copy_multi_head&length=24&seed=7&step=40&head=R4", picture: "" },
    ] };
