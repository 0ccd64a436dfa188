/* What is known of a link, or of the nodes of a router, that was clicked. */
import { el, table } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { amount } from "../../report/js/units.js";
import { ask } from "./ask.js";
import { linkName, sizeOf } from "./net.js";
import { drawLines, endOf } from "./timeline.js";

/* Links, and nodes, that are offered. */
const MOST = 16;

const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Say what of a user of a link is known, in words. */
export function useWords(user) {
  const parts = [
    user.what,
    user.messages === undefined ? null : `${number(user.messages)} message${user.messages === 1 ? "" : "s"}`,
    user.bytes === undefined ? null : amount(user.bytes, "B"),
    user.held_ns === undefined ? null : `held up for ${amount(user.held_ns, "ns")}`,
  ];
  return parts.filter(Boolean).join(", ");
}

function loadWords({ whole, windows }, now) {
  const parts = [];
  if (now !== null) parts.push(`busy for ${percent(now)} of this window`);
  if (whole) {
    const carried = `${number(whole.packets)} packets, ${amount(whole.bytes, "B")}`;
    parts.push(`busy for ${percent(whole.utilisation)} of the run: ${carried}`);
  } else parts.push("its load over the whole run is not recorded (observe.links = true)");
  if (windows && windows.length) {
    const most = windows.reduce((a, b) => Math.max(a, b), 0);
    parts.push(`at most ${percent(most)}, in window ${windows.indexOf(most) + 1} of ${windows.length}`);
  }
  const words = `${parts.join("; ")}.`;
  return words[0].toUpperCase() + words.slice(1);
}

/** Show the details of a link as the server tells them. */
export function detailsOf(found, windows, at) {
  const parts = [el("h3", {}, found.name), el("p", {}, `${loadWords(found, at.share)} Link class: ${found.class}.`)];
  if (found.windows && found.windows.length > 1) {
    const canvas = el("canvas", { role: "img", "aria-label": "how busy the link was over time" });
    parts.push(el("div", { class: "lines" }, canvas));
    parts.draw = () => drawLines(canvas, [[windows, found.windows, 0, false]], { end: endOf([windows]), at: at.time });
  }
  const rows = found.users.map((user) => el("tr", {}, el("td", {}, user.who), el("td", {}, useWords(user))));
  if (rows.length) parts.push(table(["who uses it", "how"], rows, { className: "words" }));
  for (const line of found.unknown) parts.push(el("p", { class: "soft" }, line));
  return parts;
}

/** Return the links of a cable or cell, the busiest first. */
export const linksOf = ({ start, items }, place, bytes) =>
  [...items.subarray(start[place], start[place + 1])].sort((a, b) => (bytes ? bytes[b] - bytes[a] : 0) || a - b);

/** Return how a router's links are numbered: its first place, and its number of links to routers. */
export function portsOf({ links }, router) {
  const first = links.router.indexOf(router);
  if (first < 0) return [0, 0];
  let end = first;
  while (end < links.router.length && links.router[end] === router) end++;
  return [first, end - first];
}

/** Make the place of details: what it returns shows those of links in places, or of a router; `clicked` is told of links. */
export function linkPanel(host, trouble, clicked = () => {}) {
  const [offers, details] = [el("div", { class: "controls" }), el("div", { "aria-live": "polite" })];
  host.append(offers, details);
  let turn = 0;
  const show = async (side, router, port, share) => {
    const mine = ++turn;
    try {
      const found = await ask("api/link", { ...side.query(), router, port });
      if (mine !== turn) return;
      const parts = detailsOf(found, side.net.windows, { share, time: side.time() });
      details.replaceChildren(...parts);
      if (parts.draw) parts.draw();
      clicked(side, found);
    } catch (error) {
      trouble(error);
    }
  };
  const button = (text, onclick) => el("button", { type: "button", class: "plain", onclick }, text);
  const more = (count) => (count > MOST ? el("span", { class: "soft" }, `and ${number(count - MOST)} more`) : null);
  return {
    links(side, places) {
      const { net } = side;
      const bytes = side.bytes();
      const shareOf = (place) => (bytes && side.time() !== null ? bytes[place] / 250 : null);
      const open = (place) => show(side, net.links.router[place], net.links.port[place], shareOf(place));
      const offered = places.slice(0, MOST).map((place) => button(linkName(net, place), () => open(place)));
      offers.replaceChildren(...(places.length > 1 ? [...offered, more(places.length)].filter(Boolean) : []));
      open(places[0]);
    },
    router(side, router) {
      const { net } = side;
      const [first, count] = portsOf(net, router);
      const nodes = net.routers.nodes[router];
      const [n] = sizeOf(net);
      const jobs = net.jobs.filter((job) => job.routers.includes(router)).map((job) => job.name);
      const told = `${number(nodes)} node${nodes === 1 ? "" : "s"}${jobs.length ? ` of ${jobs.join(", ")}` : ""}`;
      const toNodes = Array.from({ length: Math.min(nodes, MOST) }, (_, i) =>
        button(`node ${i + 1} of ${nodes}`, () => show(side, router, count + i, null)),
      );
      const toRouters = Array.from({ length: Math.min(count, MOST) }, (_, i) => first + i)
        .filter((place) => net.links.peer[place] < n)
        .map((place) => button(linkName(net, place), () => show(side, router, net.links.port[place], null)));
      turn++;
      offers.replaceChildren(...[...toRouters, more(count), ...toNodes, more(nodes)].filter(Boolean));
      details.replaceChildren(el("h3", {}, net.routers.name[router]), el("p", {}, `${told}. Choose one of its links.`));
    },
    clear() {
      turn++;
      offers.replaceChildren();
      details.replaceChildren(
        el("p", { class: "soft" }, "Click a link in the picture, or one of the hottest, to see who uses it."),
      );
    },
  };
}
