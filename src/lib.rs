//! Tapescope: a Neural Turing Machine you can watch think.
//!
//! # The machine on one page
//!
//! A controller network sees the input x_t and what was read in the step before. From its hidden state
//! h_t every head emits a key k, a strength β, a gate g, a shift s and a sharpening γ; a write head also
//! an erase vector e and an add vector a. A head turns these into a *weighting* over the N rows of the
//! memory (Graves, Wayne and Danihelka 2014, section 3.3):
//!
//! ```text
//! content        w^c(i) = softmax_i( β · cos(k, M_{t−1}(i)) )                    (5, 6)
//! interpolation  w^g    = g · w^c + (1 − g) · w_{t−1}                            (7)
//! shift          w̃(i)   = Σ_j w^g(j) · s(i − j), indices modulo N                (8)
//! sharpening     w(i)   = w̃(i)^γ / Σ_j w̃(j)^γ                                    (9)
//! read           r_t    = Σ_i w(i) · M_{t−1}(i)                                  (2)
//! write          M_t(i) = M_{t−1}(i) ∘ Π (1 − w(i)·e) + Σ w(i)·a                 (3, 4)
//! output         y_t    = σ( W [h_t; r_t] + b )
//! ```
//!
//! All heads address M_{t−1}; reads see M_{t−1}; then all erases, then all adds. The weightings before the
//! first step are a distribution. Nothing persists from one episode to the next.
//!
//! # Four ideas
//!
//! 1. The machine is a value ([`model::Model`]): running it changes nothing in it.
//! 2. The trace is the tape is the file ([`model::Trace`]): one time-major record of an episode serves
//!    back-propagation, the window and the export.
//! 3. An operation and its derivative are neighbours, with their gradient check in the same file.
//! 4. Data flows one way: preset → task → episode → machine → trace → player → panels. Only commands flow
//!    back.
//!
//! # Where things are
//!
//! | module | what | may import |
//! |---|---|---|
//! | [`keys`] | the keys of configurations, each with its range and a sentence | |
//! | [`math`] | differentiable operations that know nothing of Turing machines; the vector kernels | |
//! | [`equations`] | machine files: the language, and the engine that runs them | `math` |
//! | [`model`] | the machine, a file per section of the paper | `keys`, `math`, `equations` |
//! | [`task`] | episode generators | `keys`, `math` |
//! | [`train`] | loss, optimizers, trainer, evaluation | `keys`, `math`, `model`, `task` |
//! | [`figure`] | pictures of an episode: for the window, as SVG, PNG, GIF | `math`, `model`, `task`, `train` |
//! | [`platform`] | what a desktop and a browser do differently | |
//! | [`learn`] | a run that is watched while it learns: its account, its snapshots, its threads | `math`, `model`, `task`, `train` |
//! | [`io`] | presets, weights, traces: the only module that knows files | all above but `figure` |
//! | [`pytorch`] | a machine file as a module for PyTorch | `math`, `equations`, `model` |
//! | [`player`] | the playback state machine, without a window or a clock | nothing |
//! | [`cli`] | a file per subcommand | all above |
//! | `viewer` | the window: the only module that knows egui | all but `cli` |
//!
//! [`keys`], [`math`], [`equations`], [`model`], [`task`] and [`train`] are a crate of their own, `tapescope_core` in
//! `src/core`: compiled once and as one unit, for speed, while the rest is compiled in many, for the one who
//! changes it. All name them by this crate.
//!
//! What must *not* occur is held by `tests/library/layering.rs`: the core touches no files and prints nothing, no
//! `unsafe`, no randomness without a seed.
//!
//! # From code
//!
//! ```
//! use tapescope::{io::weights, train::Recording};
//!
//! let copy = &weights::all_included().unwrap()[0];
//! let task = copy.experiment.task.clone().with_size(12);
//! let recording = Recording::new(&copy.machine, &task, 7, 0);
//! assert_eq!(recording.score.wrong, 0);
//! let write_head = &recording.trace.heads[1];
//! assert_eq!(write_head.weighting.view().dim(), (25, 128)); // steps, rows
//! ```

#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod figure;
pub mod io;
pub mod learn;
pub mod platform;
pub mod player;
pub mod pytorch;
#[cfg(feature = "gui")]
pub mod viewer;

#[doc(inline)]
pub use tapescope_core::{analysis, equations, keys, math, model, spelling, task, train};
