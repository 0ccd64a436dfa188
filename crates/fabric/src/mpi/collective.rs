//! stub
use super::op::{Action, CollectiveKind};
/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Algorithm {
    /// x
    Ring,
}
impl Algorithm {
    /// d
    pub fn choose(_k: CollectiveKind, _n: u32, _b: u64) -> Algorithm {
        Algorithm::Ring
    }
}
/// c
#[allow(missing_docs)]
pub struct Call<'a> {
    pub kind: CollectiveKind,
    pub algorithm: Algorithm,
    pub size: u32,
    pub me: u32,
    pub root: u32,
    pub bytes: u64,
    pub pair_bytes: &'a dyn Fn(u32, u32) -> u64,
}
impl Call<'_> {
    /// a
    pub fn action(&self, _k: u32) -> Action {
        Action::Done
    }
}
