//! Messages that are listed one by one, for comparisons with runs of other simulators message by message.

use super::{BirthRule, Destinations, JobKind, Workload};

impl Workload {
    /// The same with the messages of a synthetic job listed: message `k` of every node is born at `births[k]` (ps, rising), and logical
    /// node `i` of the job sends it to node `destinations[i * births.len() + k]`. Sizes stay those of the job. Errors say what does not fit.
    pub fn with_messages(mut self, job: usize, births: Vec<u64>, destinations: Vec<u32>) -> Result<Workload, String> {
        let n_nodes = self.members.len();
        let mut jobs = Vec::from(self.jobs);
        let Some(entry) = jobs.get_mut(job) else {
            return Err(format!("there is no job {job}"));
        };
        let JobKind::Synthetic {
            destinations: pattern,
            spec,
            births: rule,
        } = &mut entry.kind
        else {
            return Err(format!("job {job} is not synthetic"));
        };
        let (n, count) = (entry.nodes.len(), births.len());
        if count == 0 || destinations.len() != n * count {
            let given = destinations.len();
            return Err(format!(
                "{given} destinations for {count} messages of each of {n} nodes"
            ));
        }
        if let Some(k) = births.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(format!("message {} is not born after message {k}", k + 1));
        }
        if let Some(to) = destinations.iter().find(|&&to| to as usize >= n_nodes) {
            return Err(format!("there is no node {to}, the network has {n_nodes}"));
        }
        *pattern = Destinations::Table {
            fan: count as u32,
            table: destinations,
        };
        // Finite, and at no load that anyone has asked for.
        spec.count = Some(count as u64);
        spec.load = None;
        rule.rule = BirthRule::Listed;
        rule.count = count as u64;
        rule.uniform = false;
        entry.listed = births;
        self.jobs = jobs.into();
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::bench::plain;
    use crate::network::Network;
    use crate::state::Source;
    use crate::workload::Workload;
    use bytemuck::Zeroable as _;
    use topo::TopologySpec;

    fn listed(births: &[u64], destinations: &[u32]) -> Result<Workload, String> {
        let network = Network::build(&plain(TopologySpec::SingleRouter { nodes: 3 })).unwrap();
        let workload = network.workload;
        workload.with_messages(0, births.to_vec(), destinations.to_vec())
    }

    #[test]
    fn a_node_makes_the_messages_that_are_listed_and_no_more() {
        let workload = listed(&[5, 70], &[1, 2, 0, 0, 1, 0]).unwrap();
        let messages = |node| {
            let mut source = Source::zeroed();
            let next = || workload.generate(node, &mut source);
            let all: Vec<_> = std::iter::from_fn(next)
                .map(|message| (message.birth, message.destination))
                .collect();
            all
        };
        assert_eq!(messages(0), [(5, 1), (70, 2)]);
        assert_eq!(messages(1), [(5, 0), (70, 0)]);
        assert_eq!(messages(2), [(5, 1), (70, 0)]);
        assert_eq!(workload.total_messages(), Some(6));
    }

    #[test]
    fn a_list_that_does_not_fit_is_refused() {
        let reason = |births: &[u64], destinations: &[u32]| listed(births, destinations).err().unwrap_or_default();
        assert_eq!(
            reason(&[5], &[1, 2]),
            "2 destinations for 1 messages of each of 3 nodes"
        );
        assert_eq!(
            reason(&[5, 5], &[1, 2, 0, 0, 1, 0]),
            "message 1 is not born after message 0"
        );
        assert_eq!(reason(&[5], &[1, 2, 3]), "there is no node 3, the network has 3");
    }
}
