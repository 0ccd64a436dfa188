//! Texts of a vocabulary that are put together when the program is compiled.

/// A text of a bounded length.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    bytes: [u8; Words::MOST],
    length: usize,
}

impl Words {
    /// Most bytes; a longer text does not compile.
    const MOST: usize = 240;

    /// No text.
    pub const NONE: Words = Words {
        bytes: [0; Words::MOST],
        length: 0,
    };

    /// This text and another one.
    pub const fn and(mut self, text: &str) -> Words {
        let mut i = 0;
        while i < text.len() {
            self.bytes[self.length] = text.as_bytes()[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    /// What has been put together.
    pub const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => panic!("texts one after the other are a text"),
        }
    }
}

/// Whether two texts are the same.
pub const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_put_together_and_compared() {
        const WORDS: Words = Words::NONE.and("For ").and("").and("ring.");
        assert_eq!(WORDS.text(), "For ring.");
        assert!(same("ring", "ring") && same("", ""));
        assert!(!same("ring", "rings") && !same("rings", "ring") && !same("ring", "rung"));
    }
}
