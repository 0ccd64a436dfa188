/* The section with the pictures: one run or two side by side, one slider over time, one scale of colours, one set of choices. */
import { colourOf } from "../../report/js/colours.js";
import { FULL, busiest, ramp } from "../../report/js/drawing.js";
import { chooser, el, onResize } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { amount } from "../../report/js/units.js";
import { forkForm } from "./fork.js";
import { linkPanel, linksOf } from "./link.js";
import { groupNames, linkName, sizeOf } from "./net.js";
import { hottestOf, makeSide } from "./side.js";
import { stepAfter, stepsOf, windowAt } from "./steps.js";
import { drawLines, endOf } from "./timeline.js";

/* Routers from which on a network with groups is shown by groups at first. */
const MANY = 1500;
const HOTTEST = 8;
/* Windows a second. */
const SPEEDS = [
  ["4", "slow"],
  ["12", "normal"],
  ["60", "fast"],
];
/* Milliseconds between two lists of the hottest links while the picture moves. */
const LIST_MS = 250;

/** Say which window is shown. */
export function timeWords(windows, time) {
  if (time === null) return "the whole run";
  const window = windowAt(windows, time);
  if (window === null || window < 0) return `${amount(time, "ns")}`;
  const [begin, end] = [windows.begin_ns[window], windows.end_ns[window]];
  return `window ${number(window + 1)} of ${number(windows.begin_ns.length)}: ${amount(begin, "ns")} to ${amount(end, "ns")}`;
}

/** Say why there is nothing to slide over, or nothing at all; empty where there is. */
export function missingWords(nets) {
  const windows = 'observe.links_every = "1 us", say, records how busy every link is in windows of 1 us';
  if (nets.some((net) => net.windows && net.windows.begin_ns.length)) return "";
  if (nets.some((net) => net.windows)) return "Nothing was sent in any window.";
  if (nets.some((net) => net.whole)) return `The whole run is shown: no windows were observed. ${windows}.`;
  return `No loads of links were observed: observe.links = true records those of the whole run; ${windows}.`;
}

/** Tell whether links are told apart from several: where one dot or cell has many. */
const modesOf = (net) => [
  ["network", "routers"],
  ...(net.groups.length > 1
    ? [
        ["groups", "groups"],
        ["matrix", "group matrix"],
      ]
    : []),
];

/** Return where the picture begins: a large network by its groups. */
export const firstMode = (net) => (net.groups.length > 1 && sizeOf(net)[0] > MANY ? "groups" : "network");

function controlsOf(state, act) {
  const play = el("button", { type: "button", class: "plain", "aria-pressed": "false", onclick: act.play }, "play");
  const whole = el("button", { type: "button", class: "plain", "aria-pressed": "true", onclick: act.whole }, "whole run");
  const slider = el("input", {
    type: "range",
    min: "0",
    max: "0",
    value: "0",
    "aria-label": "window of the time",
    oninput: act.slide,
  });
  const jobs = el("input", { type: "checkbox", onchange: act.jobs });
  const speed = chooser("speed", SPEEDS, String(state.rate), (rate) => (state.rate = Number(rate)));
  const time = el("output", { class: "soft" });
  const lines = el(
    "div",
    { class: "lines" },
    el("canvas", { role: "img", "aria-label": "busiest link and mean of all links over time" }),
  );
  const key = el("p", { class: "soft" }, "Line: the busiest link; dashed: the mean of all.");
  const show = el("div", { class: "controls" }, el("label", {}, jobs, "jobs"), whole);
  const bar = el("div", { class: "controls time" }, play, slider, speed, time);
  return { play, whole, slider, jobs, speed, time, lines, key, show, bar };
}

/** Fill the choices of what is drawn, which depend on the network. */
function fillChoices(host, net, state, act) {
  const names = groupNames(net).map((name, i) => [String(i), name]);
  const parts = [chooser("show", modesOf(net), state.mode, act.mode)];
  if (net.groups.length > 1) parts.push(chooser("zoom into", [["-1", "all groups"], ...names], String(state.group), act.group));
  const several = [
    ["busiest", "the busiest"],
    ["mean", "their mean"],
  ];
  parts.push(chooser("of several links", several, state.mean ? "mean" : "busiest", act.mean));
  host.replaceChildren(...parts);
}

const legendOf = (net) =>
  net.jobs.map(({ name, routers }, job) =>
    el("span", { class: "key" }, el("i", { style: `background:${colourOf(job)}` }), `${name}, ${number(routers.length)} nodes`),
  );

/** Goes from step to step at a rate; `step` tells whether it could go on. */
export function player(rateOf, step, frame = requestAnimationFrame) {
  let [playing, last, due] = [false, 0, 0];
  const tick = (now) => {
    if (!playing) return;
    // Windows are never left out: what comes too late is shown later.
    due = Math.min(1, due + ((now - last) * rateOf()) / 1000);
    last = now;
    if (due >= 0.999 && step()) due = 0;
    frame(tick);
  };
  return {
    isOn: () => playing,
    set(on) {
      if (on && !playing) {
        [last, due] = [performance.now(), 1];
        frame(tick);
      }
      playing = on;
    },
  };
}

/** Make the section; what it returns shows one run or two. `forked` is told of forks that are done, where there may be some. */
export function makeStage(part, trouble, forked = null) {
  const state = { mode: "network", group: -1, mean: false, jobs: false, step: 0, whole: true, rate: 12 };
  const [pair, choices, told] = [
    el("div", { class: "pair" }),
    el("div", { class: "controls" }),
    el("p", { class: "warn", role: "status" }),
  ];
  const [legend, list, info] = [el("div", { class: "legend" }), el("ol", { class: "hot" }), el("div", { class: "link" })];
  const heading = el("h3", {}, "hottest links");
  const asking = el("div", { class: "fork" });
  const form = forked ? forkForm(asking, { forked, trouble }) : null;
  const panel = linkPanel(info, trouble, (side, found) => form && form.link(side, found));
  const own = { sides: [], steps: [], listed: 0 };
  const act = actions(state, own, { panel, legend, choices });
  const controls = controlsOf(state, act);
  const below = el("div", { class: "wide" }, el("div", { class: "found" }, info, asking), el("div", {}, heading, list));
  part.append(
    choices,
    controls.show,
    told,
    pair,
    ramp("idle", "always busy"),
    legend,
    controls.bar,
    controls.lines,
    controls.key,
    below,
  );
  Object.assign(act, { state, controls, told, list, heading, trouble, pair, form });
  own.player = player(
    () => state.rate,
    () => act.next(),
  );
  onResize(() => act.again());
  return { show: (places) => act.open(places), state, own };
}

/* What the section does: all of it goes through `paint`, which draws every side at the time of the slider. */
function actions(state, own, { panel, legend, choices }) {
  const act = { ready: () => own.sides.filter((side) => side.net) };
  const timeNow = () => (state.whole || !own.steps.length ? null : own.steps[state.step]);
  act.paint = () => {
    const done = act.ready().map((side) => side.paint(timeNow(), state));
    if (!done.every(Boolean)) return false;
    tellTime(state, own, act, timeNow());
    const now = performance.now();
    if (own.player.isOn() && now - own.listed < LIST_MS) return true;
    own.listed = now;
    for (const side of act.ready()) side.tell(modeWords(state));
    tellHottest(act, panel);
    return true;
  };
  /* Everything is laid out anew, for another width or another choice. */
  act.again = () => {
    for (const side of act.ready()) side.arrange(state);
    act.paint();
  };
  act.choose = () => {
    const [first] = act.ready();
    if (first) fillChoices(choices, first.net, state, act);
    act.again();
  };
  act.jobs = () => {
    state.jobs = act.controls.jobs.checked;
    const [first] = act.ready();
    legend.replaceChildren(...(state.jobs && first ? legendOf(first.net) : []));
    for (const side of act.ready()) if (side.own.scene) side.cover(state);
  };
  act.mode = (mode) => {
    Object.assign(state, { mode, group: -1 });
    act.choose();
  };
  act.group = (group) => {
    Object.assign(state, { mode: "groups", group: Number(group) });
    act.choose();
  };
  act.mean = (how) => {
    state.mean = how === "mean";
    act.paint();
  };
  moves(state, own, act);
  picks(act, panel);
  act.open = opener(state, own, act, panel);
  return act;
}

/* Moves through time. */
function moves(state, own, act) {
  act.next = () => {
    const [step, whole] = [state.step, state.whole];
    [state.step, state.whole] = [whole ? step : (step + 1) % Math.max(1, own.steps.length), false];
    if (act.paint()) return true;
    [state.step, state.whole] = [step, whole];
    return false;
  };
  act.to = (step) => {
    [state.step, state.whole] = [step, false];
    act.paint();
  };
  act.slide = () => act.to(Number(act.controls.slider.value));
  act.whole = () => {
    state.whole = !state.whole;
    act.paint();
  };
  act.play = () => {
    if (!own.steps.length) return;
    own.player.set(!own.player.isOn());
    const on = own.player.isOn();
    act.controls.play.textContent = on ? "pause" : "play";
    act.controls.play.setAttribute("aria-pressed", String(on));
    if (!on) act.paint();
  };
  act.keys = (event) => {
    const step = stepAfter(event.key, state.step, own.steps.length);
    if (event.key === "Escape" && state.group >= 0) act.group(-1);
    else if (event.key === " ") act.play();
    else if (step !== null) act.to(step);
    else return;
    event.preventDefault();
  };
}

/* Shows what was clicked. */
function picks(act, panel) {
  const pickCell = (side, { cell, row, column }) => {
    if (row === column) act.group(row);
    else panel.links(side, linksOf(side.own.scene.cells, cell, side.bytes()));
  };
  const pickDot = (side, dot) => {
    const { scene } = side.own;
    const group = scene.groupOf ? scene.groupOf(dot) : -1;
    if (group >= 0) act.group(group);
    else panel.router(side, scene.routerOf(dot));
  };
  act.picked = (side, { cell = -1, edge = -1, dot = -1, row, column }) => {
    for (const one of act.ready()) {
      one.own.chosen = one === side ? edge : -1;
      one.cover(act.state);
    }
    if (cell >= 0) pickCell(side, { cell, row, column });
    else if (dot >= 0) pickDot(side, dot);
    else if (edge >= 0) panel.links(side, linksOf(side.own.scene.edges, edge, side.bytes()));
    else panel.clear();
  };
}

/** Say how the picture is to be read where it does not say so itself. */
export function modeWords({ mode, group, jobs }) {
  if (mode === "matrix") {
    const words = "rows send to columns, the diagonal is within a group and leads into it";
    return words + (jobs ? "; jobs are shown among routers and groups" : "");
  }
  return mode === "groups" && group < 0 ? "dots have the load of the links within a group" : "";
}

/** Say which time is shown, and mark it on the lines. */
function tellTime(state, own, act, time) {
  const { controls } = act;
  const nets = act.ready().map((side) => side.net);
  controls.slider.value = String(state.step);
  controls.time.textContent = nets.length ? timeWords(nets[0].windows, time) : "";
  controls.slider.setAttribute("aria-valuetext", controls.time.textContent);
  controls.whole.setAttribute("aria-pressed", String(time === null));
  const lines = nets.flatMap(({ windows }, i) => (windows ? linesOf(windows, i) : []));
  if (lines.length) drawLines(controls.lines.firstChild, lines, { end: endOf(nets.map((net) => net.windows)), at: time });
}

/** List the hottest links of the first run; each leads to who uses it. */
function tellHottest(act, panel) {
  const [side] = act.ready();
  if (!side || !side.bytes()) return;
  act.heading.textContent = act.ready().length > 1 ? `hottest links of ${side.net.label}` : "hottest links";
  const entries = hottestOf(side.net, side.bytes(), HOTTEST);
  const items = busiest(
    entries.map(([place, byte]) => [linkName(side.net, place), share(byte), byte / FULL, (100 * byte) / FULL]),
  );
  items.forEach((item, i) => {
    const [place] = entries[i];
    const name = item.firstChild.firstChild;
    const button = el("button", { type: "button", class: "plain", onclick: () => panel.links(side, [place]) }, name.textContent);
    name.replaceChildren(button);
  });
  act.list.replaceChildren(...(items.length ? items : [el("li", { class: "soft" }, "no link was busy")]));
}

const share = (byte) => `${((100 * byte) / FULL).toFixed(0)} %`;
const linesOf = (windows, i) => [
  [windows, windows.most, i, false],
  [windows, windows.mean, i, true],
];

/** Return what opens runs in sides, which are made as they are needed; what is new is shown as soon as it is there. */
function opener(state, own, act, panel) {
  const { ready } = act;
  const changed = (isNew) => {
    if (isNew) arrive();
    else if (!own.player.isOn()) act.paint();
  };
  const arrive = () => {
    const nets = ready().map((side) => side.net);
    own.steps = stepsOf(nets.map((net) => net.windows));
    const [first] = nets;
    if (own.fresh) [own.fresh, state.mode, state.group] = [false, firstMode(first), -1];
    if (!modesOf(first).some(([mode]) => mode === state.mode)) [state.mode, state.group] = ["network", -1];
    if (!own.steps.length) own.player.set(false);
    state.step = Math.min(state.step, Math.max(0, own.steps.length - 1));
    if (!first.whole && own.steps.length) state.whole = false;
    const { controls } = act;
    act.told.textContent = missingWords(nets);
    controls.slider.max = String(Math.max(0, own.steps.length - 1));
    for (const node of [controls.bar, controls.lines, controls.key]) node.hidden = !own.steps.length;
    act.jobs();
    act.choose();
  };
  return (places) => {
    panel.clear();
    while (own.sides.length < places.length) {
      const host = el("div", { class: "side" });
      const side = makeSide(host, { picked: act.picked, changed, trouble: act.trouble });
      side.canvas.addEventListener("keydown", act.keys);
      own.sides.push(side);
      act.pair.append(host);
    }
    for (const side of own.sides.splice(places.length)) {
      side.own.turn++;
      side.canvas.parentElement.parentElement.remove();
    }
    if (act.form) act.form.of(own.sides[0]);
    own.fresh = !ready().length;
    return Promise.all(own.sides.map((side, i) => (same(side.query(), places[i]) ? act.again() : side.open(places[i]))));
  };
}

const same = (one, other) => one.folder === other.folder && one.run === other.run;
