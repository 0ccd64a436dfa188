//! Quantities with a type of their own.

use serde::{Deserialize, Serialize};

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A bandwidth in bits per second (a byte is 8 bits; 25 GB/s is 200e9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BitsPerSec(pub u64);
