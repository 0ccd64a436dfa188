//! A room for each format.

use crate::format::ListedFormat;

/// Every format: a line each.
pub(crate) const LIST: &[ListedFormat] = &[];
