//! Messages about lines as the envelope word that notices carry, and in events of the own node.
//!
//! | bits, from the lowest | |
//! |---|---|
//! | 0 to 30 | the line's number among those of its home |
//! | 31 to 54 | a node: that of [`Message::third`], or the home where neither end is; or the acknowledgements to wait for |
//! | 55 to 58, 60 | what it says |
//! | 63 | set |
//!
//! Versions do not travel: they are for tests of the protocol alone.

use super::message::{ALL, Class, Message, Say};
use super::shape::Shape;

/// [`Say::Owned`] from an owner, who names the home and has nothing to wait for.
const OWNED_BY_OWNER: u64 = ALL.len() as u64;

/// A message as a word that is not 0.
pub fn word(shape: &Shape, message: &Message) -> u64 {
    let home = shape.home(message.line);
    let mut say = message.say as u64;
    let about = match message.say {
        Say::Owned if message.from != home => {
            say = OWNED_BY_OWNER;
            home
        }
        Say::Owned | Say::Leave => message.acknowledgements,
        Say::Shared | Say::Acknowledge => home,
        _ => message.third,
    };
    1 << 63 | shape.index(message.line) | u64::from(about) << 31 | (say & 15) << 55 | (say >> 4) << 60
}

/// The message of a word between two nodes; `None` if there is none such.
pub fn message(shape: &Shape, word: u64, from: u32, to: u32) -> Option<Message> {
    let number = word >> 55 & 15 | word >> 60 << 4 & 16;
    let about = (word >> 31) as u32 & 0xFF_FFFF;
    let by_owner = number == OWNED_BY_OWNER;
    let say = match by_owner {
        true => Say::Owned,
        false => *ALL.get(number as usize)?,
    };
    let waits = matches!(say, Say::Owned | Say::Leave) && !by_owner;
    let home = match say {
        Say::Shared | Say::Acknowledge => about,
        Say::Owned if by_owner => about,
        _ if say.is_for_home() => to,
        _ => from,
    };
    let index = word & ((1 << 31) - 1);
    let third = if say.class() == Class::Forward { about } else { 0 };
    let there = word >> 63 != 0 && home.max(third) < shape.nodes && index < shape.lines;
    there.then_some(Message {
        say,
        line: shape.line(home, index),
        from,
        to,
        third,
        acknowledgements: if waits { about } else { 0 },
        version: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::shape::{AddressMap, CacheShape};

    #[test]
    fn a_message_comes_out_of_its_word_as_it_went_in() {
        let cache = CacheShape { sets: 1, ways: 1 };
        for map in [AddressMap::Blocks, AddressMap::Interleaved] {
            let shape = Shape {
                nodes: 1 << 24,
                cores: 1,
                outstanding: 1,
                l1: cache,
                l2: cache,
                misses: 1,
                told: true,
                lines: 1 << 31,
                map,
                bucket_bits: 0,
                directory: cache,
                banks: 1,
                interfaces: 1,
            };
            let (home, other, third) = (0xAB_CDEF, 0x12_3456, 0xFF_FFFF);
            let line = shape.line(home, (1 << 31) - 2);
            let there = |sent: &Message| message(&shape, word(&shape, sent), sent.from, sent.to);
            for say in ALL {
                let (from, to) = match say.is_for_home() {
                    true => (other, home),
                    false => (home, other),
                };
                let counts = matches!(say, Say::Owned | Say::Leave);
                let sent = Message {
                    say,
                    line,
                    from,
                    to,
                    third: if say.class() == Class::Forward { third } else { 0 },
                    acknowledgements: if counts { third } else { 0 },
                    version: 0,
                };
                assert_eq!(there(&sent), Some(sent));
                // From a node that is not the home, and has nothing to wait for.
                let sent = Message {
                    from: third,
                    acknowledgements: 0,
                    ..sent
                };
                if matches!(say, Say::Shared | Say::Owned | Say::Acknowledge) {
                    assert_eq!(there(&sent), Some(sent));
                }
            }
        }
    }
}
