//! Messages about lines as the envelope word that notices carry, and in events of the own node.
//!
//! | bits, from the lowest | |
//! |---|---|
//! | [`Shape::line_bits`] | the line's number among those of its home |
//! | [`Shape::node_bits`] | a node: that of [`CoherenceMessage::third`], or the home where neither end is; or the acknowledgements to wait for |
//! | up to 54 | of a message with a line how often it has been written, where values are checked; else 0 |
//! | 55 to 58, 60 | what it says |
//! | 63 | set |

use super::message::{ALL, CoherenceMessage, MessageClass, Say};
use super::shape::Shape;

/// Bits for line, node and version.
const ABOUT: u32 = 55;

/// Bits that [`CoherenceMessage::version`] may have.
pub fn version_bits(shape: &Shape) -> u32 {
    (ABOUT - shape.line_bits() - shape.node_bits()).min(u32::BITS)
}

/// [`Say::Owned`] from an owner, who names the home and has nothing to wait for.
const OWNED_BY_OWNER: u64 = ALL.len() as u64;

/// A message as a word that is not 0.
pub fn word(shape: &Shape, message: &CoherenceMessage) -> u64 {
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
    let line = shape.line_bits();
    let mut word = 1 << 63 | shape.index(message.line) | u64::from(about) << line | (say & 15) << ABOUT;
    if shape.values && message.say.has_line() {
        word |= u64::from(message.version) << (line + shape.node_bits());
    }
    word | (say >> 4) << 60
}

/// The message of a word between two nodes; `None` if there is none such.
pub fn message(shape: &Shape, word: u64, from: u32, to: u32) -> Option<CoherenceMessage> {
    let number = word >> ABOUT & 15 | word >> 60 << 4 & 16;
    let (line_bits, node_bits) = (shape.line_bits(), shape.node_bits());
    let low = |bits: u32| (1 << bits) - 1;
    let about = (word >> line_bits & low(node_bits)) as u32;
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
    let index = word & low(line_bits);
    let version = match shape.values && say.has_line() {
        true => ((word & low(ABOUT)) >> (line_bits + node_bits)) as u32,
        false => 0,
    };
    let third = if say.class() == MessageClass::Forward { about } else { 0 };
    let there = word >> 63 != 0 && home.max(third) < shape.nodes && index < shape.lines;
    there.then_some(CoherenceMessage {
        say,
        line: shape.line(home, index),
        from,
        to,
        third,
        acknowledgements: if waits { about } else { 0 },
        version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::shape::{AddressMap, CacheShape};
    use crate::memory::spec::NodeArrangement;

    fn shape(nodes: u32, lines: u64, map: AddressMap) -> Shape {
        let cache = CacheShape { sets: 1, ways: 1 };
        Shape {
            nodes,
            cores: 1,
            outstanding: 1,
            l1: cache,
            l2: cache,
            misses: 1,
            told: true,
            lines,
            map,
            bucket_bits: 0,
            directory: cache,
            banks: 1,
            interfaces: 1,
            arrangement: NodeArrangement::default(),
            values: version_bits_of(nodes, lines) > 0,
        }
    }

    /// All of the bits that numbers do not take.
    fn version_bits_of(nodes: u32, lines: u64) -> u32 {
        55 - nodes.next_power_of_two().ilog2() - lines.next_power_of_two().ilog2()
    }

    #[test]
    fn a_message_comes_out_of_its_word_as_it_went_in() {
        for (nodes, lines) in [(1 << 24, 1 << 31), (1000, 3000), (2, 1), (5, 1 << 20)] {
            for map in [AddressMap::Blocks, AddressMap::Interleaved] {
                let shape = shape(nodes, lines, map);
                assert_eq!(version_bits(&shape), version_bits_of(nodes, lines).min(32));
                every_message(&shape);
            }
        }
    }

    fn every_message(shape: &Shape) {
        let third = shape.nodes - 1;
        let (home, other) = (third * 2 / 3, third / 3);
        let line = shape.line(home, shape.lines - 1);
        let there = |sent: &CoherenceMessage| message(shape, word(shape, sent), sent.from, sent.to);
        for say in ALL {
            let (from, to) = match say.is_for_home() {
                true => (other, home),
                false => (home, other),
            };
            let counts = matches!(say, Say::Owned | Say::Leave);
            let version = (1_u64 << version_bits(shape)) - 1;
            let sent = CoherenceMessage {
                say,
                line,
                from,
                to,
                third: if say.class() == MessageClass::Forward { third } else { 0 },
                acknowledgements: if counts { third } else { 0 },
                version: if say.has_line() { version as u32 } else { 0 },
            };
            assert_eq!(there(&sent), Some(sent));
            // From a node that is not the home, and has nothing to wait for.
            let sent = CoherenceMessage {
                from: third,
                acknowledgements: 0,
                ..sent
            };
            if third != home && matches!(say, Say::Shared | Say::Owned | Say::Acknowledge) {
                assert_eq!(there(&sent), Some(sent));
            }
        }
    }
}
