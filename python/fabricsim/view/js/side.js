/* One run's picture: its network with the loads of a window, on two canvases, one over the other. */
import { FULL } from "../../report/js/drawing.js";
import { el, hideTip, showTip } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { ask, askBytes } from "./ask.js";
import { linksOf } from "./link.js";
import { loader } from "./loader.js";
import { groupScene, groupsScene, linkName, matrixScene, networkOf, routersScene, sizeOf } from "./net.js";
import { drawOverlay } from "./overlay.js";
import { painter } from "./painter.js";
import { windowAt } from "./steps.js";

const percent = (byte) => `${((100 * byte) / FULL).toFixed(0)} %`;

/** Return the scene of a network in a mode: a family without groups has its routers alone. */
export function sceneIn(net, { mode, group }) {
  if (mode === "network" || !net.groups.length) return routersScene(net);
  if (mode === "matrix") return matrixScene(net);
  return group >= 0 ? groupScene(net, group) : groupsScene(net);
}

/** Return the busiest links between routers as [place, byte]. */
export function hottestOf(net, bytes, count) {
  const [, nLinks] = sizeOf(net);
  const best = [];
  for (let i = 0; i < nLinks; i++) {
    const byte = bytes[i];
    if (!byte || (best.length === count && byte <= best[count - 1][1])) continue;
    let at = best.length;
    while (at > 0 && best[at - 1][1] < byte) at--;
    best.splice(at, 0, [i, byte]);
    if (best.length > count) best.pop();
  }
  return best;
}

/** Say what of the network has failed; empty where nothing has. */
export function failedWords({ failed: { cables, impaired, routers, nodes } }) {
  const kinds = [
    [cables.length, "dead link", cables.map((cable) => cable[2])],
    [impaired.length, "impaired link", impaired.map((cable) => cable[2])],
    [routers.length, "dead router", []],
    [nodes.length, "dead node", []],
  ];
  return kinds
    .filter(([count]) => count)
    .map(([count, kind, names]) => {
      const some = names.slice(0, 3).join(", ") + (names.length > 3 ? ", ..." : "");
      return `${number(count)} ${kind}${count > 1 ? "s" : ""}${some ? ` (${some})` : ""}`;
    })
    .join(", ");
}

/* What a side has: where its run is, its network, what is drawn, and the window that is shown. */
const nothing = () => ({
  where: {},
  net: null,
  scene: null,
  drawn: null,
  give: null,
  time: null,
  bytes: null,
  chosen: -1,
  turn: 0,
});

/** Make a side; `picked` is told what was clicked, `changed` when something is there to be painted. */
export function makeSide(host, { picked, changed, trouble }) {
  const [title, note] = [el("h3", {}), el("p", { class: "soft", role: "status" })];
  const [base, over] = [el("canvas", { class: "base" }), el("canvas", { class: "over", tabindex: "0", role: "img" })];
  const stage = el("div", { class: "stage" }, base, over);
  host.append(title, stage, note);
  const own = nothing();
  const side = {
    own,
    canvas: over,
    get net() {
      return own.net;
    },
    query: () => own.where,
    time: () => own.time,
    bytes: () => own.bytes,
    arrange(settings) {
      own.scene = sceneIn(own.net, settings);
      own.width = Math.max(200, host.clientWidth);
      own.drawn = painter(base, own.scene, own.width);
      own.chosen = -1;
      side.cover(settings);
    },
    cover({ jobs }) {
      const names = ["groups", "group"].includes(own.scene.kind) && own.scene.dots.x.length <= 80 && own.width > 500;
      drawOverlay(over, own.net, own.scene, own.drawn, { width: own.width, jobs, chosen: own.chosen, names });
    },
    /** Paint a time, or the whole run where it is null; tells whether that could be done. */
    paint(time, { mean }) {
      const window = time === null ? -1 : windowAt(own.net.windows, time);
      own.time = time;
      const none = window === null || (window < 0 && (time !== null || !own.net.whole));
      const bytes = none ? new Uint8Array(bytesIn(own.net)) : own.give(window);
      if (!bytes || bytes.length < bytesIn(own.net)) return false;
      own.bytes = bytes;
      own.drawn.paint(bytes, mean);
      own.ended = window === null;
      base.dataset.frames = Number(base.dataset.frames || 0) + 1;
      return true;
    },
    tell(text) {
      const [routers, links] = sizeOf(own.net);
      const sizes = `${number(routers)} routers, ${number(links)} link directions`;
      const ended = own.ended ? "the run has ended by then" : "";
      note.textContent = [sizes, failedWords(own.net), ended, text].filter(Boolean).join("; ");
      over.setAttribute("aria-label", `Loads of the links of ${own.net.label}: ${note.textContent}`);
    },
  };
  side.open = opener(own, { title, stage, note }, { changed, trouble });
  listen(over, side, picked);
  return side;
}

const bytesIn = (net) => sizeOf(net).reduce((a, b) => a + b);

/** Return what fetches the picture of a run. */
function opener(own, { title, stage, note }, { changed, trouble }) {
  return async (where) => {
    const turn = ++own.turn;
    Object.assign(own, { where, net: null, scene: null, give: null, bytes: null });
    stage.hidden = true;
    title.textContent = "";
    note.textContent = "The picture is on its way.";
    try {
      const net = networkOf(await ask("api/picture", where));
      if (turn !== own.turn) return;
      const count = net.windows ? net.windows.begin_ns.length : 0;
      const fetchBytes = (first, windows) => askBytes("api/loads", { ...where, first, count: windows });
      Object.assign(own, { net, give: loader(bytesIn(net), count, fetchBytes, changed, trouble) });
      title.textContent = net.label;
      stage.hidden = false;
      changed(true);
    } catch (error) {
      if (turn !== own.turn) return;
      own.where = {};
      note.textContent = error.message;
    }
  };
}

/** Tell what is pointed at, and what is clicked. */
function listen(over, side, picked) {
  const { own } = side;
  const place = (event) => {
    const box = over.getBoundingClientRect();
    return own.drawn.at(event.clientX - box.left, event.clientY - box.top);
  };
  over.addEventListener("mousemove", (event) => {
    const words = own.scene ? wordsAt(own, place(event)) : "";
    if (words) showTip(event, words);
    else hideTip();
  });
  over.addEventListener("mouseleave", hideTip);
  over.addEventListener("click", (event) => own.scene && picked(side, place(event)));
}

/** Say what is at a place. */
function wordsAt({ net, scene, bytes }, { dot = -1, edge = -1, cell = -1, row, column }) {
  const named = (list, most = 6) => {
    const lines = list.slice(0, most).map((i) => `${linkName(net, i)}: ${bytes ? percent(bytes[i]) : ""}`);
    return lines.concat(list.length > most ? [`and ${number(list.length - most)} more`] : []).join("\n");
  };
  if (cell >= 0) {
    const title = row === column ? `within ${scene.names[row]}` : `from ${scene.names[row]} to ${scene.names[column]}`;
    return `${title}\n${named(linksOf(scene.cells, cell, bytes))}`;
  }
  if (dot >= 0) return scene.dots.name(dot);
  return edge >= 0 ? named(linksOf(scene.edges, edge, bytes)) : "";
}
