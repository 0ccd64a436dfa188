//! The seal: each batch of rows has its SHA-256 in the file's metadata, and the rest of the file, these digests with it, has one of its own,
//! which is the seal. Both are verified before what they are of is used.

use sha2::{Digest, Sha256};

/// What stands for the seal while it is computed.
pub const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A digest that is made piece by piece.
#[derive(Clone, Default)]
pub struct Hash(Sha256);

impl Hash {
    /// Takes bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest in hexadecimal digits.
    pub fn digits(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
