//! Logical neighbours a distance apart.

use super::{Job, Misfit, PlacementKind, Strided, Told};
use study::{Default, Entry, Kind, Parameter, Type, key};

const STRIDE: &[Parameter] = &[key(
    "stride",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::Required,
    "Distance between logical neighbours, counted in free nodes.",
)];

impl Kind for Strided {
    const ENTRY: Entry = Entry::new(
        "strided",
        "Every stride-th free node from the first, then from the second, and so on.",
    )
    .keys(&[STRIDE]);
}

impl PlacementKind for Strided {
    fn read(told: Told<'_, '_>) -> Option<Self> {
        Some(Strided {
            stride: told.values.integer_u32("stride")?,
        })
    }

    fn misfit(&self, n_nodes: u32, _has_groups: bool) -> Option<Misfit> {
        let (stride, beyond) = (self.stride, n_nodes.max(2));
        (stride == 0 || stride >= beyond).then(|| Misfit {
            key: Some("stride"),
            reason: format!("a stride of {stride} leads nowhere, the network has {n_nodes} nodes"),
            hint: format!("give stride = 1 to {}", beyond - 1),
        })
    }

    fn order(&self, free: Vec<u32>, _job: &mut Job<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        let stride = self.stride as usize;
        let from = |first: usize| free.iter().skip(first).step_by(stride).copied();
        Ok((0..stride).flat_map(from).collect())
    }
}
