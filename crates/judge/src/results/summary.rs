//! The numbers of a run, as they go into `summary.json` and `--json`: one line each.

use super::cost::{self, CostSummary};
use super::estimated::{self, EstimatedFigures};
use super::execution::{self, Execution};
use super::hops::{self, HopSummary};
use super::jobs::{self, JobSummary};
use super::latency::{LatencySummary, WaitSummary, latency_of_arrived_ns, not_arrived};
use super::limits::limits;
use super::links::{self, BusyLink};
use super::loads;
use super::losses::{self, LossSummary, RepeatSummary};
use super::memory::{self, MemorySummary};
use super::notes::notes;
use super::state::LoadState;
use super::throughput::{self, ThroughputSummary};
use super::verdict::{self, Verdict};
use super::{Concluded, concluded::ns, figures};
use crate::process::peak_memory;

figures! {
    /// The numbers of a run.
    pub struct Summary from Concluded {
        verdict: Verdict = Group, "verdict", "What the run proved of itself, and whether its network kept up." => verdict::of;
        sim_time_ns: f64 = Nanoseconds, "simulated time", "The last time that anything happened." => |run| ns(run.reached as f64);
        #[serde(skip_serializing_if = "Option::is_none")]
        estimated: Option<EstimatedFigures> = Group, "estimated", "What was estimated and not run; only there with `fast_forward = \"statistical\"`." => estimated::of;
        messages: u64 = Count, "messages", "Messages that were delivered, measured or not.", parts Sum => |run| run.harvest.stats.messages;
        packets: u64 = Count, "packets", "Packets that were delivered.", parts Sum => |run| run.harvest.stats.packets;
        packet_hops: u64 = Count, "packet hops", "Packets times the routers that sent them on, ejection counted.", parts Sum => |run| run.harvest.packet_hops;
        busiest_link: Option<BusyLink> = Group, "busiest link", "The link that was busy for the most time, of routers to each other and to nodes.", parts Greatest => links::busiest_link;
        measured: u64 = Count, "measured messages", "Messages that are measured: born behind the warm-up and before the end, and not lost.", parts Sum => |run| run.sample.messages;
        arrived: u64 = Count, "arrived messages", "Those of them that have arrived.", parts Sum => |run| run.sample.latencies.count;
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<LossSummary> = Group, "lost", "What was lost on a network that fails while the run goes on; only there where packets can be lost." => losses::of;
        #[serde(skip_serializing_if = "Option::is_none")]
        link_errors: Option<RepeatSummary> = Group, "errors of links", "What links have sent again for errors; only there where cables make some." => losses::repeated;
        not_arrived: Option<f64> = Share, "not arrived", "Share of the measured messages that had not arrived when the run ended; null where none was measured." => |run| not_arrived(run.sample);
        latency_ns: LatencySummary = Group, "latency", "From hand-over to arrival, of the measured messages." => |run| run.latency_ns.clone();
        wait_ns: WaitSummary = Group, "wait at the source", "From hand-over to the first packet that leaves: part of the latency." => |run| run.wait_ns.clone();
        #[serde(skip_serializing_if = "Option::is_none")]
        latency_of_arrived_ns: Option<LatencySummary> = Group, "latency of those that arrived", "Latencies of the measured messages that have arrived alone; only where others have not or the network did not keep up." => latency_of_arrived_ns;
        hops: HopSummary = Group, "hops", "Hops per packet: links between routers, plus one for the ejection." => hops::of;
        offered_load: Option<f64> = Load, "offered load", "What sources without end offer, mean over all nodes; null without such." => loads::offered_load;
        accepted_load: f64 = Load, "accepted load", "Bytes delivered in the measured span, mean over all nodes." => loads::accepted_load;
        accepted_load_error: Option<f64> = Load, "error of the accepted load", "Half the width of its 95 % interval." => loads::accepted_load_error;
        accepted_load_min: Option<f64> = Load, "least accepted load", "What was accepted of the source of which least was.", seeds Least => loads::accepted_load_min;
        fairness: Option<f64> = Share, "fairness", "Jain's index (1984) of what was accepted of each source against what it offered: 1 if all are alike, 1 / n if there is one only." => loads::fairness;
        saturated: Option<String> = Text, "saturated", "Why the network is said not to keep up; null where it is not." => |run| (run.judgement.state == LoadState::Saturated).then(|| run.judgement.because.clone());
        warmup_ns: f64 = Nanoseconds, "warm-up", "The end of the warm-up: messages born earlier are not measured." => |run| ns(run.warmup as f64);
        bytes_delivered: u64 = Bytes, "bytes delivered", "Bytes that were delivered.", parts Sum => |run| run.harvest.stats.packet_bytes;
        throughput as "throughput_MiBps": Option<ThroughputSummary> = Group, "throughput", "Rates over the senders of pairs, from the first send of each to its last acknowledgement or delivery; null without pairs." => throughput::of;
        #[serde(skip_serializing_if = "Vec::is_empty")]
        jobs: Vec<JobSummary> = List, "jobs", "The jobs that do something, in the order of the study." => jobs::of;
        #[serde(skip_serializing_if = "Option::is_none")]
        memory: Option<MemorySummary> = Group, "memory nodes", "The job of memory nodes: times are means over accesses unless they say otherwise; only there with such a job." => memory::of;
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<CostSummary> = Group, "cost", "What the network costs, and what it draws and takes for the run; only there with `[cost]`." => cost::of;
        #[serde(skip_serializing_if = "Vec::is_empty")]
        rail_bytes: Vec<u64> = List, "bytes by rail", "Bytes that came by each rail of the hosts; only where they have several.", parts Sum => |run| run.harvest.rails.clone();
        events: u64 = Count, "events", "Events of the simulation.", parts Sum => |run| run.outcome.events;
        cpu_s: f64 = Seconds, "CPU time", "CPU time of the simulation, set-up excluded.", seeds Sum, parts Sum => |run| run.harvest.cpu.as_secs_f64();
        build_s: f64 = Seconds, "CPU time of the set-up", "CPU time of building network, tables and programs.", seeds Sum => |run| run.build.as_secs_f64();
        peak_rss_bytes: u64 = Bytes, "peak memory", "Largest resident memory of a process that simulated; 0 where the system does not say.", seeds Greatest, parts Greatest => |run| run.harvest.peak_memory.max(peak_memory());
        digest: String = Text, "digest", "Digest of everything that happened, the same on every engine." => |run| format!("{:016x}", run.digest);
        engine: &'static str = Text, "engine", "Which engine ran." => |run| run.engine;
        execution: Execution = Group, "execution", "How the run was executed; depends on the machine and its mood, never changes the result." => execution::of;
        n_nodes: u32 = Count, "nodes", "Nodes of the network." => |run| run.net.n_nodes();
        n_routers: u32 = Count, "routers", "Routers of the network." => |run| run.net.n_routers();
        notes: Vec<String> = List, "notes", "What the run says of itself in words." => notes;
        limits: Vec<String> = List, "limits", "What the models that it used leave out." => |run| limits(run.spec);
    }
}
