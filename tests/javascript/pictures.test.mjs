/* Pictures of networks: their cables and cells, what is drawn of their loads, what is under a place, which time is shown. */
import assert from "node:assert/strict";
import test from "node:test";
import { changeWords, figureCells } from "../../python/fabricsim/view/js/beside.js";
import { firstOf } from "../../python/fabricsim/view/js/choice.js";
import { linksOf, portsOf, useWords } from "../../python/fabricsim/view/js/link.js";
import { chunksOf, loader } from "../../python/fabricsim/view/js/loader.js";
import {
  groupScene,
  groupsScene,
  jobsAt,
  keyed,
  linkName,
  loadsOf,
  matrixScene,
  networkOf,
  routersScene,
} from "../../python/fabricsim/view/js/net.js";
import { distanceToCable } from "../../python/fabricsim/view/js/painter.js";
import { countWords, durationWords, failedLines, leftWords } from "../../python/fabricsim/view/js/progress.js";
import { addLoads, idleOf, palette, pixelsOf, squaresOf } from "../../python/fabricsim/view/js/raster.js";
import { failedWords, hottestOf, sceneIn } from "../../python/fabricsim/view/js/side.js";
import { firstMode, missingWords, player, timeWords } from "../../python/fabricsim/view/js/stage.js";
import { stepAfter, stepsOf, windowAt } from "../../python/fabricsim/view/js/steps.js";

const packed = (Kind, values) => btoa(String.fromCharCode(...new Uint8Array(Kind.from(values).buffer)));

/* Two groups of two routers, one node each: a ring of which 1-3 and 0-2 lead from group to group; 0-1 has two cables. */
const pairs = [
  [0, 1],
  [0, 1],
  [0, 2],
  [1, 0],
  [1, 0],
  [1, 3],
  [2, 3],
  [2, 0],
  [3, 2],
  [3, 1],
];
const told = {
  label: "ring",
  routers: {
    name: ["a", "b", "c", "d"],
    x: packed(Float32Array, [0, 0, 1, 1]),
    y: packed(Float32Array, [0, 1, 0, 1]),
    group: packed(Int32Array, [0, 0, 1, 1]),
    nodes: packed(Uint32Array, [1, 1, 1, 1]),
  },
  groups: ["g0", "g1"],
  links: {
    router: packed(
      Uint32Array,
      pairs.map(([a]) => a),
    ),
    port: packed(Uint32Array, [0, 1, 2, 0, 1, 2, 0, 1, 0, 1]),
    peer: packed(
      Uint32Array,
      pairs.map(([, b]) => b),
    ),
    class: packed(
      Uint8Array,
      pairs.map(() => 1),
    ),
    name: packed(
      Uint32Array,
      pairs.map(() => 0),
    ),
  },
  port_names: ["x+"],
  classes: ["host", "local"],
  failed: { cables: [[1, 2, "b y+"]], impaired: [], routers: [], nodes: [] },
  jobs: [
    { name: "one", routers: packed(Uint32Array, [0, 1]) },
    { name: "two", routers: packed(Uint32Array, [1, 3]) },
  ],
  windows: { begin_ns: [0, 10, 20], end_ns: [10, 20, 25], mean: [0, 0, 0], most: [0, 0, 0] },
  whole: true,
};
const net = networkOf(told);
/* Loads of the ten links, then of the four routers' links to nodes. */
const bytes = Uint8Array.from([10, 20, 0, 0, 5, 250, 0, 0, 0, 30, 0, 9, 0, 0]);

const named = (scene, loads) => scene.edges.a.map((a, i) => [scene.dots.name(a), scene.dots.name(scene.edges.b[i]), loads[i]]);

test("cables have the load of their busiest link, or the mean, and dots that to their nodes", () => {
  const scene = routersScene(net);
  const loads = loadsOf(scene.edges, bytes, new Uint8Array(4));
  assert.deepEqual(named(scene, loads), [
    ["a", "b", 20],
    ["a", "c", 0],
    ["b", "d", 250],
    ["c", "d", 0],
  ]);
  assert.equal(loadsOf(scene.edges, bytes, new Uint8Array(4), true)[0], Math.round(35 / 4));
  assert.deepEqual([...loadsOf(scene.dots.own, bytes, new Uint8Array(4))], [0, 9, 0, 0]);
  assert.equal(linkName(net, 5), "b x+ \u2192 d");
});

test("groups are one dot each, with the links within as their own", () => {
  const scene = groupsScene(net);
  assert.deepEqual(named(scene, loadsOf(scene.edges, bytes, new Uint8Array(1))), [["g0", "g1", 250]]);
  assert.deepEqual([...loadsOf(scene.dots.own, bytes, new Uint8Array(2))], [20, 0]);
});

test("a group shows its routers, and the groups around it", () => {
  const scene = groupScene(net, 1);
  assert.deepEqual(
    scene.dots.x.map((_, i) => scene.dots.name(i)),
    ["c", "d", "g0"],
  );
  assert.deepEqual(named(scene, loadsOf(scene.edges, bytes, new Uint8Array(3))), [
    ["c", "g0", 0],
    ["d", "g0", 250],
    ["c", "d", 0],
  ]);
  assert.deepEqual([scene.routerOf(1), scene.groupOf(2), scene.dotOf(0), scene.dotOf(3)], [3, 0, -1, 1]);
});

test("routers in no group stand together", () => {
  const top = networkOf({ ...told, routers: { ...told.routers, group: packed(Int32Array, [0, 0, 1, -1]) } });
  assert.deepEqual(matrixScene(top).names, ["g0", "g1", "top"]);
  const scene = groupsScene(top);
  assert.deepEqual(
    scene.dots.x.map((_, i) => scene.dots.name(i)),
    ["g0", "g1", "top"],
  );
});

test("rows of the matrix send to columns, the diagonal is within", () => {
  const { n, cells } = matrixScene(net);
  const loads = loadsOf(cells, bytes, new Uint8Array(cells.keys.length));
  assert.equal(n, 2);
  assert.deepEqual(Object.fromEntries(cells.keys.map((key, i) => [key, loads[i]])), { 0: 20, 1: 250, 2: 30, 3: 0 });
  assert.deepEqual(linksOf(cells, cells.keys.indexOf(0), bytes).slice(0, 2), [1, 0]);
});

test("a network without groups shows its routers, a large one with groups these at first", () => {
  const flat = networkOf({ ...told, groups: [] });
  assert.equal(sceneIn(flat, { mode: "matrix", group: -1 }).kind, "network");
  assert.equal(firstMode(net), "network");
  const many = { ...net, routers: { x: new Float32Array(2000) } };
  assert.equal(firstMode(many), "groups");
  assert.equal(firstMode({ ...many, groups: [] }), "network");
});

test("nothing is lost in keys", () => {
  const { keys, start, items } = keyed(5, (i) => [7, -1, 3, 7, 3][i]);
  assert.deepEqual(
    [keys, [...start], [...items]],
    [
      [7, 3],
      [0, 2, 4],
      [0, 3, 2, 4],
    ],
  );
  assert.deepEqual(keyed(0, () => 1).keys, []);
});

test("jobs stand on their routers, several on one with their shares", () => {
  assert.deepEqual(jobsAt(net, routersScene(net)), [
    [0, [[0, 1]]],
    [
      1,
      [
        [0, 1],
        [1, 1],
      ],
    ],
    [3, [[1, 1]]],
  ]);
});

test("a pixel has the busiest of the cables that cross it", () => {
  const ends = [
    [0, 0, 4, 0],
    [2, 0, 2, 3],
  ];
  const lines = pixelsOf(2, (i) => ends[i], 5);
  assert.deepEqual([...lines.pixels], [0, 1, 2, 3, 4, 2, 7, 12, 17]);
  const idle = idleOf(20, lines);
  assert.deepEqual([idle[2], idle[17], idle[19]], [1, 1, 0]);
  for (const loads of [
    [100, 40],
    [40, 100],
  ]) {
    const frame = addLoads(idle.slice(), lines, loads);
    assert.equal(frame[2], 101);
    assert.equal(frame[4], loads[0] + 1);
    assert.equal(frame[19], 0);
  }
  assert.deepEqual([...squaresOf([[0, 0]], 3, 5, 4).pixels], [0, 1, 5, 6]);
  const colours = palette();
  assert.equal(colours[0], 0);
  assert.notEqual(colours[251], colours[2]);
});

test("what is near a cable is found along its bend", () => {
  assert.equal(distanceToCable(5, 0, [0, 0], [10, 0], 0), 0);
  assert.ok(distanceToCable(5, 1.2, [0, 0], [10, 0], 0.24) < 0.1, "the middle of a bent cable is half its bend aside");
  assert.ok(distanceToCable(5, 0, [0, 0], [10, 0], 0.24) > 1);
});

test("times lead to windows, also of runs that have ended", () => {
  const short = { begin_ns: [0, 15], end_ns: [15, 18] };
  assert.deepEqual(stepsOf([net.windows, short, null]), [0, 10, 15, 20]);
  assert.deepEqual(
    [0, 9.9, 10, 24].map((time) => windowAt(net.windows, time)),
    [0, 0, 1, 2],
  );
  assert.equal(windowAt(short, 20), null);
  assert.equal(windowAt(null, 0), -1);
  assert.equal(windowAt({ begin_ns: [], end_ns: [] }, 0), -1);
  assert.deepEqual(stepsOf([null]), []);
  assert.equal(timeWords(net.windows, 10), "window 2 of 3: 10 ns to 20 ns");
  assert.equal(timeWords(net.windows, null), "the whole run");
});

test("keys lead to steps that are there", () => {
  assert.deepEqual(
    ["ArrowRight", "ArrowLeft", "End", "Home", "PageUp", "x"].map((key) => stepAfter(key, 1, 3)),
    [2, 0, 2, 0, 2, null],
  );
  assert.equal(stepAfter("ArrowRight", 0, 0), null);
});

test("what is not recorded is said with the key that records it", () => {
  assert.equal(missingWords([net]), "");
  assert.match(missingWords([{ whole: true, windows: null }]), /no windows were observed.*links_every/);
  assert.match(missingWords([{ whole: false, windows: null }]), /observe\.links = true/);
  assert.match(missingWords([{ whole: true, windows: { begin_ns: [] } }]), /Nothing was sent/);
});

test("the hottest links come first, idle ones not at all, and what has failed is named", () => {
  assert.deepEqual(hottestOf(net, bytes, 3), [
    [5, 250],
    [9, 30],
    [1, 20],
  ]);
  assert.deepEqual(hottestOf(net, new Uint8Array(14), 3), []);
  assert.equal(failedWords(net), "1 dead link (b y+)");
  assert.deepEqual(portsOf(net, 1), [3, 3]);
});

test("windows are fetched ahead, whole answers at a time, and far ones forgotten", async () => {
  assert.deepEqual(chunksOf(4e6), [1, 24]);
  assert.equal(chunksOf(10)[0], 64);
  const calls = [];
  const fetchBytes = async (first, count) => {
    calls.push([first, count]);
    return Uint8Array.from({ length: 2 * count }, (_, i) => 2 * first + i);
  };
  let ready = 0;
  const give = loader(2, 100, fetchBytes, () => ready++, assert.fail);
  assert.equal(give(0), null);
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([...give(3)], [6, 7]);
  assert.deepEqual(calls, [
    [0, 64],
    [64, 64],
  ]);
  assert.equal(ready, 2);
  assert.equal(give(-1), null);
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([...give(-1)], [254, 255]);
});

test("the player shows every window, none twice, at its pace", () => {
  const frames = [];
  let [steps, able] = [0, true];
  const found = player(
    () => 10,
    () => {
      if (able) steps++;
      return able;
    },
    (tick) => frames.push(tick),
  );
  found.set(true);
  const begin = performance.now();
  for (let ms = 1; ms <= 1000; ms += 10) frames.shift()(begin + ms);
  assert.ok(steps >= 9 && steps <= 12, `${steps} steps in a second at 10 a second`);
  able = false;
  const before = steps;
  for (let ms = 1000; ms <= 2000; ms += 10) frames.shift()(begin + ms);
  assert.equal(steps, before);
  found.set(false);
  frames.shift()(begin + 3000);
  assert.equal(frames.length, 0);
});

test("runs with loads over time are shown first", () => {
  const runs = [{ id: "a" }, { id: "b", tables: ["links"] }, { id: "c", tables: ["links", "link_windows"] }];
  assert.equal(firstOf(runs).id, "c");
  assert.equal(firstOf(runs.slice(0, 2)).id, "b");
  assert.equal(firstOf([]), null);
});

test("figures have their units, and changes their signs", () => {
  const figure = { key: "latency_ns.mean", word: "mean latency", unit: "ns", first: 1500, second: 3000, change: 1 };
  assert.deepEqual(figureCells(figure), ["mean latency [us]", "1.5", "3", "+100 %"]);
  assert.equal(changeWords(-0.1234), "\u221212.3 %");
  assert.equal(changeWords(null), "not known");
  assert.deepEqual(figureCells({ ...figure, at_least: [true, false], change: null }).slice(1), ["> 1.5", "3", "not known"]);
  assert.equal(useWords({ messages: 1, bytes: 2048, held_ns: 1500 }), "1 message, 2 KiB, held up for 1.5 us");
});

test("a campaign says how far it is, and how sure it is of the time left", () => {
  const left = { seconds: 600, low: 480, high: 900 };
  const state = { finished: 3, total: 10, running: [{}, {}], n_failed: 1, left, phase: "running" };
  assert.equal(
    countWords(state),
    "3 of 10 runs \u00b7 2 running \u00b7 1 failed \u00b7 about 10 min left (nine in ten: 8 min to 15 min)",
  );
  assert.equal(countWords({ finished: 3, total: 10, left, phase: "interrupted" }), "3 of 10 runs");
  assert.match(leftWords({ seconds: 5, low: null, high: null }), /as predicted/);
  assert.equal(leftWords(null), "");
  assert.equal(durationWords(7200), "2 h");
  assert.deepEqual(failedLines({ failed: [{ label: "x", kind: "fault", message: "killed" }], n_failed: 3 }), [
    "x: no result: killed",
    "and 2 more failed runs",
  ]);
});
