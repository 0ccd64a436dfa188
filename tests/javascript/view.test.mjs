/* The page of `fabricsim view`: which rows are made, where keys lead, what is said of a folder. */
import assert from "node:assert/strict";
import test from "node:test";
import { forkOf, keysOf, stateWords } from "../../python/fabricsim/view/js/fork.js";
import { rowAfter, windowOf } from "../../python/fabricsim/view/js/rows.js";
import { badge, merged, shareOf } from "../../python/fabricsim/view/js/states.js";

test("rows in sight are made, and a few beyond", () => {
  assert.deepEqual(windowOf(0, 320, 10000), [0, 22]);
  assert.deepEqual(windowOf(32 * 9990, 320, 10000), [9978, 10000]);
  assert.deepEqual(windowOf(32 * 9990, 320, 3), [0, 3]);
  assert.deepEqual(windowOf(0, 320, 0), [0, 0]);
});

test("keys lead to rows that are there", () => {
  assert.equal(rowAfter("ArrowDown", -1, 5, 3), 0);
  assert.equal(rowAfter("ArrowUp", 0, 5, 3), 0);
  assert.equal(rowAfter("PageDown", 3, 5, 3), 4);
  assert.equal(rowAfter("End", 0, 5, 3), 4);
  assert.equal(rowAfter("x", 0, 5, 3), null);
});

test("the worst that is to be said of a folder is its badge", () => {
  const state = { phase: "running", n_findings: 0 };
  assert.deepEqual(badge({ state, runs: [{ ok: true }] }), ["", "running"]);
  assert.equal(badge({ state, runs: [{ ok: false }] })[0], "bad");
  assert.deepEqual(badge({ state: { phase: "complete", n_findings: 2 }, runs: [] }), ["bad", "2 damaged files"]);
  assert.equal(badge({ state: { phase: "interrupted", n_findings: 0 }, runs: [] })[0], "warn");
});

test("runs that come in have their places in the study", () => {
  const data = { order: ["a", "b", "c"], runs: [{ id: "a" }, { id: "c" }] };
  const found = merged(data, [{ id: "b" }, { id: "c", ok: true }]).runs;
  assert.deepEqual(found, [{ id: "a" }, { id: "b" }, { id: "c", ok: true }]);
  assert.equal(shareOf({ finished: 1, total: 4 }), 0.25);
  assert.equal(shareOf({ finished: 0, total: 0 }), 0);
});

test("keys of a fork are read as they are written in a study", () => {
  assert.deepEqual(keysOf(""), {});
  assert.deepEqual(keysOf('routing.threshold = "8 KiB", job.0.placement=random'), {
    "routing.threshold": "8 KiB",
    "job.0.placement": "random",
  });
  assert.deepEqual(keysOf("topology.shape = [4, 4]\nrun.seeds = [1, 2]"), { "topology.shape": "[4, 4]", "run.seeds": "[1, 2]" });
  assert.deepEqual(keysOf('job.0.work = { kind = "ring", message = "1 KiB" }'), {
    "job.0.work": '{ kind = "ring", message = "1 KiB" }',
  });
  assert.throws(() => keysOf("routing.kind"), /no key with its value/);
});

test("a fork asks for what fails from the time given, or for keys alone", () => {
  const where = { folder: "a", run: "b" };
  const asked = { way: "0.5", at: " 3 us ", until: "", keys: "" };
  const cable = { cables: ["x"] };
  assert.deepEqual(forkOf(where, cable, asked), { ...where, sets: {}, ...cable, at: "3 us", keeps: 0.5 });
  assert.deepEqual(forkOf(where, cable, { ...asked, way: "dead", at: "", until: "9 us" }), {
    ...where,
    sets: {},
    ...cable,
    at: "0 s",
    until: "9 us",
  });
  assert.equal(forkOf(where, { nodes: [3] }, asked).keeps, undefined);
  assert.deepEqual(forkOf(where, null, { ...asked, keys: "a.b = 1" }), { ...where, sets: { "a.b": "1" } });
  assert.equal(stateWords({ state: "running", name: "x" }), "With x: is running.");
});
