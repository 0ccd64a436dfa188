import assert from "node:assert/strict";
import { test } from "node:test";
import { checksOf } from "../../python/fabricsim/report/js/checks.js";
import { badgeOf } from "../../python/fabricsim/report/js/header.js";
import { columnsOf, sortedBy } from "../../python/fabricsim/report/js/runs.js";
import { atLeast, lost, numberOf, stateOf, withoutSeed } from "../../python/fabricsim/report/js/states.js";
import { campaign, run } from "./campaigns.mjs";

const inState = (state) => run(state, [], { verdict: { ok: true, state } });

test("a run is in the state of its verdict, and before there were states saturated where it says so", () => {
  assert.equal(stateOf(inState("unsettled")), "unsettled");
  assert.equal(stateOf({ summary: { saturated: "because" } }), "saturated");
  assert.equal(stateOf({ summary: {} }), "ok");
});

test("what a figure is not below is told only where the figure is absent", () => {
  const bound = run("a", [], { latency_ns: { mean: null, mean_at_least: 1500 } });
  assert.equal(atLeast(bound, "latency_ns.mean"), 1500);
  assert.equal(numberOf(bound, "latency_ns.mean"), "> 1,500");
  assert.equal(atLeast(run("b", []), "latency_ns.mean"), undefined);
  assert.equal(numberOf(run("b", []), "latency_ns.mean"), 100);
});

test("messages that have not arrived are a share of those measured", () => {
  assert.equal(lost(run("a", [], { not_arrived: 0.25 })), 0.25);
  assert.equal(lost(run("a", [])), 0);
});

test("a label without its seed names the point", () => {
  assert.equal(withoutSeed(run("a", [["load", "1"]])), "load=1");
  assert.equal(withoutSeed(run("a", [])), "a");
});

test("the badge says the worst of a campaign", () => {
  const of = (runs, more) => badgeOf(campaign(runs, more));
  assert.deepEqual(of([run("a", [])]), ["", "all self-checks passed"]);
  assert.deepEqual(of([inState("saturated"), inState("unsettled"), run("a", [])]), [
    "warn",
    "1 of 3 runs saturated, 1 of 3 runs unsettled",
  ]);
  assert.deepEqual(of([inState("saturated")], { total_runs: 2 }), ["warn", "1 of 2 runs finished"]);
  const failed = { ...run("a", []), ok: false };
  assert.deepEqual(of([failed], { total_runs: 2 }), ["bad", "1 failed self-check: do not use these numbers"]);
  assert.equal(of([failed, failed])[1], "2 failed self-checks: do not use these numbers");
});

test("checks are counted over runs, and those that fail are named", () => {
  const bad = run("b", [], { verdict: { ok: false, checks: [{ name: "conservation", ok: false, detail: "1 lost" }] } });
  const found = checksOf([run("a", []), bad]).get("conservation");
  assert.deepEqual([found.passed, found.failed[0][1]], [1, "1 lost"]);
});

test("rows are sorted by the size of quantities, not by their texts", () => {
  const runs = ["100 GB/s", "25 GB/s", "200 Gbit/s"].map((value) => run(value, [["link.bandwidth", value]]));
  const { value } = columnsOf(campaign(runs)).find(({ name }) => name === "link.bandwidth");
  const order = (sign) => sortedBy(runs, value, sign).map(({ id }) => id);
  assert.deepEqual(order(1), ["25 GB/s", "200 Gbit/s", "100 GB/s"]);
  assert.deepEqual(order(-1), ["100 GB/s", "25 GB/s", "200 Gbit/s"]);
});
