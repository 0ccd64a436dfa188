//! What a message says of itself besides its bytes: who sends to whom, what it is for.

use crate::network::Network;
use crate::packet::{EnvelopeWords, Kind, Label, Packet};
use des::{Event, Time};
use work::mpi::spec::{Rendezvous, Wakes};
use work::ranks::Costs;

/// What a message between ranks is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// A whole message.
    Eager = 0,
    /// Asks the receiver for leave to send a message.
    Request = 1,
    /// Gives the sender leave.
    Clear = 2,
    /// The bytes of a message that was asked for.
    Data = 3,
    /// Tells the sender that they have come.
    Done = 4,
    /// A whole message without bytes, which travels as one.
    Empty = 5,
    /// The same of a message that was asked for: it has none, and travels as one byte.
    EmptyData = 6,
    /// Tells the receiver of a whole message that it fetches.
    Offer = 7,
}

/// An envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// What it is for.
    pub purpose: Purpose,
    /// Number of the message among those from its sender to its receiver, which wraps.
    pub sequence: u16,
    /// Tag.
    pub tag: u16,
    /// Context: which communicator of which phase, and whether it is a collective's.
    pub context: u16,
    /// The sending rank, by its number on its node.
    pub from: u8,
    /// The receiving rank, by its number on its node.
    pub to: u8,
    /// A part of a message that is cut up for all rails.
    pub part: bool,
}

impl Purpose {
    /// `true` for what a control message may answer.
    pub fn is_answered(self) -> bool {
        match self {
            Purpose::Request | Purpose::Offer | Purpose::Data | Purpose::EmptyData => true,
            Purpose::Eager | Purpose::Empty | Purpose::Clear | Purpose::Done => false,
        }
    }

    /// `true` for a whole message that nothing was asked about.
    pub fn is_whole(self) -> bool {
        matches!(self, Purpose::Eager | Purpose::Empty)
    }

    /// `true` for what only keeps a rendezvous going: it has no bytes of a rank.
    pub fn is_control(self) -> bool {
        match self {
            Purpose::Request | Purpose::Clear | Purpose::Done | Purpose::Offer => true,
            Purpose::Eager | Purpose::Data | Purpose::Empty | Purpose::EmptyData => false,
        }
    }
}

/// `true` for the envelope of a control message that passes data at its interface.
pub(crate) fn goes_first(net: &Network, envelope: EnvelopeWords) -> bool {
    let terms = &net.interface;
    terms.control_first
        && Envelope::from_words(envelope).is_some_and(|envelope| match terms.reads_only {
            true => envelope.purpose == Purpose::Clear,
            false => envelope.purpose.is_control(),
        })
}

/// Marks an envelope in words that are 0 otherwise.
const THERE: u64 = 1 << 63;
/// Marks a part.
const PART: u64 = 1 << 60;
impl Envelope {
    /// As a word that is not 0, and the rest of its context.
    pub fn words(self) -> EnvelopeWords {
        let word = THERE
            | u64::from(self.sequence)
            | u64::from(self.tag) << 16
            | u64::from(self.context as u8) << 32
            | u64::from(self.from) << 40
            | u64::from(self.to) << 48
            | (self.purpose as u64) << 56
            | if self.part { PART } else { 0 };
        EnvelopeWords {
            word,
            rest: (self.context >> 8) as u8,
        }
    }

    /// From these; `None` where there is no envelope.
    pub fn from_words(EnvelopeWords { word, rest }: EnvelopeWords) -> Option<Envelope> {
        (word & THERE != 0).then_some(Envelope {
            purpose: match word >> 56 & 7 {
                0 => Purpose::Eager,
                1 => Purpose::Request,
                2 => Purpose::Clear,
                3 => Purpose::Data,
                4 => Purpose::Done,
                6 => Purpose::EmptyData,
                7 => Purpose::Offer,
                _ => Purpose::Empty,
            },
            sequence: word as u16,
            tag: (word >> 16) as u16,
            context: (word >> 32) as u16 & 0xFF | u16::from(rest) << 8,
            from: (word >> 40) as u8,
            to: (word >> 48) as u8,
            part: word & PART != 0,
        })
    }
}

/// Channel number of an event that tells a rank that its bytes have left.
pub(crate) const SENT: u8 = 1;

/// What a rank hears when the bytes of a message to `destination` have left, if it waits for that.
#[inline(never)]
pub(crate) fn left(net: &Network, words: EnvelopeWords, destination: u32) -> Option<Packet> {
    let envelope = Envelope::from_words(words)?;
    if envelope.purpose.is_whole() {
        // What the receiver's job costs is not at hand.
        return None;
    }
    let (_, plan, _) = net.workload.ranks_of(destination)?;
    sent(envelope, destination, &plan.costs)
}

/// The event by which a rank hears that the bytes of a message to `node` have left, if it waits for that, or is woken by it.
pub(crate) fn sent(envelope: Envelope, node: u32, costs: &Costs) -> Option<Packet> {
    let tells = match envelope.purpose {
        Purpose::Data | Purpose::EmptyData => costs.rendezvous == Rendezvous::Put,
        Purpose::Done => costs.in_calls.is_some_and(|costs| costs.wakes == Wakes::Once),
        _ => false,
    };
    if !tells {
        return None;
    }
    let value = u64::from(envelope.from)
        | u64::from(envelope.to) << 8
        | u64::from(envelope.part) << 16
        | u64::from(envelope.sequence) << SENT_SEQUENCE;
    let event = Packet::new(Kind::Rank, Time(0), 0, 0).with_vc(SENT);
    Some(event.with_message(0, node, 0).with_value(value))
}

/// Where the value of such an event has the number of the message: where it carries into nothing that is folded.
const SENT_SEQUENCE: u32 = 46;

/// Number of the message whose bytes have left, and whether they are a part of it, of the value of the event that tells so.
pub(crate) fn left_message(value: u64) -> (u16, bool) {
    ((value >> SENT_SEQUENCE) as u16, value >> 16 & 1 != 0)
}

/// Such an event with another number of the message.
pub(crate) fn with_left(event: Packet, sequence: u16) -> Packet {
    let rest = event.value() & !(0xFFFF << SENT_SEQUENCE);
    event.with_value(rest | u64::from(sequence) << SENT_SEQUENCE)
}

/// In the channel number of a notice: it brings an envelope.
const ENVELOPE: u8 = 1;
/// In the channel number of a notice: it is the second, with the size; the first has the birth.
const SECOND: u8 = 2;
/// In the channel number of a notice: its message goes beside the network, and is there when that is said.
pub(crate) const BESIDE: u8 = 4;
/// In the channel number of a notice: so many bytes of its message are lost.
pub(crate) const LOST: u8 = 8;
/// In the channel number of a notice: there is no other. The last packet of its message tells the size.
const ALONE: u8 = 16;
/// Bits of the age (ps) that such a notice has beside an envelope: messages that are older than four microseconds when they set out have two notices.
const AGE: u32 = 22;
/// Where its value has the lower [`YOUNG`] of them, and the part of an envelope beside it the others.
const AGE_IN_VALUE: u32 = 44;
const YOUNG: u32 = 64 - AGE_IN_VALUE;
const AGE_IN_PART: u32 = 24;
const _: () = assert!(AGE - YOUNG <= 26 - AGE_IN_PART);
/// Where a notice has a birth.
const BIRTH: u32 = 7;
/// Bits of a size; those of ranks' messages leave the upper eight for the rest of a context.
const SIZE: u32 = 56;
const REST: u32 = 56;
const _: () = assert!(work::mpi::LARGEST + work::mpi::HEADER < 1 << (REST - (64 - SIZE)));

/// Purpose and part of an envelope's word, as notices have them.
fn about(word: u64) -> u64 {
    word >> 56 & 7 | u64::from(word & PART != 0) << 3
}

/// An envelope's word of them, and what else it has.
#[inline(always)]
fn word_of(about: u64, rest: u64) -> u64 {
    let part = if about & 8 != 0 { PART } else { 0 };
    THERE | (about & 7) << 56 | part | rest
}

/// The two notices of a message without what message it is: birth and size, each with 24 bits of an envelope beside it. A rank's
/// message has its envelope in what these leave.
pub(crate) fn notices(
    envelope: EnvelopeWords,
    birth: u64,
    bytes: u64,
    at: Time,
    lp: u32,
    local: u16,
) -> [(Packet, u32); 2] {
    let EnvelopeWords { word, rest } = envelope;
    let there = if word == 0 { 0 } else { ENVELOPE };
    let notice = |half, value| {
        Packet::new(Kind::Notice, at, lp, local)
            .with_vc(there | half)
            .with_value(value)
    };
    let about = about(word);
    let second = notice(
        SECOND,
        u64::from(rest) << REST | bytes << (64 - SIZE) | word >> 32 & 0xFF,
    );
    [
        (
            notice(0, birth << BIRTH | about),
            (word & 0xFFFF | (word >> 40 & 0xFF) << 16) as u32,
        ),
        (second, (word >> 16 & 0xFFFF | (word >> 48 & 0xFF) << 16) as u32),
    ]
}

/// The only notice of a message whose last packet tells its size, without what message it is; `None` where it has no envelope, or was born too long before
/// the notice is there (`age`, ps).
///
/// Its value is, from the highest bit: 20 bits of the age, purpose and part 4, context 8, tag 16, the receiving rank 8, the rest of the context 8. Beside it
/// are the age's upper 2, the sending rank and the number, which is nowhere that is [folded](Event::fold).
pub(crate) fn only_notice(envelope: EnvelopeWords, age: u64, at: Time, lp: u32, local: u16) -> Option<(Packet, u32)> {
    let EnvelopeWords { word, rest } = envelope;
    if age >> AGE != 0 || word == 0 {
        return None;
    }
    let ranks = word >> 40 & 0xFFFF;
    let value =
        age << AGE_IN_VALUE | about(word) << 40 | (word >> 16 & 0xFF_FFFF) << 16 | (ranks >> 8) << 8 | u64::from(rest);
    let piece = word & 0xFFFF | (ranks & 0xFF) << 16 | age >> YOUNG << AGE_IN_PART;
    let notice = Packet::new(Kind::Notice, at, lp, local)
        .with_vc(ENVELOPE | ALONE)
        .with_value(value);
    Some((notice, piece as u32))
}

/// What a notice of a message brings.
pub enum Notice {
    /// When it was handed to the interface (ps), and the first half of its envelope's word, if it has one.
    Birth(u64, u64),
    /// Its size, and the second half with the rest of its context.
    Size(u64, u64, u8),
    /// Its birth and its whole envelope: its last packet tells its size.
    Only(u64, EnvelopeWords),
    /// So many bytes of it are lost.
    Lost(u64),
}

/// The notice that so many bytes of a message to local node `local` of `lp` are lost, without what message it is.
pub(crate) fn lost(bytes: u32, at: Time, lp: u32, local: u16) -> Packet {
    Packet::new(Kind::Notice, at, lp, local)
        .with_vc(LOST)
        .with_value(bytes.into())
}

/// A notice of another message: of a first one with its birth and its number among those of its ranks.
pub(crate) fn notice_later(event: &Packet, label: Label, birth: Option<u64>, sequence: Option<u16>) -> Packet {
    let (value, piece) = (event.value(), event.part_of_envelope());
    let value = birth.map_or(value, |birth| value & ((1 << BIRTH) - 1) | birth << BIRTH);
    let piece = sequence.map_or(piece, |sequence| piece & !0xFFFF | u32::from(sequence));
    event.about(event.noticed_source(), label, piece).with_value(value)
}

/// Reads a notice.
#[inline(always)]
pub fn read(event: &Packet) -> Notice {
    let (vc, value) = (event.vc(), event.value());
    if vc & LOST != 0 {
        return Notice::Lost(value);
    }
    if vc & ALONE != 0 {
        return read_only(event);
    }
    let there = vc & ENVELOPE != 0;
    let piece = u64::from(event.part_of_envelope());
    let (low, rank) = (piece & 0xFFFF, piece >> 16);
    match vc & SECOND {
        0 => {
            let half = word_of(value, rank << 40 | low);
            Notice::Birth(value >> BIRTH, if there { half } else { 0 })
        }
        _ => {
            let half = THERE | rank << 48 | (value & 0xFF) << 32 | low << 16;
            match there {
                true => Notice::Size(value << 8 >> 8 >> (64 - SIZE), half, (value >> REST) as u8),
                false => Notice::Size(value >> (64 - SIZE), 0, 0),
            }
        }
    }
}

/// Reads the only notice of a message.
#[inline(always)]
fn read_only(event: &Packet) -> Notice {
    let (value, piece) = (event.value(), u64::from(event.part_of_envelope()));
    let age = value >> AGE_IN_VALUE | piece >> AGE_IN_PART << YOUNG;
    let ranks = piece >> 16 & 0xFF | (value >> 8 & 0xFF) << 8;
    let word = word_of(
        value >> 40,
        ranks << 40 | (value >> 16 & 0xFF_FFFF) << 16 | piece & 0xFFFF,
    );
    let envelope = EnvelopeWords {
        word,
        rest: value as u8,
    };
    Notice::Only(event.time().0 - age, envelope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_comes_out_of_its_notices_as_it_went_in() {
        let purposes = [
            Purpose::Eager,
            Purpose::Request,
            Purpose::Clear,
            Purpose::Data,
            Purpose::Done,
            Purpose::Empty,
            Purpose::EmptyData,
            Purpose::Offer,
        ];
        for (i, purpose) in (0u16..).zip(purposes) {
            let envelope = Envelope {
                purpose,
                sequence: 0xFFFF - i,
                tag: 0x8001 + i,
                context: 0xA281 + i,
                from: 0xFE,
                to: 0x7F,
                part: i % 2 == 1,
            };
            assert_eq!(Envelope::from_words(envelope.words()), Some(envelope));
            let (birth, bytes) = ((1 << 57) - 3, (1 << 48) - 1);
            let mut words = EnvelopeWords::default();
            for (notice, piece) in notices(envelope.words(), birth, bytes, Time(5), 7, 2) {
                let notice = notice.about(3, Label::MAX - 5, piece);
                assert_eq!(
                    (notice.kind(), notice.time(), notice.lp(), notice.port()),
                    (Kind::Notice, Time(5), 7, 2)
                );
                assert_eq!((notice.noticed_source(), notice.noticed()), (3, Label::MAX - 5));
                words.word |= match read(&notice) {
                    Notice::Birth(time, half) => {
                        assert_eq!(time, birth);
                        half
                    }
                    Notice::Size(size, half, rest) => {
                        assert_eq!(size, bytes);
                        words.rest = rest;
                        half
                    }
                    Notice::Only(..) | Notice::Lost(_) => panic!("one of two"),
                };
            }
            assert_eq!(Envelope::from_words(words), Some(envelope));
            for age in [0, 1, (1 << 20) - 1, 1 << 20, (1 << 22) - 1] {
                let at = Time((1 << 57) - 2);
                let (notice, piece) = only_notice(envelope.words(), age, at, 7, 2).unwrap();
                let notice = notice.about(3, Label::MAX - 5, piece);
                assert_eq!((notice.noticed_source(), notice.noticed()), (3, Label::MAX - 5));
                assert_eq!((notice.time(), notice.lp(), notice.port()), (at, 7, 2));
                let Notice::Only(birth, words) = read(&notice) else {
                    panic!("the only one")
                };
                assert_eq!((birth, Envelope::from_words(words)), (at.0 - age, Some(envelope)));
                assert_eq!(words.word, envelope.words().word);
                let later = notice_later(&notice, Label::MAX - 7, None, Some(9)).at(Time(at.0 + 1), 7, 2);
                let Notice::Only(birth, words) = read(&later) else {
                    panic!("the only one")
                };
                let expected = Envelope {
                    sequence: 9,
                    ..envelope
                };
                assert_eq!((birth, Envelope::from_words(words)), (at.0 + 1 - age, Some(expected)));
            }
            assert!(only_notice(envelope.words(), 1 << 22, Time(1 << 50), 7, 2).is_none());
        }
        assert_eq!(Envelope::from_words(EnvelopeWords::default()), None);
    }
}
