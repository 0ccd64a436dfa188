//! Checked values as plain data, for runs that hold keys by name: their canonical texts have them.

use crate::Type;
use crate::reader::Checked;
use serde::{Deserialize, Serialize};

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlainValue {
    /// A whole number; times are in ps, sizes in bytes.
    Integer(u64),
    /// A number.
    Number(f64),
    /// Whole numbers, or sizes in bytes.
    List(Vec<u64>),
    /// A word.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// Words.
    Texts(Vec<String>),
}

impl PlainValue {
    /// A checked value as plain data; `None` for types that no run holds by name.
    pub fn of(checked: &Checked) -> Option<PlainValue> {
        match checked {
            Checked::Integer(number) | Checked::Quantity(number) => Some(PlainValue::Integer(*number)),
            Checked::Number(number) => Some(PlainValue::Number(*number)),
            Checked::Integers(list) => Some(PlainValue::List(list.clone())),
            Checked::Text(text) => Some(PlainValue::Text(text.clone())),
            Checked::Flag(flag) => Some(PlainValue::Flag(*flag)),
            Checked::Texts(texts) => Some(PlainValue::Texts(texts.clone())),
            Checked::Pairs(_) | Checked::Keyed(_) | Checked::Word(_) | Checked::Rows(_) | Checked::Tables(_) => None,
        }
    }

    /// What it was made of, for a key of this type; `None` if it was for none.
    pub fn checked(&self, kind: &Type) -> Option<Checked> {
        Some(match (kind, self) {
            (Type::Integer { .. }, PlainValue::Integer(number)) => Checked::Integer(*number),
            (Type::Quantity { .. }, PlainValue::Integer(number)) => Checked::Quantity(*number),
            (Type::Number { .. }, PlainValue::Number(number)) => Checked::Number(*number),
            (Type::Integers { .. } | Type::Sizes { .. }, PlainValue::List(list)) => Checked::Integers(list.clone()),
            (Type::Choice(words), PlainValue::Text(text)) if words.iter().any(|(word, _)| word == text) => {
                Checked::Text(text.clone())
            }
            (Type::Text | Type::Lines, PlainValue::Text(text)) => Checked::Text(text.clone()),
            (Type::Flag, PlainValue::Flag(flag)) => Checked::Flag(*flag),
            (Type::Texts | Type::Arguments, PlainValue::Texts(texts)) => Checked::Texts(texts.clone()),
            _ => return None,
        })
    }
}
