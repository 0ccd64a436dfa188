//! The numbers of memory nodes.

use super::links::BusyLink;
use super::{Concluded, figures};
use fabric::memory::account::{MemoryRow, add};
use work::memory::shape::Shape;
use work::memory::spec::InterfaceUse;
use work::memory::state::{Beyond, Core};

figures! {
    /// The memory nodes of a job: times are means over accesses unless they say otherwise.
    #[derive(Default)]
    pub struct MemorySummary {
        name: String = Text, "job", "Its name.";
        nodes: u64 = Count, "memory nodes", "Nodes.", parts Sum;
        cores: u64 = Count, "cores", "Cores in all.", parts Sum;
        accesses: u64 = Count, "accesses", "Accesses performed.", parts Sum;
        stores: u64 = Count, "stores", "Stores among them.", parts Sum;
        time_ns: Option<f64> = Nanoseconds, "time until the last access", "When the last core had its last access; null if one has not.";
        latency_ns: f64 = Nanoseconds, "mean time of an access", "From giving out an access to having it.";
        latency_max_ns: f64 = Nanoseconds, "longest access", "The longest of all.", seeds Greatest, parts Greatest;
        slot_wait_ns: f64 = Nanoseconds, "wait for a place", "Time per access for which a core had no place for it, or stood at a fence.";
        slots_full: f64 = Share, "time without a place", "Share of the time until the last access for which a core had no place for another, over cores.";
        l1_ns: f64 = Nanoseconds, "time in own caches", "In cores' own caches.";
        bus_ns: f64 = Nanoseconds, "time on buses", "On the nodes' buses and waiting for them.";
        l2_ns: f64 = Nanoseconds, "time in shared caches", "In shared caches.";
        beyond_ns: f64 = Nanoseconds, "time beyond the shared cache", "Between the shared cache's miss and what has come for it: the parts that follow, and what they do not tell.";
        request_ns: f64 = Nanoseconds, "request", "Requests on their way through an idle network.";
        request_wait_ns: f64 = Nanoseconds, "request wait", "Requests waiting in interfaces and routers.";
        forward_ns: f64 = Nanoseconds, "forward", "Forwards on their way.";
        forward_wait_ns: f64 = Nanoseconds, "forward wait", "Forwards waiting.";
        response_ns: f64 = Nanoseconds, "response", "Responses on their way.";
        response_wait_ns: f64 = Nanoseconds, "response wait", "Responses waiting.";
        inside_ns: f64 = Nanoseconds, "time inside the node", "Between caches and directory of one node.";
        directory_ns: f64 = Nanoseconds, "time in directories", "In directories.";
        owner_ns: f64 = Nanoseconds, "time in owners' caches", "In the caches of owners.";
        memory_wait_ns: f64 = Nanoseconds, "wait for memory", "Waiting for memory.";
        memory_ns: f64 = Nanoseconds, "time in memory", "In memory.";
        protocol_ns: f64 = Nanoseconds, "time for the protocol", "Waiting for another access, acknowledgements, or leave to ask: what is left.";
        by_l1: f64 = Share, "served by the own cache", "Share of accesses that the core's own cache has served.";
        by_l2: f64 = Share, "served by the shared cache", "The shared cache.";
        by_neighbour: f64 = Share, "served by a neighbour core", "The cache of another core of the node.";
        by_message: f64 = Share, "served by a message", "A message.";
        messages: u64 = Count, "messages", "Messages to other nodes.", parts Sum;
        bytes: u64 = Bytes, "bytes", "Their bytes.", parts Sum;
        memory_reads: u64 = Count, "lines read", "Lines read from memory.", parts Sum;
        memory_writes: u64 = Count, "lines written", "Lines written to memory.", parts Sum;
        directory_misses: u64 = Count, "directory misses", "Entries that directories had to get from memory.", parts Sum;
        memory_busy: f64 = Share, "time memory was busy", "Share of the time for which memory was busy, over nodes.";
        bottleneck: String = Text, "bottleneck", "What takes the most of an access, in words.";
    }
}

/// Of the job of memory nodes, if there is one.
pub(super) fn of(run: &Concluded<'_>) -> Option<MemorySummary> {
    let plan = run.net.workload.memory()?;
    let name = &run.spec.jobs[plan.job as usize].name;
    let links = (run.busiest.as_ref(), run.net.injection.bandwidth().0);
    Some(MemorySummary::new(name, &plan.shape, &run.harvest.memory, links))
}

/// Interfaces of a node that share what it sends, and the bytes that they have sent: of two with their own part the busier one.
fn busiest_interface(shape: &Shape) -> (u32, fn(&Beyond) -> u64) {
    match shape.arrangement.interfaces {
        InterfaceUse::ByLine => (shape.interfaces, |of| of.bytes),
        InterfaceUse::ByPart => (1, |of| of.home_bytes.max(of.bytes - of.home_bytes)),
    }
}

impl MemorySummary {
    /// Adds up the nodes of a job.
    fn new(
        name: &str,
        shape: &Shape,
        rows: &[MemoryRow],
        (busiest, injection): (Option<&BusyLink>, u64),
    ) -> MemorySummary {
        let mut sum = Core::default();
        rows.iter().for_each(|row| add(&mut sum, &row.cores));
        let all = |of: fn(&Beyond) -> u64| rows.iter().map(|row| of(&row.beyond)).sum::<u64>();
        let n = sum.done.max(1) as f64;
        let mean = |ps: u64| ps as f64 / 1e3 / n;
        let n_cores = u64::from(shape.cores) * rows.len() as u64;
        let done = rows.iter().map(|row| row.finished_cores).sum::<u64>() == n_cores;
        let network = [all(|of| of.way[0]), all(|of| of.way[1]), all(|of| of.way[2])];
        let queued = [all(|of| of.queued[0]), all(|of| of.queued[1]), all(|of| of.queued[2])];
        let told = [
            all(|of| of.inside),
            all(|of| of.directory),
            all(|of| of.owner),
            all(|of| of.memory_queue),
            all(|of| of.memory),
        ];
        let known = network.iter().chain(&queued).chain(&told).sum::<u64>();
        let busy = all(|of| of.memory_busy) as f64 / (sum.finished.max(1) as f64 * rows.len().max(1) as f64);
        let [by_l1, by_l2, by_neighbour, by_message] = sum.by.map(|by| by as f64 / n);
        let mut summary = MemorySummary {
            name: name.to_owned(),
            nodes: rows.len() as u64,
            cores: n_cores,
            accesses: sum.done,
            stores: sum.stores,
            time_ns: done.then_some(sum.finished as f64 / 1e3),
            latency_ns: mean(sum.latency),
            latency_max_ns: sum.longest as f64 / 1e3,
            slot_wait_ns: mean(sum.waited),
            slots_full: sum.waited as f64 / (sum.finished.max(1) as f64 * n_cores.max(1) as f64),
            l1_ns: mean(sum.l1),
            bus_ns: mean(sum.bus),
            l2_ns: mean(sum.l2),
            beyond_ns: mean(sum.beyond),
            request_ns: mean(network[0]),
            request_wait_ns: mean(queued[0]),
            forward_ns: mean(network[1]),
            forward_wait_ns: mean(queued[1]),
            response_ns: mean(network[2]),
            response_wait_ns: mean(queued[2]),
            inside_ns: mean(told[0]),
            directory_ns: mean(told[1]),
            owner_ns: mean(told[2]),
            memory_wait_ns: mean(told[3]),
            memory_ns: mean(told[4]),
            protocol_ns: (sum.beyond as f64 - known as f64) / 1e3 / n,
            by_l1,
            by_l2,
            by_neighbour,
            by_message,
            messages: all(|of| of.messages),
            bytes: all(|of| of.bytes),
            memory_reads: all(|of| of.reads),
            memory_writes: all(|of| of.writes),
            directory_misses: all(|of| of.entries_read),
            memory_busy: busy,
            bottleneck: String::new(),
        };
        // Interfaces are no ports of routers: what the node with the most to send has sent, over the rate of its links.
        let (shared, of) = busiest_interface(shape);
        let sends = rows
            .iter()
            .max_by_key(|row| (of(&row.beyond), std::cmp::Reverse(row.node)));
        let out = sends.map(|row| {
            let rate = injection as f64 * f64::from(shared) * sum.finished.max(1) as f64;
            BusyLink {
                name: format!("memory node {} to its router", row.node),
                busy: (of(&row.beyond) as f64 * 8e12 / rate).min(1.0),
            }
        });
        let links = out.iter().chain(busiest);
        let link = links.max_by(|a, b| a.busy.total_cmp(&b.busy));
        summary.bottleneck = summary.sentence(link);
        summary
    }

    /// Names what an access spends most of its time with.
    fn sentence(&self, link: Option<&BusyLink>) -> String {
        let network = self.request_ns + self.forward_ns + self.response_ns;
        let waits = self.request_wait_ns + self.forward_wait_ns + self.response_wait_ns;
        let caches = self.l1_ns + self.bus_ns + self.l2_ns + self.inside_ns;
        let parts = [
            (waits, "waiting for links, in interfaces and routers: bandwidth"),
            (self.memory_wait_ns, "waiting for memory: its bandwidth"),
            (network, "the way through an idle network: latency and serialisation"),
            (self.memory_ns, "memory itself: its latency"),
            (caches, "caches and buses of the nodes"),
            (self.directory_ns + self.owner_ns, "directories and caches of owners"),
            (
                self.protocol_ns,
                "waiting for other accesses to the same lines, or for leave to ask",
            ),
        ];
        let most = parts.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((time, what)) = most.filter(|_| self.latency_ns > 0.0) else {
            return "no access was made".to_owned();
        };
        let share = 100.0 * time / self.latency_ns;
        let limit = match self.slots_full > 0.5 {
            true => format!(
                "; for {:.0} % of the time cores have no place for another access",
                100.0 * self.slots_full
            ),
            false => String::new(),
        };
        let link = match link.filter(|_| time == waits) {
            Some(link) => format!(
                "; the busiest link, {}, is busy for {:.0} % of the time",
                link.name,
                100.0 * link.busy
            ),
            None => String::new(),
        };
        format!("{share:.0} % of an access is {what}{link}{limit}")
    }
}
