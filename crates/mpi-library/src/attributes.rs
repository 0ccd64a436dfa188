//! What programs hang on communicators and datatypes under keys of their own.

use std::collections::BTreeMap;

/// Values by the number of their key, in the order in which keys were made.
pub type AttributeTable = BTreeMap<u32, usize>;

/// What a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOf {
    /// Communicators.
    Communicator,
    /// Datatypes.
    Datatype,
    /// Windows: a key can be made and freed, there is nothing to hang a value on.
    Window,
}

/// A key: its functions as the addresses that the program gave.
#[derive(Clone, Copy, Debug)]
pub struct AttributeKey {
    /// What it belongs to.
    pub of: KeyOf,
    /// Called when what holds the value is duplicated: 0 copies nothing, 1 the value itself.
    pub copy: usize,
    /// Called when a value goes: 0 for nothing.
    pub delete: usize,
    /// Handed to both.
    pub state: usize,
    /// Whether the program has freed it: values that hang somewhere stay until what holds them goes.
    pub freed: bool,
}
