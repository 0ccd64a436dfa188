import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, curvesOf, drawingOf } from "../../python/fabricsim/report/js/answers.js";
import { drawCampaign } from "../../python/fabricsim/report/js/campaign.js";
import { inShortUnits } from "../../python/fabricsim/report/js/chart.js";
import { chooser } from "../../python/fabricsim/report/js/elements.js";
import { pointWords } from "../../python/fabricsim/report/js/metrics.js";
import { csvOf, fileName } from "../../python/fabricsim/report/js/saving.js";
import { alongOf, isLoadAgainstLoad } from "../../python/fabricsim/report/js/sweeps.js";
import { amount, scaledLabel, scaledUnit } from "../../python/fabricsim/report/js/units.js";
import { campaign, run } from "./campaigns.mjs";
import { emptyPage, headings } from "./page.mjs";

const LOAD = "job.0.work.load";

const loads = () =>
  [0.2, 0.8].map((load) => {
    const verdict = { ok: true, state: load > 0.5 ? "saturated" : "ok", checks: [] };
    const sweep = [
      ["routing.kind", "ugal"],
      [LOAD, String(load)],
    ];
    return run(`r${load}`, sweep, { offered_load: load, accepted_load: load > 0.5 ? 0.6 : load, verdict });
  });

test("numbers are shown in the unit in which they are short", () => {
  assert.deepEqual(scaledUnit("ns", 3e8), [1e-6, "ms"]);
  assert.deepEqual(scaledUnit("GB/s", 3e8), [1, "GB/s"]);
  assert.equal(amount(300_000_000, "ns"), "300 ms");
  assert.equal(amount(2048, "B"), "2 KiB");
  assert.equal(amount(12, "ns"), "12 ns");
  assert.equal(amount(null, "ns"), "\u2013");
  assert.deepEqual(scaledLabel("mean latency [ns]", 5e3), [1e-3, "mean latency [us]"]);
  assert.deepEqual(scaledLabel("accepted load", 0.5), [1, "accepted load"]);
  assert.deepEqual(scaledLabel("mean latency [ns]", -Infinity), [1, "mean latency [ns]"]);
});

test("a chart is scaled as a whole, with the ranges of its seeds", () => {
  const series = [{ name: "", points: [[1000, 2e6, 1e6, 3e6, "saturated", true]] }];
  const found = inShortUnits({ series, xLabel: "latency [ns]", yLabel: "time [ns]" });
  assert.deepEqual([found.xLabel, found.yLabel], ["latency [us]", "time [ms]"]);
  assert.deepEqual(found.series[0].points, [[1, 2, 1, 3, "saturated", true]]);
});

test("lines have their keys, unless a value has a name", () => {
  assert.equal(pointWords([["routing.kind", "ugal"]]), "routing = ugal");
  assert.equal(pointWords([["routing", "eager"]]), "eager");
  assert.equal(pointWords([["job.0.work", "large"]]), "large");
  assert.equal(pointWords([["routing", '{ kind = "ugal", bias = 0 }']]), "routing = ugal bias=0");
  assert.equal(
    pointWords([
      [LOAD, "0.5"],
      ["link.latency", "1 us"],
    ]),
    "load = 0.5, link.latency = 1 us",
  );
  const placed = (first, second) =>
    pointWords([
      ["job.0.placement", first],
      ["job.1.placement", second],
      ["job.0.work.kind", "ring"],
    ]);
  assert.equal(placed("linear", "linear"), "placement = linear, work = ring");
  assert.equal(placed("linear", "random"), "job.0.placement = linear, job.1.placement = random, work = ring");
});

test("a load stands along the axis, and what is accepted beside what is offered", () => {
  const runs = loads();
  assert.equal(alongOf(runs, ["link.latency", LOAD]), LOAD);
  assert.ok(isLoadAgainstLoad(runs, LOAD, "accepted_load"));
  assert.ok(!isLoadAgainstLoad(runs, LOAD, "latency_ns.mean"));
  const silent = runs.map((one) => ({ ...one, summary: { ...one.summary, offered_load: 0.1 } }));
  assert.ok(!isLoadAgainstLoad(silent, LOAD, "accepted_load"));
});

test("the answer stands first, with its figure, and points that did not keep up are hollow", () => {
  const figures = [{ kind: "lines", experiment: "", x: LOAD, y: "accepted_load" }];
  const page = emptyPage();
  drawCampaign(campaign(loads(), { answers: [{ question: "How much?", sentence: "Up to 0.2.", figures }] }));
  assert.equal(headings(page)[0], "How much?");
  const [drawn] = page.main.all("svg");
  const dots = drawn.all("circle").filter((dot) => dot.attributes.stroke === "#2f74c0");
  assert.deepEqual(
    dots.map((dot) => dot.attributes.fill),
    ["#2f74c0", "var(--card)"],
  );
  assert.equal(drawn.all("line").filter((line) => line.attributes.class === "diagonal").length, 1);
  assert.match(page.main.textContent, /Up to 0\.2\.Hollow points/);
});

test("a figure of runs that are not there is not drawn", () => {
  assert.equal(drawingOf({ kind: "cdf", run: "x" }, campaign([])), null);
  const bars = barsOf({ names: ["a"], values: [2], remarks: ["saturated"], label: "time [ns]", over: "routing.kind" });
  assert.deepEqual([bars.names, bars.xLabel, bars.series[0].points], [["a"], "routing.kind", [[0, 2, 2, 2, "saturated"]]]);
});

test("lines of a search have the points that it measured", () => {
  const found = curvesOf({ x: "offered load", y: "accepted load", lines: [{ name: "dor", points: [[0.9, 0.8, "saturated"]] }] });
  assert.deepEqual(found.series[0].points, [[0.9, 0.8, 0.8, 0.8, "saturated"]]);
  assert.equal(found.diagonal, false);
});

test("what a chart shows is a table", () => {
  const line = { name: 'a, "b"', points: [[0, 2, 1, 3, "saturated", true]] };
  const chart = { xLabel: "x", yLabel: "time [ns]", names: ["one"] };
  assert.equal(csvOf(chart, [line]), 'line,x,time [ns],least,greatest,remark\n"a, ""b""",one,2,1,3,"saturated, more than"\n');
  assert.equal(fileName({ xLabel: "load", yLabel: "mean latency [ns]" }), "mean-latency-load");
});

test("menus of one kind choose together what both offer", () => {
  emptyPage();
  const told = [];
  const menu = (name, keys) => {
    const options = keys.map((key) => [key, key]);
    return chooser(name, options, keys[0], (key) => told.push(`${name} ${key}`), { link: "test" }).all("select")[0];
  };
  const [first, second, third] = [menu("first", ["a", "b"]), menu("second", ["a", "b"]), menu("third", ["a"])];
  first.value = "b";
  first.listeners.change();
  assert.deepEqual([told, second.value, third.value], [["first b", "second b"], "b", undefined]);
});

test("claims that were not measured are folded, and not red", () => {
  const claim = (id, verdict) => ({ id, paper: "p", expect: "yes", ours: "", verdict, because: "", measure: "m", perturbed: "" });
  const page = emptyPage();
  drawCampaign(campaign([], { claims: [claim("c1", "agrees"), claim("c2", "not measured")] }));
  const [folded] = page.main.all("details");
  assert.match(folded.textContent, /^1 claim not measured/);
  assert.equal(folded.all("span")[0].className, "soft");
  assert.match(page.main.textContent, /1 of 1 claims agree, 1 not measured/);
});
