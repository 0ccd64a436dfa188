//! The topologies that a routing is for, and how that is said.

use study::words::Words;
use topo::{TopologyKind, TopologySpec};

/// Some topologies of a family: a word for them (` of two dimensions`), and what it means.
type Which = (&'static str, fn(&TopologySpec) -> bool);

/// The topologies that a routing is for.
#[derive(Clone, Copy, Debug)]
pub struct Fits {
    /// By family; none: all.
    families: &'static [TopologyKind],
    /// Which of these; none: all.
    which: Option<Which>,
    /// Graphs as well, which may be one of them, in words that stand behind the family in the limits.
    graphs: Option<&'static str>,
}

impl Fits {
    /// All.
    pub(super) const ALL: Fits = Fits::only(&[]);

    /// Those of some families.
    pub(super) const fn only(families: &'static [TopologyKind]) -> Fits {
        Fits {
            families,
            which: None,
            graphs: None,
        }
    }

    /// Of these only those for which something holds, in words that stand behind the family.
    pub(super) const fn which(self, words: &'static str, holds: fn(&TopologySpec) -> bool) -> Fits {
        Fits {
            which: Some((words, holds)),
            ..self
        }
    }

    /// Graphs as well, in words that stand behind the family.
    pub(super) const fn or_graphs(self, words: &'static str) -> Fits {
        Fits {
            graphs: Some(words),
            ..self
        }
    }

    /// Whether a topology is one of them.
    pub fn fits(&self, topology: &TopologySpec) -> bool {
        let family = topology.kind();
        if self.graphs.is_some() && topology.is_graph() {
            return true;
        }
        let named = self.families.is_empty() || self.families.contains(&family);
        named && self.which.is_none_or(|(_, holds)| holds(topology))
    }

    /// Why a routing does not work on a topology, if it does not.
    pub(super) fn misfit(&self, kind: &str, topology: &TopologySpec) -> Option<String> {
        let needs = || format!("\"{kind}\" needs a {}", self.listed(" or ").text());
        (!self.fits(topology)).then(needs)
    }

    /// The limits of a routing: what it is for, then the others, which go on where they do not begin with a capital letter.
    pub(super) const fn before(&self, limits: &str) -> Words {
        if self.families.is_empty() {
            return Words::NONE.and(limits);
        }
        let fits = self.listed(" and ");
        let words = Words::NONE.and("For ").and(fits.text());
        let words = match self.graphs {
            Some(graphs) => words.and(graphs),
            None => words,
        };
        if limits.is_empty() {
            return words.and(".");
        }
        let between = match limits.as_bytes()[0] {
            b'A'..=b'Z' => ". ",
            b'a'..=b'z' => " ",
            _ => "",
        };
        words.and(between).and(limits)
    }

    const fn listed(&self, last: &str) -> Words {
        let mut words = Words::NONE;
        let mut i = 0;
        while i < self.families.len() {
            words = match i {
                0 => words,
                _ if i + 1 == self.families.len() => words.and(last),
                _ => words.and(", "),
            };
            words = words.and(self.families[i].name());
            i += 1;
        }
        match self.which {
            Some((which, _)) => words.and(which),
            None => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topo::{Lattice, RingSpec};

    #[test]
    fn what_fits_is_said_in_limits_and_refusals() {
        let hyperx = |shape: &[u32]| {
            TopologySpec::HyperX(Lattice {
                shape: shape.to_vec(),
                width: vec![1; shape.len()],
                nodes_per_router: 1,
            })
        };
        let ring = TopologySpec::Ring(RingSpec {
            routers: 4,
            width: 1,
            nodes_per_router: 1,
        });
        let is_line =
            |topology: &TopologySpec| matches!(topology, TopologySpec::HyperX(lattice) if lattice.shape.len() == 1);
        let fits = Fits::only(&[TopologyKind::HyperX]).which(" of one dimension", is_line);
        assert!(fits.fits(&hyperx(&[3])) && !fits.fits(&hyperx(&[3, 3])) && !fits.fits(&ring));
        assert_eq!(
            fits.misfit("x", &ring).unwrap(),
            "\"x\" needs a hyperx of one dimension"
        );
        assert_eq!(fits.before("Blind.").text(), "For hyperx of one dimension. Blind.");
        let three = Fits::only(&[TopologyKind::Ring, TopologyKind::Mesh, TopologyKind::Torus]);
        assert_eq!(three.before("").text(), "For ring, mesh and torus.");
        assert_eq!(
            three.misfit("x", &hyperx(&[2])).unwrap(),
            "\"x\" needs a ring, mesh or torus"
        );
        assert!(Fits::ALL.fits(&ring) && Fits::ALL.before("Blind.").text() == "Blind.");
        let graph = Fits::only(&[TopologyKind::FatTree]).or_graphs("s, also of files");
        assert_eq!(graph.before("; slow.").text(), "For fat-trees, also of files; slow.");
    }
}
