//! Names of calls as they lie in the shared memory, so that a simulator can tell where a process was that has gone.

/// Words of a name.
pub const NAME_WORDS: usize = 4;

/// The name of a call of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallName {
    /// As the program has it.
    pub text: &'static str,
    /// The same, eight characters each.
    pub words: [u64; NAME_WORDS],
}

impl CallName {
    /// A call's name; of long ones the mailbox has the beginning.
    pub const fn of(text: &'static str) -> CallName {
        let (bytes, mut words, mut place) = (text.as_bytes(), [0; NAME_WORDS], 0);
        while place < bytes.len() && place < 8 * NAME_WORDS {
            words[place / 8] |= (bytes[place] as u64) << (place % 8 * 8);
            place += 1;
        }
        CallName { text, words }
    }

    /// The text of a name in a mailbox.
    pub(crate) fn text(words: [u64; NAME_WORDS]) -> String {
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_up_to_the_room_that_there_is() {
        for (text, back) in [
            ("MPI_Send", "MPI_Send"),
            ("", ""),
            (
                "MPI_Ineighbor_alltoallv_and_more_than_fits",
                "MPI_Ineighbor_alltoallv_and_more",
            ),
        ] {
            assert_eq!(CallName::text(CallName::of(text).words), back);
        }
    }
}
