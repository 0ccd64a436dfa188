//! Orders of routers in which neighbours in number are neighbours in the network.

/// Puts a set of routers in order for a cut into shares of so many parts each.
pub(crate) type Arrange<'a> = Box<dyn Fn(&mut [u32], (u32, u32)) + 'a>;

/// An order, for cutting a network into parts along it.
pub(crate) enum CutOrder<'a> {
    /// Made anew for each cut.
    PerCut(Arrange<'a>),
    /// The same for every cut: the router's place in it.
    Fixed(Vec<u64>),
    /// The same for every cut, and whole groups stay together if they can: group and place within it, of 28 bits.
    Groups(Vec<u64>),
    /// From a router that is far out.
    BreadthFirst,
}

/// Parts of one: `(2 index + 1) / (2 count)`, the middle of the stretch that a number of `count` owns, in 2^-28.
pub(super) fn middle(index: u32, count: u32) -> u64 {
    ((2 * u64::from(index) + 1) << 27) / u64::from(count)
}
