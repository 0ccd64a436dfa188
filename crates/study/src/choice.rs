//! Words of which a study chooses one: an enum whose variants carry word and line, so that vocabulary, reader and canonical text have them
//! from one list. A word more that nothing tells apart does not compile.

use crate::Choice;

/// A value that a study names by one of a few words.
pub trait Named: Copy + 'static {
    /// Each word with what it means, for the vocabulary.
    const WORDS: &'static [Choice];
    /// The values of [`WORDS`](Self::WORDS), in the same order.
    const ALL: &'static [Self];

    /// The value of a word.
    fn named(word: &str) -> Option<Self> {
        let place = Self::WORDS.iter().position(|(own, _)| *own == word)?;
        Self::ALL.get(place).copied()
    }
}

/// Declares an enum that is [`Named`]: variants with word and line, and attributes of their own before them. Canonical texts have the words.
#[macro_export]
macro_rules! choice {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$own:meta])* $variant:ident = $word:literal, $line:literal;)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $(
                #[doc = $line]
                #[serde(rename = $word)]
                $(#[$own])*
                $variant,
            )+
        }

        impl $crate::Named for $name {
            const WORDS: &'static [$crate::Choice] = &[$(($word, $line)),+];
            const ALL: &'static [Self] = &[$($name::$variant),+];
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// For the test.
        enum Colour {
            Red = "red", "Like blood.";
            DarkBlue = "dark-blue", "Like the sea.";
        }
    }

    #[test]
    fn a_word_is_its_value_in_studies_and_in_canonical_texts() {
        assert_eq!(Colour::named("dark-blue"), Some(Colour::DarkBlue));
        assert_eq!(Colour::named("red"), Some(Colour::Red));
        assert_eq!(Colour::named("DarkBlue"), None);
        assert_eq!(serde_json::to_string(&Colour::DarkBlue).unwrap(), "\"dark-blue\"");
        assert_eq!(Colour::WORDS[1], ("dark-blue", "Like the sea."));
    }
}
