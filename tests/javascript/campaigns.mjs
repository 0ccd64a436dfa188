/* Small campaigns as a report embeds them. */

const bytes = (...values) => btoa(String.fromCharCode(...values));

const MEMORY = ["l1", "l2", "bus", "inside", "directory", "owner", "memory", "memory_wait", "request", "forward", "response"];
const WAITS = ["request_wait", "forward_wait", "response_wait", "protocol"];

const words = (word, unit = "", seeds = "mean") => ({ word, unit, seeds });

/* Words of figures as a report embeds them. */
export const WORDS = {
  n_nodes: words("nodes"),
  "jobs.0.name": words("job", "", "apart"),
  "jobs.0.ranks": words("ranks"),
  "jobs.0.time_ns": words("time of the job", "ns"),
  "jobs.0.latency_ns.mean": words("mean latency", "ns"),
  "jobs.0.compute_ns": words("computing", "ns"),
  "jobs.0.wait_ns": words("waiting", "ns"),
  "jobs.0.overhead_ns": words("overheads", "ns"),
  "memory.accesses": words("accesses"),
  "memory.time_ns": words("time until the last access", "ns"),
  "memory.latency_ns": words("mean time of an access", "ns"),
  "memory.bottleneck": words("bottleneck", "", "apart"),
  "latency_ns.mean": words("mean latency", "ns"),
  "latency_ns.max": words("greatest latency", "ns", "greatest"),
  "latency_ns.min": words("least latency", "ns", "least"),
  not_arrived: words("not arrived"),
  accepted_load: words("accepted load"),
  cpu_s: words("CPU time", "s", "sum"),
};

/** Return a run with numbers of its own; what is given takes their place. */
export function run(id, sweep, summary = {}, more = {}) {
  const seed = more.seed ?? 1;
  return {
    id,
    experiment: "",
    seed,
    sweep,
    label: [...sweep.map(([key, value]) => `${key}=${value}`), `seed=${seed}`].join(" "),
    ok: true,
    links: null,
    summary: {
      n_nodes: 16,
      messages: 100,
      packet_hops: 300,
      cpu_s: 0.5,
      latency_ns: { mean: 100, p50: 90, p99: 200, max: 250 },
      accepted_load: 0.5,
      offered_load: 0.5,
      hops: { mean: 3 },
      digest: "d1",
      verdict: { ok: true, state: "ok", checks: [{ name: "conservation", ok: true, detail: "100 in, 100 out" }] },
      ...summary,
    },
    ...more,
  };
}

/** Return a campaign of runs. */
export const campaign = (runs, more = {}) => ({
  study: { name: "small", description: "A small one." },
  version: "1.2.3",
  provenance: { build: "1.2.3, no commit", "study hash": "abc", engine: "sequential", variant: "" },
  source: 'name = "small"',
  total_runs: runs.length,
  finished_runs: runs.length,
  claims: [],
  figures: [],
  networks: [],
  words: WORDS,
  columns: {
    cdf: ["latency [ns]", "fraction"],
    hops: ["hops", "packets"],
    timeline: ["time [ns]", "accepted load", "mean latency [ns]"],
  },
  metrics: ["n_nodes", "latency_ns.mean", "accepted_load", "cpu_s", "latency_ns.max"],
  main: ["n_nodes", "latency_ns.mean", "accepted_load", "cpu_s"],
  runs,
  ...more,
});

/** Return a campaign that has everything that a report can show. */
export function everything() {
  const memory = Object.fromEntries([...MEMORY, ...WAITS].map((name) => [`${name}_ns`, 5]));
  const job = { name: "ring", ranks: 4, time_ns: 2000, compute_ns: 500, wait_ns: 900, overhead_ns: 100 };
  const counts = { messages: 4, local_messages: 0, bytes: 4096, local_bytes: 0, finished: 4 };
  const hottest = [["a port 0 \u2192 b", 0.9, 0, 1]];
  const links = { hottest, quantiles: [], mean: 0.4, histogram: [1, 2, 1], network: 0, use: bytes(225, 100) };
  const spread = { unperturbed: 2000, min: 1900, median: 2000, max: 2600, relative: 0.35, runs: 2 };
  const summary = {
    jobs: [{ ...job, ...counts }],
    memory: { ...memory, accesses: 10, time_ns: 3000, latency_ns: 70, bottleneck: "the caches limit" },
    measured: 100,
    arrived: 90,
    not_arrived: 0.1,
    limits: ["credit: no flits"],
    notes: ["a note"],
    perturbed: { runs: 2, times: { "jobs.0.time_ns": spread } },
  };
  const curves = {
    cdf: [
      [90, 200],
      [0.5, 1],
    ],
    hops: [
      [2, 3],
      [10, 20],
    ],
    timeline: [
      [0, 10],
      [0.5, 0.5],
      [100, 110],
    ],
  };
  const busy = {
    latency_ns: { mean: null, mean_at_least: 900, p99: null },
    verdict: { ok: true, state: "saturated", because: "x" },
  };
  const runs = [
    run("r1", [["link.bandwidth", "10 GB/s"]], summary, { links, ...curves }),
    run("r2", [["link.bandwidth", "25 GB/s"]], { ...summary, ...busy }),
  ];
  const network = {
    name: "two",
    metrics: {},
    ends: "AAAAAAEAAAABAAAAAAAAAA==",
    routers: [
      [0, "a", 0, 0, 1],
      [1, "b", 1, 0, 1],
    ],
  };
  return campaign(runs, {
    claims: [
      { id: "c1", paper: "p", expect: "yes", ours: "no", verdict: "differs", because: "why", measure: "m", perturbed: "" },
    ],
    figures: [
      { title: "drawn", image: "data:image/png;base64," },
      { title: "absent", missing: "no run" },
    ],
    networks: [network],
    metrics: [
      "n_nodes",
      "jobs.0.time_ns",
      "latency_ns.mean",
      "accepted_load",
      "cpu_s",
      "latency_ns.max",
      "jobs.0.latency_ns.mean",
    ],
    main: ["n_nodes", "jobs.0.time_ns", "latency_ns.mean", "accepted_load", "cpu_s"],
  });
}
