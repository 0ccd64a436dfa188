//! The events of a location, record by record: numbers as the archive has them, times as its clock has them.

use super::chunks::ChunkReader;
use super::fields::{FieldFault, FieldReader};
use super::local::LocalDefinitions;
use crate::operation::UNKNOWN_SIZE;
use crate::problem::Problem;

/// The other end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerMessage {
    /// Its rank in the communicator.
    pub peer: u32,
    /// The communicator.
    pub communicator: u32,
    /// The tag.
    pub tag: u32,
    /// Its bytes.
    pub bytes: u64,
}

/// A collective, as it is recorded at one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveRecord {
    /// Which one.
    pub op: u8,
    /// Its communicator.
    pub communicator: u32,
    /// Its root, a rank in the communicator.
    pub root: u32,
    /// Bytes that the rank sends, over all.
    pub sent: u64,
    /// Bytes that it receives, over all.
    pub received: u64,
}

/// A record of a kind that is known. Whatever is none of these is [`EventRecord::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are those of OTF2, fields are regions, requests, messages and the like"
)]
pub enum EventRecord {
    /// Events were written out until `stop`.
    BufferFlush {
        stop: u64,
    },
    /// Recording begins (1) or ends (2).
    MeasurementOnOff {
        mode: u8,
    },
    Enter {
        region: u32,
    },
    Leave {
        region: u32,
    },
    MpiSend(PeerMessage),
    MpiIsend(PeerMessage, u64),
    MpiIsendComplete {
        request: u64,
    },
    /// A receive is posted.
    MpiIrecvRequest {
        request: u64,
    },
    MpiRecv(PeerMessage),
    /// A receive is complete.
    MpiIrecv(PeerMessage, u64),
    /// A request was looked at, and is not complete.
    MpiRequestTest {
        request: u64,
    },
    MpiRequestCancelled {
        request: u64,
    },
    MpiCollectiveBegin,
    MpiCollectiveEnd(CollectiveRecord),
    RmaPut {
        window: u32,
        remote: u32,
        bytes: u64,
        matching: u64,
    },
    RmaGet {
        window: u32,
        remote: u32,
        bytes: u64,
        matching: u64,
    },
    NonBlockingCollectiveRequest {
        request: u64,
    },
    NonBlockingCollectiveComplete(CollectiveRecord, u64),
    CommCreate {
        communicator: u32,
    },
    CommDestroy {
        communicator: u32,
    },
    /// A message is there, of a size that is not told, and has a name.
    MpiProbe(PeerMessage, u64),
    /// A named message is received.
    MpiMrecv {
        message: u64,
        bytes: u64,
    },
    /// Receiving a named message is begun.
    MpiImrecvRequest {
        message: u64,
        request: u64,
    },
    MpiImrecv {
        request: u64,
        bytes: u64,
    },
    /// Of another kind, skipped.
    Other,
}

/// A record with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    /// Its number in the location, from 0.
    pub number: u64,
    /// Its kind in the file.
    pub id: u8,
    /// When it happened (ticks of the archive's clock).
    pub time: u64,
    /// What happened.
    pub record: EventRecord,
}

/// Sets the time of what follows.
const TIME: u8 = 5;
/// A list of attributes of the next record.
const ATTRIBUTES: u8 = 6;

/// Reads the events of a location.
pub struct EventReader {
    file: ChunkReader,
    local: LocalDefinitions,
    time: u64,
    number: u64,
}

impl EventReader {
    /// Reads events from a file, with what their location defines for itself.
    pub fn new(file: ChunkReader, local: LocalDefinitions) -> EventReader {
        EventReader {
            file,
            local,
            time: 0,
            number: 0,
        }
    }

    /// The file, as messages name it.
    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// Bytes that have been read.
    pub fn read(&self) -> u64 {
        self.file.read()
    }

    /// The next event, `None` after the last one.
    ///
    /// # Errors
    /// A file that is damaged or cut.
    #[inline]
    pub fn event(&mut self) -> Result<Option<TimedEvent>, Problem> {
        let EventReader {
            file,
            local,
            time,
            number,
        } = self;
        let told = file.record(|mut id, fields| {
            loop {
                match id {
                    TIME => *time = local.clock.correct(fields.u64_whole()?),
                    ATTRIBUTES => {
                        fields.record()?;
                    }
                    0..10 => return Err(FieldFault("a record is of a kind that events do not have")),
                    _ => break,
                }
                // A time is never the last record of a chunk.
                id = fields.u8()?;
            }
            let record = body(id, fields, local)?;
            Ok(TimedEvent {
                number: *number,
                id,
                time: *time,
                record,
            })
        });
        let told = told.map_err(|problem| problem.at(*number))?;
        *number += u64::from(told.is_some());
        Ok(told)
    }
}

/// The body of a record of a kind: a number for few of them, fields that tell their length for all others.
#[inline]
fn body(id: u8, fields: &mut FieldReader<'_>, local: &mut LocalDefinitions) -> Result<EventRecord, FieldFault> {
    use EventRecord as E;
    Ok(match id {
        12 => E::Enter {
            region: local.regions.of(fields.u32()?),
        },
        13 => E::Leave {
            region: local.regions.of(fields.u32()?),
        },
        16 => E::MpiIsendComplete { request: fields.u64()? },
        17 => E::MpiIrecvRequest { request: fields.u64()? },
        20 => E::MpiRequestTest { request: fields.u64()? },
        21 => E::MpiRequestCancelled { request: fields.u64()? },
        22 => {
            fields.u64()?;
            E::MpiCollectiveBegin
        }
        24 | 25 | 28 | 29 | 30 | 37 => {
            fields.u64()?;
            E::Other
        }
        _ => long_body(id, &mut fields.record()?, local)?,
    })
}

#[inline]
fn long_body(id: u8, fields: &mut FieldReader<'_>, local: &mut LocalDefinitions) -> Result<EventRecord, FieldFault> {
    use EventRecord as E;
    Ok(match id {
        10 => E::BufferFlush {
            stop: local.clock.correct(fields.u64_whole()?),
        },
        11 => E::MeasurementOnOff { mode: fields.u8()? },
        14 => E::MpiSend(message(fields, local)?),
        15 => E::MpiIsend(message(fields, local)?, fields.u64()?),
        18 => E::MpiRecv(message(fields, local)?),
        19 => E::MpiIrecv(message(fields, local)?, fields.u64()?),
        23 => E::MpiCollectiveEnd(collective(fields, local)?),
        46 | 47 => {
            let window = local.windows.of(fields.u32()?);
            let (remote, bytes, matching) = (fields.u32()?, fields.u64()?, fields.u64()?);
            match id {
                46 => E::RmaPut {
                    window,
                    remote,
                    bytes,
                    matching,
                },
                _ => E::RmaGet {
                    window,
                    remote,
                    bytes,
                    matching,
                },
            }
        }
        85 => E::NonBlockingCollectiveRequest { request: fields.u64()? },
        86 => E::NonBlockingCollectiveComplete(collective(fields, local)?, fields.u64()?),
        87 => E::CommCreate {
            communicator: local.communicators.of(fields.u32()?),
        },
        88 => E::CommDestroy {
            communicator: local.communicators.of(fields.u32()?),
        },
        89 => {
            let message = PeerMessage {
                peer: fields.u32()?,
                communicator: local.communicators.of(fields.u32()?),
                tag: fields.u32()?,
                bytes: UNKNOWN_SIZE,
            };
            E::MpiProbe(message, fields.u64()?)
        }
        90 => E::MpiMrecv {
            message: fields.u64()?,
            bytes: fields.u64()?,
        },
        91 => E::MpiImrecvRequest {
            message: fields.u64()?,
            request: fields.u64()?,
        },
        92 => E::MpiImrecv {
            request: fields.u64()?,
            bytes: fields.u64()?,
        },
        _ => E::Other,
    })
}

#[inline]
fn message(fields: &mut FieldReader<'_>, local: &LocalDefinitions) -> Result<PeerMessage, FieldFault> {
    Ok(PeerMessage {
        peer: fields.u32()?,
        communicator: local.communicators.of(fields.u32()?),
        tag: fields.u32()?,
        bytes: fields.u64()?,
    })
}

fn collective(fields: &mut FieldReader<'_>, local: &LocalDefinitions) -> Result<CollectiveRecord, FieldFault> {
    Ok(CollectiveRecord {
        op: fields.u8()?,
        communicator: local.communicators.of(fields.u32()?),
        root: fields.u32()?,
        sent: fields.u64()?,
        received: fields.u64()?,
    })
}
