import assert from "node:assert/strict";
import { test } from "node:test";
import { routesBadge } from "../../python/fabricsim/analyses/routes/comparison.js";
import { pixelOf } from "../../python/fabricsim/analyses/routes/graph.js";
import { drawRoutes, notesOf } from "../../python/fabricsim/analyses/routes/page.js";
import { emptyPage, headings } from "./page.mjs";

const bytes = (...values) => btoa(String.fromCharCode(...values));

const row = {
  ...{
    mean_hops: 1.5,
    max_hops: 2,
    max_paths: 8,
    mean_paths: 4,
    unused_channels: 0,
    uniform_bound: 0.5,
    ebb: 0.7,
    ebb_ci95: 0.01,
  },
  ...{ ebb_both_ways: 0.6, ebb_both_ways_ci95: 0.01, shift_mean: 0.4, shift_max_congestion: 3, racks_mean: 0.8 },
  ...{ lanes: 2, lanes_used: 1, deadlock_free: true, broken_pairs: 0 },
};

const engine = (name, more = {}) => ({
  name,
  row: { ...row, ...more },
  about: { note: "a remark" },
  loads: [
    [50, 100],
    [8, 4],
  ],
  shifts: [
    [1, 2],
    [0.5, 0.4],
    [2, 3],
  ],
  graph: { rows: 2, step: 1, cells: bytes(255, 250, 100, 255) },
  use: bytes(250, 125),
  most: 8,
  summary: {
    lengths: { histogram: [0, 4, 2] },
    lanes: [{ lane: 0, pairs: 6, free: false, cycle: ["a", "b"] }],
    hottest: [{ from: "a", port: 1, to: "b", peer_port: 2, paths: 8 }],
    racks: { size: 2, each: [0.8] },
    demand: null,
    broken_examples: [],
  },
});

const study = (engines) => ({
  source: "fabric",
  fabric: { hosts: 4, switches: 2, cables: 1, lmc: 0, rates: ["100 Gbit/s"], notes: ["seen"] },
  engines,
  refused: { ftree: "ftree: no tree" },
  network: {
    routers: [
      [0, "a", 0, 0, 2],
      [1, "b", 1, 1, 2],
    ],
    ends: [
      [0, 1],
      [1, 0],
    ],
  },
  provenance: { version: "1.2.3" },
});

test("a page of routes has every section, in order", () => {
  const page = emptyPage();
  drawRoutes(study([engine("minhop"), engine("dfsssp"), engine("sssp")]));
  assert.deepEqual(headings(page), [
    "Side by side",
    "Bandwidth that patterns get",
    "Paths",
    "Shifts",
    "Where the paths are",
    "Every pair of hosts (mpiGraph)",
    "Racks",
    "Lanes and deadlock",
    "What to keep in mind",
    "Where this comes from",
  ]);
  const text = page.main.textContent;
  for (const part of ["1 of 2", "0.700 \u00b1 0.010", "refused: no tree", "a \u2192 b \u2192 a", "8 paths"])
    assert.ok(text.includes(part), part);
  assert.ok(!text.includes("undefined") && !text.includes("NaN"));
});

test("a fabric without tables has a page", () => {
  const page = emptyPage();
  drawRoutes(study([]));
  assert.ok(headings(page).includes("Side by side"));
});

test("lost pairs are worse than a deadlock", () => {
  assert.deepEqual(routesBadge([engine("a")]), ["", "no lane can deadlock"]);
  assert.deepEqual(routesBadge([engine("a", { deadlock_free: false })]), ["warn", "a can deadlock"]);
  const broken = engine("b", { broken_pairs: 3, deadlock_free: false });
  assert.deepEqual(routesBadge([broken]), ["bad", "b: hosts that do not reach each other"]);
  assert.ok(notesOf(study([broken])).includes("b: 3 pairs of hosts do not reach each other"));
});

test("pairs that have no bandwidth are grey", () => {
  assert.deepEqual(pixelOf(255), [128, 128, 128, 60]);
  assert.deepEqual(pixelOf(250), [196, 212, 230, 255]);
});
