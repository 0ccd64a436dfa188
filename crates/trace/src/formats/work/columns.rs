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
pub enum Column {
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
pub const COLUMNS: [(Column, &str, Storage, bool); 20] = {
    use Storage::{Lists, Number, Words};
    [
        (Column::Rank, "rank", Number(4), false),
        (Column::Kind, "kind", Words, false),
        (Column::Peer, "peer", Number(4), true),
        (Column::Source, "source", Number(4), true),
        (Column::Tag, "tag", Number(4), true),
        (Column::SourceTag, "source_tag", Number(4), true),
        (Column::Communicator, "communicator", Number(4), true),
        (Column::Request, "request", Number(4), true),
        (Column::Bytes, "bytes", Number(8), true),
        (Column::Received, "received", Number(8), true),
        (Column::Time, "time", Number(8), true),
        (Column::Start, "start", Number(8), true),
        (Column::Region, "region", Number(4), true),
        (Column::Lane, "lane", Number(1), true),
        (Column::Nic, "nic", Number(1), true),
        (Column::Mode, "mode", Words, true),
        (Column::Record, "record", Number(8), true),
        (Column::After, "after", Lists(4), true),
        (Column::AfterStart, "after_start", Lists(4), true),
        (Column::Values, "values", Lists(8), true),
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
pub fn words(column: Column) -> Vec<&'static str> {
    match column {
        Column::Kind => Kind::ALL.iter().map(|kind| kind.name()).collect(),
        Column::Mode => MODES.iter().map(|(_, name)| *name).collect(),
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
pub fn empty(column: Column, kind: Kind) -> u64 {
    let takes = matches!(kind, Kind::Recv | Kind::Irecv | Kind::Probe);
    let exchanges = kind == Kind::Sendrecv;
    let either = |yes: bool, this: u32, other: u32| u64::from(if yes { this } else { other });
    match column {
        Column::Peer => either(takes, ANY_SOURCE, NONE),
        Column::Source => either(exchanges, ANY_SOURCE, NONE),
        Column::Tag => either(takes, ANY_TAG, 0),
        Column::SourceTag => either(exchanges, ANY_TAG, 0),
        Column::Request | Column::Region => NONE.into(),
        Column::Bytes if has_size(kind) => UNKNOWN_SIZE,
        _ => 0,
    }
}

/// Whether a value is left out when it is written: it is what an empty cell means, and nobody would look for it.
fn is_left_out(column: Column, kind: Kind, value: u64) -> bool {
    let always = match column {
        Column::Kind
        | Column::Communicator
        | Column::Time
        | Column::Start
        | Column::Lane
        | Column::Nic
        | Column::Mode
        | Column::Record => true,
        Column::Tag => kind.sends(),
        Column::Received => kind == Kind::Sendrecv,
        _ => false,
    };
    !always && value == empty(column, kind)
}

/// The cell of an operation in a column of numbers or words.
pub fn cell(column: Column, operation: &Operation) -> Option<u64> {
    let value = match column {
        Column::Kind => operation.kind as u64,
        Column::Peer => operation.peer.into(),
        Column::Source => operation.source.into(),
        Column::Tag => operation.tag.into(),
        Column::SourceTag => operation.source_tag.into(),
        Column::Communicator => operation.communicator.into(),
        Column::Request => operation.request.into(),
        Column::Bytes => operation.bytes,
        Column::Received => operation.received,
        Column::Time => operation.time,
        Column::Start => operation.start,
        Column::Region => operation.region.into(),
        Column::Lane => operation.lane.into(),
        Column::Nic => operation.nic.into(),
        Column::Mode => operation.mode as u64,
        Column::Rank | Column::Record | Column::After | Column::AfterStart | Column::Values => return None,
    };
    (!is_left_out(column, operation.kind, value)).then_some(value)
}

/// The operation of a kind whose cells are given by column, within what the column takes.
pub fn operation(kind: Kind, cells: impl Fn(Column) -> Option<u64>) -> Operation {
    let value = |column| cells(column).unwrap_or_else(|| empty(column, kind));
    let number = |column| value(column) as u32;
    let mode = value(Column::Mode) as usize;
    Operation {
        kind,
        mode: MODES.get(mode).map_or(Mode::Standard, |(mode, _)| *mode),
        lane: value(Column::Lane) as u8,
        nic: value(Column::Nic) as u8,
        communicator: number(Column::Communicator),
        peer: number(Column::Peer),
        tag: number(Column::Tag),
        source: number(Column::Source),
        source_tag: number(Column::SourceTag),
        request: number(Column::Request),
        region: number(Column::Region),
        bytes: value(Column::Bytes),
        received: value(Column::Received),
        time: value(Column::Time),
        start: value(Column::Start),
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
        assert_eq!(cell(Column::Peer, &received), None);
        assert_eq!(cell(Column::Tag, &Operation::message(Kind::Send, 1, 0, 0)), Some(0));
    }
}
