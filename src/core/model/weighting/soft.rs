//! A softmax over all rows, and the stages of the paper (Graves 2014, equation 5): nothing of its own.

use super::{Stages, WeightingFunction};
use crate::math::Real;
use crate::model::slots::Arrays;

pub(super) struct Soft;

impl Arrays for Soft {}

impl Stages for Soft {}

impl<R: Real> WeightingFunction<R> for Soft {}
