/* What drawings of networks share: loads of links, places on the canvas, what is under the pointer, lists of the busiest. */
import { gradient, heat } from "./colours.js";
import { el, hideTip, showTip } from "./elements.js";

/* A load of 1 as a byte. */
export const FULL = 250;

/** Return the bytes of a text in base64. */
export const unpack = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Return the two routers of each link from base64 of four bytes each. */
export function endsOf(text) {
  const numbers = new Uint32Array(unpack(text).buffer);
  return Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i], numbers[2 * i + 1]]);
}

/** Return the extent of a network's routers: [least x, most x, least y, most y]. */
export function extentOf(routers) {
  // Not by spreading: there may be more routers than a function takes arguments.
  return routers.reduce(
    ([x0, x1, y0, y1], [, , x, y]) => [Math.min(x0, x), Math.max(x1, x), Math.min(y0, y), Math.max(y1, y)],
    [Infinity, -Infinity, Infinity, -Infinity],
  );
}

/** Return the two directions of every pair of routers as one cable [low, high, load of the busier], the busiest last. */
export function cablesOf(ends, loads) {
  const cables = new Map();
  ends.forEach(([a, b], i) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const key = `${low} ${high}`;
    const had = cables.get(key);
    if (!had || had[2] < loads[i]) cables.set(key, [low, high, loads[i]]);
  });
  return [...cables.values()].sort((p, q) => p[2] - q[2]);
}

/** Size a canvas for the screen and return what draws on it. */
export function prepare(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** Draw a cable from a to b; bent to the side by this share of twice its length where `bend` is above zero. */
export function strokeCable(context, [ax, ay], [bx, by], bend) {
  context.beginPath();
  context.moveTo(ax, ay);
  if (bend > 0) context.quadraticCurveTo((ax + bx) / 2 - bend * (by - ay), (ay + by) / 2 + bend * (bx - ax), bx, by);
  else context.lineTo(bx, by);
  context.stroke();
}

export function fillDot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}

/** Say what is at the place [x, y, ...] next to the pointer: at most 16 pixels away. */
export function addPointer(canvas, places, words) {
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [null, 16 * 16];
    for (const place of places()) {
      const d = (place[0] - mx) ** 2 + (place[1] - my) ** 2;
      if (d < distance) [best, distance] = [place, d];
    }
    if (best) showTip(event, words(best));
    else hideTip();
  });
  canvas.addEventListener("mouseleave", hideTip);
}

/** Return the eight busiest links out of a router, as [end, load]. */
export const linksOut = (ends, loads, router) =>
  ends
    .map((end, i) => [end, loads[i]])
    .filter(([end]) => end[0] === router)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 8);

/** Return the items of a list of the busiest: name, what it carries in words, its share, and the width of its bar in per cent. */
export const busiest = (entries) =>
  entries.map(([name, words, share, width], i) =>
    el(
      "li",
      {},
      el("div", { class: "name" }, el("span", {}, `${i + 1}. ${name}`), el("b", {}, words)),
      el("div", { class: "bar" }, el("i", { style: `width:${width}%;background:${heat(share)}` })),
    ),
  );

/** Return the ramp of the colours with the words at its ends. */
export const ramp = (low, high, shares = [0, 0.25, 0.5, 0.75, 1]) =>
  el("div", { class: "ramp" }, low, el("i", { style: gradient(shares) }), high);
