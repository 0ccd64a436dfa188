//! DFSSSP: the paths of SSSP on virtual lanes such that none has a cycle of dependencies (Domke, Hoefler & Nagel 2011).
//!
//! Layers of paths come from [`super::layers`]. Lanes that are left are dealt one by one to the layer with the most pairs per lane, so
//! that each layer owns some in a row; [`Tables::lanes`] holds the first, and any other of the row would do as well.

use super::super::Tables;
use super::fabric::PreparedSubnet;
use super::layers::{TooFew, assign};
use super::trees::Trees;
use super::{Report, RouteError, RoutingEngine, sssp};

/// Time and memory: see [`super::sssp`] and [`super::layers`].
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    with_lanes(fabric, RoutingEngine::Dfsssp, &sssp::lay(fabric))
}

/// The tables of trees with the lanes that they need.
pub(super) fn with_lanes(
    fabric: &PreparedSubnet,
    engine: RoutingEngine,
    trees: &Trees,
) -> Result<(Tables, Report), RouteError> {
    let most = fabric.options.lanes;
    let layers = assign(fabric, trees, most).map_err(|TooFew(cycle)| {
        let names: Vec<String> = (cycle.iter())
            .map(|&c| {
                format!(
                    "{} port {}",
                    fabric.name(fabric.channels.from[c as usize]),
                    fabric.channels.port[c as usize]
                )
            })
            .collect();
        fabric.refuse(
            engine,
            format!(
                "{most} lanes are too few: paths on the last one can deadlock, {}",
                names.join(" -> ")
            ),
            "allow more lanes, or take `updn`, which needs one",
        )
    })?;
    let mut tables = trees.tables(fabric);
    let classes = deal(&layers.pairs, most);
    let mut after = vec![0; usize::from(most)];
    for (&pairs, &(first, _)) in layers.pairs.iter().zip(&classes) {
        after[usize::from(first)] = pairs;
    }
    if classes.len() > 1 {
        tables.lanes = vec![0; tables.ports.len()];
        let (width, n_destinations) = (tables.n_addresses as usize, trees.n_destinations() as usize);
        for (lanes, layers) in (tables.lanes.chunks_mut(width)).zip(layers.layer_of.chunks(n_destinations)) {
            for (lane, &layer) in lanes.iter_mut().zip(layers) {
                *lane = classes[usize::from(layer)].0;
            }
        }
        tables.n_lanes = tables.lanes.iter().max().map_or(1, |&last| last + 1);
    }
    let report = Report {
        lanes_needed: layers.pairs.len() as u8,
        before: layers.pairs,
        after,
        classes,
        ..Report::default()
    };
    Ok((tables, report))
}

/// The lanes of each layer as (first, number): spare ones go to the layer with the most pairs per lane, the first of equal ones.
fn deal(pairs: &[u64], lanes: u8) -> Vec<(u8, u8)> {
    let mut number = vec![1u8; pairs.len()];
    for _ in pairs.len()..usize::from(lanes) {
        let mut fullest = 0;
        for k in 1..pairs.len() {
            if u128::from(pairs[k]) * u128::from(number[fullest]) > u128::from(pairs[fullest]) * u128::from(number[k]) {
                fullest = k;
            }
        }
        number[fullest] += 1;
    }
    let mut first = 0;
    let class = |n: u8| {
        first += n;
        (first - n, n)
    };
    number.into_iter().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_lanes_go_where_most_pairs_share_one() {
        assert_eq!(deal(&[2128, 128], 8), [(0, 7), (7, 1)]);
        assert_eq!(deal(&[1912, 268, 74, 2], 8), [(0, 5), (5, 1), (6, 1), (7, 1)]);
        assert_eq!(deal(&[10, 10], 3), [(0, 2), (2, 1)]);
        assert_eq!(deal(&[5], 8), [(0, 8)]);
    }
}
