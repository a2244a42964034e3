//! The Neural Turing Machine, a file per section of the paper, and the parts it shares with other machines.

pub mod addressing;
pub mod agreement;
mod annotations;
pub mod array;
pub mod attention;
mod attention_over_attention;
mod bahdanau;
mod caption;
mod coattention;
pub mod config;
pub mod content;
pub mod controller;
mod dependency;
mod derivatives;
pub mod dnc;
mod encoder;
mod encoder_decoder;
mod feedback;
pub mod fertility;
mod fixed_context;
mod given;
mod golden;
mod gradients;
pub mod head;
mod intervention;
mod kind;
mod lstmn;
mod lstmn_decoder;
mod luong;
mod machine;
mod maxout;
pub mod memory;
mod memory_machine;
mod multi_head;
mod mutual;
mod noise;
mod ntm;
mod overridden;
mod params;
mod plain;
mod reader;
mod readout;
mod recompute;
mod registry;
#[cfg(any(test, all(feature = "sparse-memory", not(feature = "test-machine"))))]
pub mod sam;
pub mod score;
mod self_attention;
mod shape;
mod slots;
mod source;
#[cfg_attr(
    not(any(test, all(feature = "sparse-memory", not(feature = "test-machine")))),
    allow(dead_code, reason = "only sparse access memory uses it")
)]
mod sparse;
mod spec;
pub mod stage;
mod structured;
mod trace;
pub mod weighting;
mod window;
mod wrap_around;

pub use annotations::AnnotationsConfig;
pub use attention_over_attention::AttentionOverAttentionConfig;
pub use bahdanau::BahdanauConfig;
pub use caption::CaptionConfig;
pub use coattention::CoattentionConfig;
pub use config::NtmConfig;
pub use dependency::{Conventions, Dependency, Scoring, Size, Turns, UnknownConvention};
pub use dnc::DncConfig;
pub use encoder::{Direction, EncoderCell, EncoderConfig};
pub use encoder_decoder::{Decoder, EncoderDecoder};
pub use fixed_context::FixedContextConfig;
pub use given::{Given, Setting};
pub use intervention::{Change, Intervention, apply_all};
pub use kind::{Kind, Sizes};
pub use lstmn::LstmnConfig;
pub use lstmn_decoder::{Fusion, LstmnDecoderConfig};
pub use luong::LuongConfig;
pub use machine::{Batch, Machine, TOGETHER, Terms, Upstream, Workspace};
pub use multi_head::{MultiHeadConfig, Positions, ROW_KEY, ROW_VALUE};
pub use noise::{Draw, Noise};
pub use params::Params;
pub use plain::PlainConfig;
pub use registry::{Model, ModelConfig, Number};
#[cfg(any(test, all(feature = "sparse-memory", not(feature = "test-machine"))))]
pub use sam::SamConfig;
pub use self_attention::SelfAttentionConfig;
pub use shape::{LinearSpec, Shape, Start, TensorSpec};
pub use slots::Slots;
#[cfg(any(test, all(feature = "sparse-memory", not(feature = "test-machine"))))]
pub use sparse::{Bytes, Initial, Plan, Search};
pub use spec::{Array, ArraySpec, Place, Range, head_name};
pub use structured::StructuredConfig;
pub use trace::{HeadTrace, Keep, LayerTrace, NoiseMode, Trace};
pub use wrap_around::{WrapAround, WriteLedger, peak};
