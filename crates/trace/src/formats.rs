//! A room for each format.

pub mod goal;

use crate::format::ListedFormat;

/// Every format: a line each.
pub(crate) const LIST: &[ListedFormat] = &[
    ListedFormat::of::<goal::GoalText>(),
    ListedFormat::of::<goal::GoalBinary>(),
];
