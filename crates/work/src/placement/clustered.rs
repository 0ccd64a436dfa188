//! Chunks of neighbours.

use super::{Clustered, PlacedJob, PlacementKeys, PlacementKind, PlacementMisfit};
use study::{Default, Described, Entry, Parameter, Type, key};

const CHUNK: &[Parameter] = &[key(
    "chunk",
    Type::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Default::Required,
    "Nodes of a chunk; those of a router place router by router.",
)];

impl Described for Clustered {
    const ENTRY: Entry = Entry::new(
        "clustered",
        "The free nodes in chunks of consecutive ones, the chunks in random order.",
    )
    .keys(&[CHUNK])
    .limits("The last chunk may be shorter.");
}

impl PlacementKind for Clustered {
    fn read(keys: PlacementKeys<'_, '_>) -> Option<Self> {
        Some(Clustered {
            chunk: keys.values.integer_u32("chunk")?,
        })
    }

    fn misfit(&self, n_nodes: u32, _has_groups: bool) -> Option<PlacementMisfit> {
        let chunk = self.chunk;
        (chunk == 0 || chunk > n_nodes).then(|| PlacementMisfit {
            key: Some("chunk"),
            reason: format!("chunks of {chunk} nodes do not fit, the network has {n_nodes}"),
            hint: format!("give chunk = 1 to {n_nodes}"),
        })
    }

    fn order(&self, free: Vec<u32>, job: &mut PlacedJob<'_>) -> Result<Vec<u32>, (String, &'static str)> {
        let mut chunks: Vec<&[u32]> = free.chunks(self.chunk as usize).collect();
        job.random.shuffle(&mut chunks);
        Ok(chunks.concat())
    }
}
