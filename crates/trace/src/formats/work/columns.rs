//! The columns: their names and types, and what an empty cell means.

use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Mode, NONE, Operation, UNKNOWN_SIZE};

/// How a column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Numbers of so many bytes without a sign.
    Number(usize),
    /// Words, by their numbers in a list of words.
    Words,
    /// Lists of numbers of so many bytes without a sign.
    Lists(usize),
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum WorkColumn {
    /// The rank; rows of a rank are in its order.
    Rank,
    /// Name of the kind.
    Kind,
    /// See [`Operation::peer`].
    Peer,
    /// See [`Operation::source`].
    Source,
    /// See [`Operation::tag`].
    Tag,
    /// See [`Operation::source_tag`].
    SourceTag,
    /// See [`Operation::communicator`].
    Communicator,
    /// See [`Operation::request`].
    Request,
    /// See [`Operation::bytes`].
    Bytes,
    /// See [`Operation::received`].
    Received,
    /// See [`Operation::time`].
    Time,
    /// See [`Operation::start`].
    Start,
    /// See [`Operation::region`].
    Region,
    /// See [`Operation::lane`].
    Lane,
    /// See [`Operation::nic`].
    Nic,
    /// Name of the mode.
    Mode,
    /// Its record in the file that it was recorded in.
    Record,
    /// See [`Lists::after`](crate::Lists::after).
    After,
    /// See [`Lists::after_start`](crate::Lists::after_start).
    AfterStart,
    /// See [`Lists::values`](crate::Lists::values).
    Values,
}

/// All columns in the order of files: name, how it is stored, and whether cells may be empty.
pub const COLUMNS: [(WorkColumn, &str, Storage, bool); 20] = {
    use Storage::{Lists, Number, Words};
    [
        (WorkColumn::Rank, "rank", Number(4), false),
        (WorkColumn::Kind, "kind", Words, false),
        (WorkColumn::Peer, "peer", Number(4), true),
        (WorkColumn::Source, "source", Number(4), true),
        (WorkColumn::Tag, "tag", Number(4), true),
        (WorkColumn::SourceTag, "source_tag", Number(4), true),
        (WorkColumn::Communicator, "communicator", Number(4), true),
        (WorkColumn::Request, "request", Number(4), true),
        (WorkColumn::Bytes, "bytes", Number(8), true),
        (WorkColumn::Received, "received", Number(8), true),
        (WorkColumn::Time, "time", Number(8), true),
        (WorkColumn::Start, "start", Number(8), true),
        (WorkColumn::Region, "region", Number(4), true),
        (WorkColumn::Lane, "lane", Number(1), true),
        (WorkColumn::Nic, "nic", Number(1), true),
        (WorkColumn::Mode, "mode", Words, true),
        (WorkColumn::Record, "record", Number(8), true),
        (WorkColumn::After, "after", Lists(4), true),
        (WorkColumn::AfterStart, "after_start", Lists(4), true),
        (WorkColumn::Values, "values", Lists(8), true),
    ]
};

/// The names of modes in the order of their numbers.
pub const MODES: [(Mode, &str); 4] = [
    (Mode::Standard, "standard"),
    (Mode::Synchronous, "synchronous"),
    (Mode::Buffered, "buffered"),
    (Mode::Ready, "ready"),
];

/// The words of a column that has some.
pub fn words(column: WorkColumn) -> Vec<&'static str> {
    match column {
        WorkColumn::Kind => Kind::ALL.iter().map(|kind| kind.name()).collect(),
        WorkColumn::Mode => MODES.iter().map(|(_, name)| *name).collect(),
        _ => Vec::new(),
    }
}

/// Whether an operation has a size, which may be unknown.
fn has_size(kind: Kind) -> bool {
    let meets_only = matches!(kind, Kind::Barrier | Kind::CommCreate | Kind::CommFree);
    kind.sends()
        || kind.receives()
        || matches!(kind, Kind::Probe | Kind::Put | Kind::Get)
        || (kind.is_collective() && !meets_only)
}

/// What an empty cell means.
pub fn empty(column: WorkColumn, kind: Kind) -> u64 {
    let takes = matches!(kind, Kind::Recv | Kind::Irecv | Kind::Probe);
    let exchanges = kind == Kind::Sendrecv;
    let either = |yes: bool, this: u32, other: u32| u64::from(if yes { this } else { other });
    match column {
        WorkColumn::Peer => either(takes, ANY_SOURCE, NONE),
        WorkColumn::Source => either(exchanges, ANY_SOURCE, NONE),
        WorkColumn::Tag => either(takes, ANY_TAG, 0),
        WorkColumn::SourceTag => either(exchanges, ANY_TAG, 0),
        WorkColumn::Request | WorkColumn::Region => NONE.into(),
        WorkColumn::Bytes if has_size(kind) => UNKNOWN_SIZE,
        _ => 0,
    }
}

/// Whether a value is left out when it is written: it is what an empty cell means, and nobody would look for it.
fn is_left_out(column: WorkColumn, kind: Kind, value: u64) -> bool {
    let always = match column {
        WorkColumn::Kind
        | WorkColumn::Communicator
        | WorkColumn::Time
        | WorkColumn::Start
        | WorkColumn::Lane
        | WorkColumn::Nic
        | WorkColumn::Mode
        | WorkColumn::Record => true,
        WorkColumn::Tag => kind.sends(),
        WorkColumn::Received => kind == Kind::Sendrecv,
        _ => false,
    };
    !always && value == empty(column, kind)
}

/// The cell of an operation in a column of numbers or words.
pub fn cell(column: WorkColumn, operation: &Operation) -> Option<u64> {
    let value = match column {
        WorkColumn::Kind => operation.kind as u64,
        WorkColumn::Peer => operation.peer.into(),
        WorkColumn::Source => operation.source.into(),
        WorkColumn::Tag => operation.tag.into(),
        WorkColumn::SourceTag => operation.source_tag.into(),
        WorkColumn::Communicator => operation.communicator.into(),
        WorkColumn::Request => operation.request.into(),
        WorkColumn::Bytes => operation.bytes,
        WorkColumn::Received => operation.received,
        WorkColumn::Time => operation.time,
        WorkColumn::Start => operation.start,
        WorkColumn::Region => operation.region.into(),
        WorkColumn::Lane => operation.lane.into(),
        WorkColumn::Nic => operation.nic.into(),
        WorkColumn::Mode => operation.mode as u64,
        WorkColumn::Rank | WorkColumn::Record | WorkColumn::After | WorkColumn::AfterStart | WorkColumn::Values => {
            return None;
        }
    };
    (!is_left_out(column, operation.kind, value)).then_some(value)
}

/// The operation of a kind whose cells are given by column, within what the column takes.
pub fn operation(kind: Kind, cells: impl Fn(WorkColumn) -> Option<u64>) -> Operation {
    let value = |column| cells(column).unwrap_or_else(|| empty(column, kind));
    let number = |column| value(column) as u32;
    let mode = value(WorkColumn::Mode) as usize;
    Operation {
        kind,
        mode: MODES.get(mode).map_or(Mode::Standard, |(mode, _)| *mode),
        lane: value(WorkColumn::Lane) as u8,
        nic: value(WorkColumn::Nic) as u8,
        communicator: number(WorkColumn::Communicator),
        peer: number(WorkColumn::Peer),
        tag: number(WorkColumn::Tag),
        source: number(WorkColumn::Source),
        source_tag: number(WorkColumn::SourceTag),
        request: number(WorkColumn::Request),
        region: number(WorkColumn::Region),
        bytes: value(WorkColumn::Bytes),
        received: value(WorkColumn::Received),
        time: value(WorkColumn::Time),
        start: value(WorkColumn::Start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_the_order_of_their_numbers() {
        for (i, (column, ..)) in COLUMNS.iter().enumerate() {
            assert_eq!(*column as usize, i);
        }
        for (i, (mode, _)) in MODES.iter().enumerate() {
            assert_eq!(*mode as usize, i);
        }
        for (i, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, i);
        }
    }

    #[test]
    fn cells_give_the_operation_back() {
        let ends = [0, 1, ANY_SOURCE, NONE];
        for &kind in Kind::ALL {
            for &a in &ends {
                for &b in &ends {
                    let operation = super::Operation {
                        peer: a,
                        tag: b,
                        source: b,
                        source_tag: a,
                        request: a,
                        region: b,
                        communicator: a,
                        bytes: if a == 0 { 0 } else { u64::MAX - u64::from(a) + 1 },
                        received: u64::from(b),
                        time: u64::MAX,
                        start: u64::from(a),
                        lane: b as u8,
                        nic: a as u8,
                        mode: MODES[a as usize % 4].0,
                        kind,
                    };
                    assert_eq!(super::operation(kind, |column| cell(column, &operation)), operation);
                }
            }
        }
    }

    #[test]
    fn an_empty_cell_means_any_where_messages_are_received() {
        let received = operation(Kind::Recv, |_| None);
        assert_eq!(
            (received.peer, received.tag, received.bytes),
            (ANY_SOURCE, ANY_TAG, UNKNOWN_SIZE)
        );
        let both = operation(Kind::Sendrecv, |_| None);
        assert_eq!((both.peer, both.tag), (NONE, 0));
        assert_eq!((both.source, both.source_tag), (ANY_SOURCE, ANY_TAG));
        assert_eq!(operation(Kind::Compute, |_| None), Operation::new(Kind::Compute));
        assert_eq!(cell(WorkColumn::Peer, &received), None);
        assert_eq!(cell(WorkColumn::Tag, &Operation::message(Kind::Send, 1, 0, 0)), Some(0));
    }
}
