import assert from "node:assert/strict";
import { test } from "node:test";
import { logTicks, placer, ticks, xAxis, yAxis } from "../../python/fabricsim/report/js/axes.js";
import {
  axisName,
  axisOf,
  chartMetrics,
  figureOf,
  firstAxis,
  label,
  metricsOf,
  tableMetrics,
  together,
} from "../../python/fabricsim/report/js/metrics.js";
import { firstMetrics, linesOf } from "../../python/fabricsim/report/js/sweeps.js";
import { WORDS, campaign, everything, run } from "./campaigns.mjs";

test("marks are round numbers within the ends", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  assert.deepEqual(ticks(5, 5, 5), [5]);
  assert.deepEqual(logTicks(1, 100), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(logTicks(1, 1e6), [1, 10, 100, 1000, 10000, 1e5, 1e6]);
});

test("an x axis is logarithmic where values span far", () => {
  assert.deepEqual(xAxis([1, 8, 64], {}), { low: 1, high: 64, log: true });
  assert.equal(xAxis([1, 64], {}).log, false);
  assert.equal(xAxis([0, 8, 64], {}).log, false);
  assert.equal(xAxis([1, 8, 64], { log: false }).log, false);
  assert.deepEqual(xAxis([0, 1], { names: ["a", "b"] }), { low: -0.6, high: 1.6, log: false });
  assert.deepEqual(xAxis([4], {}), { low: 2, high: 6, log: false });
});

test("a y axis begins at zero unless it is logarithmic", () => {
  assert.deepEqual(yAxis([10, 60], {}), { low: 0, high: 63.6, log: false });
  assert.deepEqual(yAxis([1, 60], {}), { low: 1, high: 60, log: true });
  assert.deepEqual(yAxis([1, 60], { yMax: 80 }), { low: 0, high: 80, log: false });
  assert.deepEqual(yAxis([0], {}), { low: 0, high: 1, log: false });
  assert.equal(yAxis([1, 60], { bars: true }).log, false);
});

test("places follow the scale of the axis", () => {
  assert.equal(placer({ low: 0, high: 10, log: false }, 100, 200)(5), 150);
  assert.equal(placer({ low: 1, high: 100, log: true }, 200, 0)(10), 100);
});

const of = (...values) => values.map((value, i) => run(`r${i}`, [["link.bandwidth", value]]));

test("values of one unit make an axis of numbers, all others one of names", () => {
  const numbers = axisOf(of("200 Gbit/s", "50 GB/s"), "link.bandwidth");
  assert.deepEqual([numbers.names, numbers.label, [...numbers.place.values()]], [null, "bandwidth [GB/s]", [25, 50]]);
  const mixed = axisOf(of("200 Gbit/s", "2 KiB"), "link.bandwidth");
  assert.deepEqual([mixed.names, mixed.label, [...mixed.place.values()]], [["200 Gbit/s", "2 KiB"], "bandwidth", [0, 1]]);
});

test("axes have words", () => {
  assert.equal(axisName("routing.kind", ""), "routing");
  assert.equal(axisName("topology.shape", "product"), "routers");
  assert.equal(axisName("n_nodes", "", WORDS), "nodes");
  assert.equal(axisName("job.0.work.message", "B"), "message [B]");
});

test("the first axis is one of numbers", () => {
  const runs = [
    run("a", [
      ["routing.kind", "dor"],
      ["link.latency", "1 us"],
    ]),
  ];
  assert.equal(firstAxis(runs, ["routing.kind", "link.latency"]), "link.latency");
  assert.equal(firstAxis(runs, ["routing.kind"]), "routing.kind");
});

test("metrics have the words of their figures, and those of charts are no sizes of networks", () => {
  const keys = (found) => found.map(([key]) => key);
  const data = campaign(of("1 GB/s"));
  assert.deepEqual(chartMetrics(data)[0], ["latency_ns.mean", "mean latency [ns]"]);
  assert.deepEqual(tableMetrics(data)[0], ["n_nodes", "nodes", 1]);
  const timed = (time_ns) =>
    tableMetrics({ words: WORDS, main: ["jobs.0.time_ns"], runs: [run("a", [], { jobs: [{ time_ns }] })] });
  assert.deepEqual(timed(20_000), [["jobs.0.time_ns", "time of the job [us]", 1e-3]]);
  assert.deepEqual(timed(3e8), [["jobs.0.time_ns", "time of the job [ms]", 1e-6]]);
  assert.ok(!keys(chartMetrics(data)).includes("n_nodes"));
  assert.ok(keys(chartMetrics(data)).includes("latency_ns.max") && !keys(tableMetrics(data)).includes("latency_ns.max"));
  assert.equal(chartMetrics(everything())[0][0], "jobs.0.time_ns");
});

test("only metrics that some run has are offered", () => {
  const keys = (runs) =>
    metricsOf(
      [
        ["jobs.0.time_ns", ""],
        ["latency_ns.mean", ""],
      ],
      runs,
    ).map(([key]) => key);
  assert.deepEqual(keys(of("1 GB/s")), ["latency_ns.mean"]);
  const ranked = [run("a", [], { jobs: [{ ranks: 2, time_ns: 5 }] })];
  assert.equal(keys(ranked)[0], "jobs.0.time_ns");
  const bound = [run("a", [], { latency_ns: { mean: null, mean_at_least: 7 } })];
  assert.ok(keys(bound).includes("latency_ns.mean"));
});

test("of two metrics with the same words the second one is told by its key", () => {
  const found = new Map(chartMetrics(everything()));
  assert.equal(found.get("latency_ns.mean"), "mean latency [ns]");
  assert.equal(found.get("jobs.0.latency_ns.mean"), "mean latency [ns] (jobs.0.latency_ns.mean)");
});

test("words are those of any place in a list, in another unit where numbers are shown in that", () => {
  assert.equal(label(WORDS, "jobs.3.time_ns", { shown: "us" }), "time of the job [us]");
  assert.equal(figureOf(WORDS, "link.bandwidth"), undefined);
});

test("several seeds have together what the figure says", () => {
  const values = [1, 4, 10];
  const found = (key) => together(WORDS, key, values);
  const keys = ["latency_ns.mean", "latency_ns.max", "latency_ns.min", "cpu_s", "link.bandwidth"];
  assert.deepEqual(keys.map(found), [5, 10, 1, 15, 5]);
  assert.equal(label(WORDS, "cpu_s", { several: true }), "CPU time, sum over seeds [s]");
  assert.equal(label(WORDS, "latency_ns.mean", { several: true }), "mean latency [ns]");
});

test("a sum over seeds has no range", () => {
  const runs = [1, 2].map((cpu, i) => run(`r${i}`, [["link.bandwidth", "50 GB/s"]], { cpu_s: cpu }));
  assert.deepEqual(linesOf(runs, "link.bandwidth", "cpu_s", WORDS).series[0].points, [[50, 3, 3, 3, "", false]]);
});

test("a swept load is answered by the load that is accepted", () => {
  const metrics = [
    ["latency_ns.mean", ""],
    ["accepted_load", ""],
    ["cpu_s", ""],
  ];
  assert.deepEqual(firstMetrics(metrics, [run("a", [["job.0.work.load", "0.5"]])]), ["latency_ns.mean", "accepted_load"]);
  assert.deepEqual(firstMetrics(metrics, of("1 GB/s")), ["latency_ns.mean", "accepted_load"]);
  const own = [
    ["peak_rss_bytes", ""],
    ["latency_ns.max", ""],
    ["cpu_s", ""],
  ];
  assert.deepEqual(firstMetrics(own, of("1 GB/s")), ["latency_ns.max", "latency_ns.max"]);
  assert.deepEqual(firstMetrics([["cpu_s", ""]], of("1 GB/s")), ["cpu_s", "cpu_s"]);
});

test("a point is the mean over seeds with their range, and says when it is only a bound", () => {
  const at = (id, bandwidth, mean, more) => run(id, [["link.bandwidth", bandwidth]], { latency_ns: { mean, ...more } });
  const runs = [at("a", "50 GB/s", 30), at("b", "50 GB/s", 10), at("c", "25 GB/s", null, { mean_at_least: 90 })];
  const [line] = linesOf(runs, "link.bandwidth", "latency_ns.mean").series;
  assert.deepEqual(line.points, [
    [25, 90, 90, 90, "", true],
    [50, 20, 10, 30, "", false],
  ]);
});

test("a point of what is greatest is the greatest over seeds", () => {
  const runs = [7, 9].map((max, i) => run(`r${i}`, [["link.bandwidth", "50 GB/s"]], { latency_ns: { max } }));
  const found = linesOf(runs, "link.bandwidth", "latency_ns.max", WORDS);
  assert.deepEqual([found.several, found.series[0].points], [true, [[50, 9, 7, 9, "", false]]]);
});

test("where one of the seeds has no number, or failed a self-check, there is no point", () => {
  const at = (width, ...found) =>
    found.map((mean, i) => run(`${width}-${i}`, [["link.bandwidth", width]], { latency_ns: { mean } }));
  const failed = { ...at("75 GB/s", 5)[0], ok: false };
  const runs = [...at("25 GB/s", 10, null), ...at("50 GB/s", 10, 30), ...at("75 GB/s", 5), failed];
  const [line] = linesOf(runs, "link.bandwidth", "latency_ns.mean", WORDS).series;
  assert.deepEqual(line.points, [[50, 20, 10, 30, "", false]]);
  const cost = (width, ...found) => found.map((cpu_s, i) => run(`${width}-${i}`, [["link.bandwidth", width]], { cpu_s }));
  const [sums] = linesOf([...cost("25 GB/s", 1), ...cost("50 GB/s", 1, 2)], "link.bandwidth", "cpu_s", WORDS).series;
  assert.deepEqual(sums.points, [[50, 3, 3, 3, "", false]]);
});
