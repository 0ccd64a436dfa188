//! Graphs of GOAL: a text and a binary file that say the same, each written out here.

use super::Sample;

/// Every statement there is, with blanks and without, and comments.
pub const TEXT: &str = "// three ranks\r
/* one of them
   does nothing */ num_ranks 3 // ranks

rank 1 {
  a_1: recv 8b from 0 tag 7 cpu 1 nic 2
  any:recv 16b from -1 tag -1
  calc 5cpu 1
  /* what goes back */ back: send 8bto 0tag 3
  back requires a_1 /* both
  */
  back irequires any
}
rank 0 {
  l1: calc 1000
  l2: send 8b to 1 tag 7 nic 3
  send 16b to 1
  l4: recv 8b from 1 tag 3 cpu 255
  l4 irequires l2
  l4 requires l1
  l2 requires l1
}
rank 2 {
}
";

/// A node: type, peer, size, tag, cpu, nic, how many it waits for, begin and length of those that wait for its end, and for its start.
type Node = (u8, u32, u64, u32, u8, u8, u32, (u32, u32), (u32, u32));

/// The part of a rank.
pub fn part(roots: &[u32], nodes: &[Node], appendix: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((nodes.len() as u32).to_le_bytes());
    bytes.extend((roots.len() as u32).to_le_bytes());
    bytes.extend(roots.iter().flat_map(|root| root.to_le_bytes()));
    for (kind, peer, size, tag, cpu, nic, waits, ends, starts) in nodes {
        bytes.extend(waits.to_le_bytes());
        bytes.push(*kind);
        bytes.extend(peer.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend([*cpu, *nic]);
        for (begin, length) in [ends, starts] {
            bytes.extend(length.to_le_bytes());
            bytes.extend(begin.to_le_bytes());
        }
    }
    bytes.extend(appendix.iter().flat_map(|entry| entry.to_le_bytes()));
    bytes
}

/// A file of parts in the order of ranks.
pub fn file(highest: [u8; 2], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = 4223_u64.to_le_bytes().to_vec();
    bytes.extend((parts.len() as u32).to_le_bytes());
    bytes.extend(highest);
    let mut at = 6 + 16 * parts.len() as u64;
    for part in parts {
        bytes.extend(at.to_le_bytes());
        at += part.len() as u64;
        bytes.extend(at.to_le_bytes());
    }
    bytes.extend(parts.iter().flatten());
    bytes
}

/// What [`TEXT`] says.
pub fn binary() -> Vec<u8> {
    const ANY: u32 = u32::MAX;
    let none = (0, 0);
    let first = part(
        &[0, 2],
        &[
            (3, 0, 1000, 0, 0, 0, 0, (0, 2), none),
            (1, 1, 8, 7, 0, 3, 1, none, (2, 1)),
            (1, 1, 16, 0, 0, 0, 0, none, none),
            (2, 1, 8, 3, 255, 0, 2, none, none),
        ],
        &[1, 3, 3],
    );
    let second = part(
        &[0, 1, 2],
        &[
            (2, 0, 8, 7, 1, 2, 0, (0, 1), none),
            (2, ANY, 16, ANY, 0, 0, 0, none, (1, 1)),
            (3, 0, 5, 0, 1, 0, 0, none, none),
            (1, 0, 8, 3, 0, 0, 2, none, none),
        ],
        &[3, 3],
    );
    file([255, 3], &[first, second, part(&[], &[], &[])])
}

/// All of them.
pub fn all() -> Vec<Sample> {
    vec![
        Sample {
            format: "goal",
            name: "every statement",
            files: vec![("every.goal".into(), TEXT.into())],
            open: "every.goal",
        },
        Sample {
            format: "goal-binary",
            name: "every field",
            files: vec![("every.bin".into(), binary())],
            open: "every.bin",
        },
    ]
}
