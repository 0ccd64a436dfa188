//! Graphs that need no file, by name.

use std::fmt::Write;

/// A fat-tree whose cables no XGFT has (see [`crate::presets`]).
pub(crate) const TSUBAME_TREE: &str = "tsubame2-fat-tree";

/// The edge list of a preset that is none of the regular families.
pub(crate) fn built_in(name: &str) -> Option<String> {
    (name == TSUBAME_TREE).then(tsubame_tree)
}

/// Leaves, middle and top switches of the fat-tree of [`TSUBAME_TREE`], each kind numbered from 0; `leaf` and `top` are link classes.
fn tsubame_tree() -> String {
    const PODS: u32 = 3;
    const LEAVES: u32 = 16;
    const MIDDLES: u32 = 18;
    // What six middle switches of each pod share.
    const DIRECTORS: u32 = 3;
    const TOPS: u32 = 9;
    let mut text = String::new();
    // Writing to a text cannot fail.
    for leaf in 0..PODS * LEAVES {
        let _ = writeln!(text, "node leaf{leaf} 14");
        for middle in 0..MIDDLES {
            let _ = writeln!(text, "leaf{leaf} middle{} 1 leaf", leaf / LEAVES * MIDDLES + middle);
        }
    }
    for middle in 0..PODS * MIDDLES {
        let director = middle % MIDDLES / (MIDDLES / DIRECTORS);
        for top in 0..TOPS {
            let _ = writeln!(text, "middle{middle} top{} 2 top", director * TOPS + top);
        }
    }
    text
}
