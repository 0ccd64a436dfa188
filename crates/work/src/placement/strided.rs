//! Logical neighbours a distance apart.

use super::{PlacedJob, PlacementKeys, PlacementKind, PlacementMisfit, Strided};
use study::{Default, Described, Entry, Parameter, Type, key};

const STRIDE: &[Parameter] = &[key(
    "stride",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::Required,
    "Distance between logical neighbours, counted in free nodes.",
)];

impl Described for Strided {
    const ENTRY: Entry = Entry::new(
        "strided",
        "Every stride-th free node from the first, then from the second, and so on.",
    )
    .keys(&[STRIDE]);
}

impl PlacementKind for Strided {
    fn read(keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(Strided {
            stride: keys.values.integer_u32("stride")?,
        })
    }

    fn misfit(&self, n_nodes: u32, _has_groups: bool) -> Option<PlacementMisfit> {
        let (stride, beyond) = (self.stride, n_nodes.max(2));
        (stride == 0 || stride >= beyond).then(|| PlacementMisfit {
            key: Some("stride"),
            reason: format!("a stride of {stride} leads nowhere, the network has {n_nodes} nodes"),
            hint: format!("give stride = 1 to {}", beyond - 1),
        })
    }

    fn order(&self, free: Vec<u32>, _job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        let stride = self.stride as usize;
        let from = |first: usize| free.iter().skip(first).step_by(stride).copied();
        Ok((0..stride).flat_map(from).collect())
    }
}
