"use strict";
/* Draws the report of forwarding tables from the embedded data. */
(() => {
  const { COLOURS, redraws, el, finite, number, compact, showTip, hideTip, section, chooser, heat, live } = kit;
  const data = JSON.parse(document.getElementById("data").textContent);
  const engines = data.engines, fabric = data.fabric;
  const colour = (i) => COLOURS[i % COLOURS.length];
  const dash = (i) => ["none", "6 4", "2 3"][Math.floor(i / COLOURS.length) % 3];
  const unpack = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const share = (value) => (finite(value) ? value.toFixed(3) : "\u2013");

  // ---- header
  const stuck = engines.filter((e) => !e.row.deadlock_free), broken = engines.filter((e) => e.row.broken_pairs);
  const badge = broken.length ? ["bad", `${broken.map((e) => e.name).join(", ")}: hosts that do not reach each other`]
    : stuck.length ? ["warn", `${stuck.map((e) => e.name).join(", ")} can deadlock`] : ["", "no lane can deadlock"];
  const tiles = [
    [number(fabric.hosts), "hosts"], [number(fabric.switches), fabric.switches === 1 ? "switch" : "switches"], [number(fabric.cables), "cables between switches"],
    [number(2 ** fabric.lmc), fabric.lmc ? "addresses per host" : "address per host"], ...(fabric.rates.length ? [[fabric.rates.join(", "), "rates"]] : []),
    [String(engines.length), engines.length === 1 ? "set of tables" : "sets of tables"], ["fabricsim " + data.provenance.version, "without a simulation"],
  ];
  document.getElementById("top").append(
    el("div", { class: "title" }, el("h1", {}, data.source), el("span", { class: `badge ${badge[0]}` }, badge[1])),
    el("p", { class: "lead" }, "What the forwarding tables of this fabric are worth: lengths of paths, loads of cables, the bandwidth that patterns of traffic get, and whether lanes can deadlock."),
    el("div", { class: "tiles" }, tiles.map(([value, label]) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label)))));

  // ---- comparison
  const has = (key) => engines.some((e) => finite(e.row[key]));
  const COLUMNS = [
    ["engine", (e) => e.name], ["mean hops", (e) => share(e.row.mean_hops)], ["most hops", (e) => number(e.row.max_hops)],
    ["most paths", (e) => number(e.row.max_paths)], ["mean paths", (e) => number(e.row.mean_paths)], ["unused", (e) => number(e.row.unused_channels)],
    ["uniform", (e) => share(e.row.uniform_bound)], ["eBB", (e) => `${share(e.row.ebb)} \u00b1 ${share(e.row.ebb_ci95)}`],
    ["eBB both ways", (e) => `${share(e.row.ebb_both_ways)} \u00b1 ${share(e.row.ebb_both_ways_ci95)}`], ["shifts", (e) => share(e.row.shift_mean)],
    ["worst", (e) => number(e.row.shift_max_congestion)], ...(engines.some((e) => e.summary.racks) ? [["in racks", (e) => share(e.row.racks_mean)]] : []),
    ...(engines.some((e) => e.summary.demand) ? [["demand", (e) => (finite(e.row.demand_slowdown) ? `\u00d7 ${e.row.demand_slowdown.toFixed(2)}` : "\u2013")]] : []), ["lanes", (e) => (e.row.lanes_used < e.row.lanes ? `${e.row.lanes_used} of ${e.row.lanes}` : number(e.row.lanes))],
  ];
  const lost = broken.length ? ` Pairs of hosts that do not reach each other (${broken.map((e) => `${e.name}: ${number(e.row.broken_pairs)}`).join(", ")}) get nothing and count as 0; a dash is what cannot be given for them.` : "";
  section("Side by side", "Hops are channels between switches. Paths are those of all ordered pairs of hosts, per directed channel. Uniform, eBB and shifts are fractions of a link's bandwidth; \u00b1 is the 95 % confidence interval over the random matchings. Worst: the most flows of any shift on a channel." + lost,
    el("div", { class: "scroll" }, el("table", {}, el("tr", {}, COLUMNS.map(([name], i) => el("th", { class: i ? "n" : "" }, name)), el("th", {}, "deadlock")),
      engines.map((e) => el("tr", {}, COLUMNS.map(([, f], i) => el("td", { class: i ? "n" : "" }, f(e))), el("td", { class: e.row.deadlock_free ? "good" : "bad" }, e.row.deadlock_free ? "free" : "possible"))))),
    Object.keys(data.refused).length ? el("ul", { class: "plain soft", style: "margin-top:12px" }, Object.entries(data.refused).map(([name, reason]) => el("li", {}, el("b", {}, name), ` refused: ${reason.replace(name + ": ", "")}`))) : null);

  // ---- bandwidth as bars
  const FIGURES = [["ebb", "effective bisection bandwidth", "ebb_ci95"], ["ebb_both_ways", "the same, both halves sending", "ebb_both_ways_ci95"], ["shift_mean", "shifts, mean share"], ["uniform_bound", "uniform traffic, saturation bound"], ["racks_mean", "within racks (mpiGraph)"]].filter(([key]) => has(key));
  const bars = ([key, title, ci]) => el("div", {}, el("h3", {}, title), el("ul", { class: "hot" }, engines.map((e, i) => el("li", {},
    el("div", { class: "name" }, el("span", {}, e.name), el("b", {}, share(e.row[key]) + (ci ? ` \u00b1 ${share(e.row[ci])}` : ""))),
    el("div", { class: "bar" }, el("i", { style: `width:${100 * Math.min(1, e.row[key] || 0)}%;background:${colour(i)}` }))))));
  section("Bandwidth that patterns get", "A full bar is the bandwidth of a link. A pair of hosts gets 1 / congestion, the most flows of the pattern on any channel of its path.", el("div", { class: "pair" }, FIGURES.map(bars)));

  // ---- loads and lengths
  const loads = el("div", { class: "chart" }), lengths = el("div", { class: "chart" });
  section("Paths", "Left: channels from the busiest to the idlest; level lines are even loads. Right: how many pairs of hosts are how far apart.", el("div", { class: "pair" }, loads, lengths));
  const hidden = new Set();
  live(loads)({ series: engines.map((e, i) => ({ name: e.name, colour: colour(i), dash: dash(i), points: e.loads[0].map((x, k) => [x, e.loads[1][k]]) })), xLabel: "channels [%], busiest first", yLabel: "paths on the channel", markers: false, log: false, hidden });
  const histogram = (e) => e.summary.lengths.histogram.map((pairs, hops) => [hops, pairs]);
  const same = engines.every((e) => JSON.stringify(histogram(e)) === JSON.stringify(histogram(engines[0])));
  live(lengths)(same && engines.length
    ? { series: [{ name: "", colour: COLOURS[0], points: histogram(engines[0]) }], bars: true, xLabel: engines.length > 1 ? "channels on the way, the same for all" : "channels on the way", yLabel: "ordered pairs of hosts" }
    : { series: engines.map((e, i) => ({ name: e.name, colour: colour(i), dash: dash(i), points: histogram(e) })), xLabel: "channels on the way", yLabel: "ordered pairs of hosts", log: false });

  // ---- shifts
  if (engines.some((e) => e.shifts[0].length > 1)) {
    const means = el("div", { class: "chart" }), worst = el("div", { class: "chart" });
    section("Shifts", "Host i sends to host i + k, all at the same time: the steps of an all-to-all exchange.", el("div", { class: "pair" }, means, worst));
    const lines = (at) => engines.map((e, i) => ({ name: e.name, colour: colour(i), dash: dash(i), points: e.shifts[0].map((k, j) => [k, e.shifts[at][j]]) }));
    live(means)({ series: lines(1), xLabel: "shift k", yLabel: "mean share of a link", yMax: 1, markers: false, log: false, hidden: new Set() });
    live(worst)({ series: lines(2), xLabel: "shift k", yLabel: "most flows on a channel", markers: false, log: false, hidden: new Set() });
  }

  // ---- the network
  const network = data.network;
  const hot = (e) => e.summary.hottest.map((h) => [`${h.from} port ${h.port} \u2192 ${h.to} port ${h.peer_port}`, h.paths]);
  if (engines.length) {
    const canvas = el("canvas", {}), list = el("ol", { class: "hot" }), controls = el("div", { class: "controls" });
    const scale = el("span", {}), ramp = el("div", { class: "ramp" }, "no path", el("i", { style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map(heat).join(",")})` }), scale);
    section("Where the paths are", network ? "Paths of all pairs of hosts on every cable (the busier direction). Point at a switch to read its cables." : "This fabric is too large to be drawn; the busiest channels are named.", controls,
      el("div", { class: network ? "wide" : "" }, network ? el("div", { style: "min-width:0" }, canvas, ramp) : null, el("div", { style: "min-width:0" }, el("h3", {}, "busiest channels"), list)));
    let current = engines[0], placed = [];
    const paint = () => {
      if (!network) return;
      const width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1, pad = 30; placed = [];
      const xs = network.routers.map((r) => r[2]), ys = network.routers.map((r) => r[3]);
      const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const aspect = (y1 - y0 || 1) / (x1 - x0 || 1), height = Math.max(280, Math.min(680, width * Math.min(0.95, Math.max(0.5, aspect))));
      canvas.style.height = height + "px"; canvas.width = width * ratio; canvas.height = height * ratio;
      const g = canvas.getContext("2d"); g.scale(ratio, ratio);
      const fitX = (width - 2 * pad) / (x1 - x0 || 1), fitY = (height - 2 * pad) / (y1 - y0 || 1), least = Math.min(fitX, fitY);
      const sx = Math.min(fitX, 3.5 * least), sy = Math.min(fitY, 3.5 * least), ox = (width - sx * (x1 - x0)) / 2, oy = (height - sy * (y1 - y0)) / 2;
      const at = network.routers.map((r) => [ox + (r[2] - x0) * sx, oy + (r[3] - y0) * sy]);
      // Neighbours in a row or column are this far apart.
      let gap = Infinity;
      for (const of of [0, 1]) { const line = [...new Set(at.map((p) => Math.round(p[of])))].sort((a, b) => a - b); for (let i = 1; i < line.length; i++) if (line[i] - line[i - 1] > 4) gap = Math.min(gap, line[i] - line[i - 1]); }
      const use = unpack(current.use), pairs = new Map();
      network.ends.forEach(([a, b], i) => { const key = Math.min(a, b) * network.routers.length + Math.max(a, b), had = pairs.get(key); if (!had || had[2] < use[i]) pairs.set(key, [Math.min(a, b), Math.max(a, b), use[i]]); });
      const many = pairs.size > 1500;
      for (const [a, b, u] of [...pairs.values()].sort((p, q) => p[2] - q[2])) {
        const [ax, ay] = at[a], [bx, by] = at[b], t = u / 250, length = Math.hypot(bx - ax, by - ay), flat = Math.abs(ax - bx) < 1 || Math.abs(ay - by) < 1;
        g.strokeStyle = heat(t); g.lineWidth = many ? 0.5 + 1.6 * t : 0.8 + 2.6 * t; g.globalAlpha = many && t < 0.3 ? 0.35 : 0.9;
        g.beginPath(); g.moveTo(ax, ay);
        // Cables along a row or column are bent, so that those behind others are seen.
        const bend = Math.min(0.12, (0.7 * gap) / length);
        if (flat && length > 1.8 * gap) g.quadraticCurveTo((ax + bx) / 2 - bend * (by - ay), (ay + by) / 2 + bend * (bx - ax), bx, by); else g.lineTo(bx, by);
        g.stroke();
      }
      g.globalAlpha = 1; g.fillStyle = getComputedStyle(document.body).color;
      network.routers.forEach((r, i) => { const [x, y] = at[i]; g.beginPath(); g.arc(x, y, network.routers.length > 400 ? 2 : 4, 0, 7); g.fill(); placed.push([x, y, i]); });
      scale.textContent = `${number(current.most)} paths`;
    };
    canvas.addEventListener("mousemove", (event) => {
      const box = canvas.getBoundingClientRect(), mx = event.clientX - box.left, my = event.clientY - box.top;
      let best = null, distance = 16 * 16;
      for (const p of placed) { const d = (p[0] - mx) ** 2 + (p[1] - my) ** 2; if (d < distance) { distance = d; best = p; } }
      if (!best) { hideTip(); return; }
      const use = unpack(current.use), router = network.routers[best[2]];
      const out = network.ends.map((e, i) => [e, use[i]]).filter(([e]) => e[0] === best[2]).sort((a, b) => b[1] - a[1]).slice(0, 8);
      showTip(event, `${router[1]}, ${number(router[4])} hosts\n` + out.map(([e, u]) => `\u2192 ${network.routers[e[1]][1]}: ${number(Math.round((u / 250) * current.most))} paths`).join("\n"));
    });
    canvas.addEventListener("mouseleave", hideTip);
    const show = (name) => {
      current = engines.find((e) => e.name === name);
      const most = Math.max(1, current.row.max_paths);
      list.replaceChildren(...hot(current).map(([cable, paths], i) => el("li", {}, el("div", { class: "name" }, el("span", {}, `${i + 1}. ${cable}`), el("b", {}, number(paths))), el("div", { class: "bar" }, el("i", { style: `width:${(100 * paths) / most}%;background:${heat(paths / most)}` })))));
      paint();
    };
    if (engines.length > 1) controls.append(chooser("tables", engines.map((e) => [e.name, e.name]), engines[0].name, show).node);
    show(engines[0].name);
    redraws.push(paint);
  }

  // ---- mpiGraph
  const graphs = engines.filter((e) => e.graph);
  if (graphs.length) {
    const controls = el("div", { class: "controls" }), host = el("div", { class: "pair" });
    section("Every pair of hosts (mpiGraph)", "Bandwidth from the row's host to the column's while all hosts send by the same shift: dark is slow. Large fabrics are shown in means of neighbouring hosts.", controls, host);
    const one = (e) => {
      const { rows, step, cells } = e.graph, values = unpack(cells), canvas = el("canvas", { style: "image-rendering:pixelated;max-width:620px;aspect-ratio:1" });
      canvas.width = canvas.height = rows;
      const g = canvas.getContext("2d"), image = g.createImageData(rows, rows);
      values.forEach((v, i) => {
        const rgb = v === 255 ? [128, 128, 128] : heat(1 - v / 250).match(/\d+/g).map(Number);
        image.data.set([...rgb, v === 255 ? 60 : 255], 4 * i);
      });
      g.putImageData(image, 0, 0);
      canvas.addEventListener("mousemove", (event) => {
        const box = canvas.getBoundingClientRect(), column = Math.min(rows - 1, Math.floor(((event.clientX - box.left) / box.width) * rows)), row = Math.min(rows - 1, Math.floor(((event.clientY - box.top) / box.height) * rows)), v = values[row * rows + column];
        const name = (i) => (step > 1 ? `hosts ${i * step} to ${Math.min(fabric.hosts, (i + 1) * step) - 1}` : `host ${i}`);
        showTip(event, `from ${name(row)}\nto ${name(column)}\n${v === 255 ? "nothing" : (v / 250).toFixed(2) + " of a link"}`);
      });
      canvas.addEventListener("mouseleave", hideTip);
      return el("figure", {}, el("h3", {}, `${e.name}: mean ${share(e.row.shift_mean)}`), canvas, el("div", { class: "ramp" }, "slow", el("i", { style: `background:linear-gradient(90deg,${[1, 0.75, 0.5, 0.25, 0].map(heat).join(",")})` }), "a whole link"));
    };
    let [left, right] = [graphs[0].name, (graphs[1] || graphs[0]).name];
    const show = () => host.replaceChildren(...[left, ...(graphs.length > 1 ? [right] : [])].map((name) => one(graphs.find((e) => e.name === name))));
    if (graphs.length > 2) controls.append(chooser("left", graphs.map((e) => [e.name, e.name]), left, (v) => { left = v; show(); }).node, chooser("right", graphs.map((e) => [e.name, e.name]), right, (v) => { right = v; show(); }).node);
    show();
  }

  // ---- racks
  const racks = engines.filter((e) => e.summary.racks && e.summary.racks.each.length);
  if (racks.length) {
    const host = el("div", { class: "chart" });
    section("Racks", `mpiGraph within each run of ${racks[0].summary.racks.size} consecutive hosts, nothing else sending.`, host);
    live(host)({ series: racks.map((e, i) => ({ name: e.name, colour: colour(engines.indexOf(e)), points: e.summary.racks.each.map((mean, rack) => [rack, mean]) })), xLabel: "rack", yLabel: "mean share of a link", yMax: 1 });
  }

  // ---- lanes
  const rows = engines.flatMap((e) => e.summary.lanes.filter((lane) => lane.pairs || !lane.free).map((lane) => [e, lane]));
  section("Lanes and deadlock", "A lane is free of deadlock if its channels cannot wait for each other in a circle. The circle is named where there is one.", el("div", { class: "scroll" }, el("table", {},
    el("tr", {}, ["tables", "lane", "pairs of hosts", "verdict"].map((h, i) => el("th", { class: i === 1 || i === 2 ? "n" : "" }, h))),
    rows.map(([e, lane]) => el("tr", {}, el("td", {}, e.name), el("td", { class: "n" }, String(lane.lane)), el("td", { class: "n" }, number(lane.pairs)),
      el("td", {}, el("span", { class: lane.free ? "good" : "bad" }, lane.free ? "free" : "can deadlock"), lane.free ? null : el("div", { class: "soft", style: "overflow-wrap:anywhere" }, [...lane.cycle, lane.cycle[0]].join(" \u2192 "))))))));

  // ---- notes
  const notes = [...fabric.notes, ...engines.filter((e) => e.about.note).map((e) => `${e.name}: ${e.about.note}`), ...engines.flatMap((e) => e.summary.broken_examples.map((text) => `${e.name}: no way from ${text}`)), ...broken.map((e) => `${e.name}: ${number(e.row.broken_pairs)} pairs of hosts do not reach each other`)];
  if (notes.length) section("What to keep in mind", null, el("ul", { class: "plain" }, notes.slice(0, 60).map((text) => el("li", {}, text)), notes.length > 60 ? el("li", {}, `and ${notes.length - 60} more`) : null));
  section("Where this comes from", "Figures are functions of the fabric, the tables and the seed. Definitions: docs/models/route-figures.md.", el("dl", {}, Object.entries(data.provenance).flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
  document.getElementById("foot").append(`fabricsim ${data.provenance.version} \u00b7 ${compact(fabric.hosts)} hosts \u00b7 this file needs no network`);
})();
