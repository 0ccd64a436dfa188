/* Hops and timeline of one run. */
import { live } from "./chart.js";
import { COLOURS } from "./colours.js";
import { chooser, el, section } from "./elements.js";

export function inside(data) {
  const known = data.runs.filter((run) => (run.hops && run.hops[0].length) || (run.timeline && run.timeline[0].length));
  if (!known.length) return;
  const controls = el("div", { class: "controls" });
  const [hops, time] = [el("div", { class: "chart" }), el("div", { class: "chart" })];
  const hasTime = known.some((run) => run.timeline);
  section("Inside one run", null, controls, el("div", { class: "pair" }, hops, hasTime ? time : null));
  const [drawHops, drawTime] = [live(hops), live(time)];
  const show = (id) => {
    const run = known.find((one) => one.id === id);
    if (run.hops) {
      const points = run.hops[0].map((x, i) => [x, run.hops[1][i]]);
      const [xLabel, yLabel] = data.columns.hops;
      drawHops({ series: [{ name: "", colour: COLOURS[0], points }], bars: true, xLabel, yLabel });
    } else hops.replaceChildren();
    if (run.timeline) {
      const points = run.timeline[0].map((x, i) => [x, run.timeline[2][i]]);
      const [xLabel, , yLabel] = data.columns.timeline;
      drawTime({ series: [{ name: "", colour: COLOURS[1], points }], xLabel, yLabel, markers: false });
    } else time.replaceChildren();
  };
  const names = known.map((run) => [run.id, run.label]);
  if (known.length > 1) controls.append(chooser("run", names, known[0].id, show, { link: "run" }));
  show(known[0].id);
}
