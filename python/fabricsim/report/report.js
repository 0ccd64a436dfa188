"use strict";
/* Draws the report of a campaign from the embedded data. */
(() => {
  const { COLOURS, redraws, el, finite, number, compact, showTip, hideTip, get, section, chooser, unique, heat, live } = kit;
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.runs;

  // ---- numbers from quantities, for axes
  const PREFIX = { "": 1, K: 1e3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1048576, Gi: 1073741824, Ti: 1099511627776 };
  const TIME = { ps: 1e-3, ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
  const quantity = (text) => {
    if (typeof text === "number") return [text, ""];
    const bare = String(text).trim().replace(/^"|"$/g, "");
    const extents = /^\[\s*(\d+(?:\s*,\s*\d+)*)\s*,?\s*\]$/.exec(bare);
    if (extents) return [extents[1].split(",").reduce((product, part) => product * Number(part), 1), "product"];
    const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z/%]*)$/.exec(bare);
    if (!match) return null;
    const value = Number(match[1]), unit = match[2];
    if (unit === "" || unit === "%") return [value, unit];
    if (TIME[unit]) return [value * TIME[unit], "ns"];
    for (const [suffix, factor, base] of [["bit/s", 1e-9 / 8, "GB/s"], ["B/s", 1e-9, "GB/s"], ["B", 1, "B"]])
      if (unit.endsWith(suffix)) { const prefix = PREFIX[unit.slice(0, unit.length - suffix.length)]; return prefix ? [value * prefix * factor, base] : null; }
    return null;
  };

  // ---- whether networks kept up with their load, and what of a sample is missing
  const stateOf = (r) => (r.summary.verdict || {}).state || (r.summary.saturated ? "saturated" : "ok");
  const lost = (r) => (r.summary.measured ? (r.summary.measured - r.summary.arrived) / r.summary.measured : 0);
  const atLeast = (r, key) => (get(r.summary, key) === null ? get(r.summary, `${key}_at_least`) : undefined);

  // ---- header
  const failed = runs.filter((r) => !r.ok), missing = data.total_runs - data.finished_runs;
  const loaded = ["saturated", "unsettled"].map((state) => [state, runs.filter((r) => stateOf(r) === state).length]).filter(([, n]) => n);
  const badge = failed.length ? ["bad", `${failed.length} failed self-check${failed.length > 1 ? "s" : ""}: do not use these numbers`] : missing ? ["warn", `${data.finished_runs} of ${data.total_runs} runs finished`] : loaded.length ? ["warn", loaded.map(([state, n]) => `${n} of ${runs.length} runs ${state}`).join(", ")] : ["", "all self-checks passed"];
  const total = (key) => runs.reduce((sum, r) => sum + (finite(r.summary[key]) ? r.summary[key] : 0), 0);
  const cpu = total("cpu_s");
  const experiments = unique(runs.map((r) => r.experiment));
  const nodes = unique(runs.map((r) => r.summary.n_nodes)).filter(finite).sort((a, b) => a - b);
  document.getElementById("top").append(
    el("div", { class: "title" }, el("h1", {}, data.study.name), el("span", { class: `badge ${badge[0]}` }, badge[1])),
    data.study.description ? el("p", { class: "lead" }, data.study.description) : "",
    data.finished_runs > runs.length ? el("p", { class: "lead" }, `This page shows the first ${runs.length} runs; runs.parquet has all ${data.finished_runs}.`) : "",
    el("div", { class: "tiles" }, [
      [String(data.finished_runs) + (missing ? ` of ${data.total_runs}` : ""), "runs"],
      [nodes.length > 1 ? `${compact(nodes[0])} \u2013 ${compact(nodes[nodes.length - 1])}` : compact(nodes[0]), "nodes"],
      [compact(total("messages")), "messages delivered"],
      [compact(total("packet_hops")), "packet hops"],
      [`${compact(cpu)} s`, "CPU time"],
      [cpu > 0 ? compact(total("packet_hops") / cpu) : "\u2013", "packet hops per CPU second"],
      ["fabricsim " + data.provenance.version, "engine " + (data.provenance.engine || "\u2013")],
    ].map(([value, label]) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, label)))));

  // ---- claims
  if (data.claims.length) {
    const agree = data.claims.filter((c) => c.verdict === "agrees").length;
    const missing = data.claims.filter((c) => c.verdict === "not measured").length;
    section("What the paper says, and what comes out here", `${agree} of ${data.claims.length - missing} claims agree${missing ? `, ${missing} not measured` : ""}.`, el("div", { class: "scroll" }, el("table", {},
      el("tr", {}, ["claim", "paper", "expected", "ours", "verdict"].map((h) => el("th", {}, h))),
      data.claims.map((c) => el("tr", { title: c.measure }, el("td", {}, c.id), el("td", {}, c.paper), el("td", {}, c.expect), el("td", {}, c.ours),
        el("td", {}, el("span", { class: c.verdict === "agrees" ? "good" : c.verdict === "differs" ? "warn" : "bad" }, c.verdict), c.verdict !== "agrees" && c.because ? el("div", { class: "soft" }, c.because) : null,
          c.perturbed ? el("div", { class: c.perturbed.startsWith("turns") ? "warn" : "soft" }, c.perturbed) : null))))));
  }

  // ---- figures that the study declares
  if (data.figures.length) section("Figures", "Also as SVG and PNG in figures/.", el("div", { class: "pair" }, data.figures.map((f) => el("figure", {}, f.image ? el("img", { src: f.image, alt: f.title, loading: "lazy" }) : el("p", {}, `Not drawn: ${f.missing}`), el("figcaption", { class: "soft" }, f.title)))));

  // ---- sweep charts
  const METRICS = [["jobs.0.time_ns", "time of the job [ns]"], ["memory.time_ns", "time until the last access [ns]"], ["memory.latency_ns", "mean time of an access [ns]"], ["latency_ns.mean", "mean latency [ns]"], ["latency_ns.p50", "median latency [ns]"], ["latency_ns.p99", "99 % latency [ns]"], ["latency_ns.max", "greatest latency [ns]"], ["accepted_load", "accepted load"], ["throughput_MiBps.mean", "throughput per sender [MiB/s]"], ["hops.mean", "mean hops"], ["sim_time_ns", "simulated time [ns]"], ["cpu_s", "CPU time [s]"], ["peak_rss_bytes", "peak memory [B]"]]
    .filter(([key]) => runs.some((r) => (finite(get(r.summary, key)) || finite(atLeast(r, key))) && (key !== "jobs.0.time_ns" || finite(r.summary.jobs[0].ranks))));
  const valueOf = (run, key) => { const pair = run.sweep.find(([k]) => k === key); return pair ? pair[1] : get(run.summary, key); };
  const axisName = (key, unit) => { const names = { n_nodes: "nodes", accepted_load: "accepted load", offered_load: "offered load" }; const parts = key.split("."), last = names[key] || (parts[parts.length - 1] === "kind" && parts.length > 1 ? parts[parts.length - 2] : parts[parts.length - 1]).replace(/_/g, " "); return unit === "product" ? "routers" : unit ? `${last} [${unit}]` : last; };
  const keysOf = (experiment) => unique(runs.filter((r) => r.experiment === experiment).flatMap((r) => r.sweep.map(([k]) => k)));
  const numericKey = (experiment, key) => runs.filter((r) => r.experiment === experiment).every((r) => quantity(valueOf(r, key)) !== null);
  if (experiments.some((e) => keysOf(e).length)) {
    const state = { experiment: experiments.find((e) => keysOf(e).length), x: null, left: METRICS[0] && METRICS[0][0], right: (METRICS.find(([k]) => k === "accepted_load" && runs.some((r) => r.sweep.some(([key]) => key.endsWith("load")))) || METRICS.find(([k]) => k === "throughput_MiBps.mean") || METRICS[METRICS.length - 1])[0] };
    const controls = el("div", { class: "controls" }), left = el("div", { class: "chart" }), right = el("div", { class: "chart" });
    section("Against the swept keys", "A point is the mean over seeds, a bar their range; an open triangle stands at what a figure that cannot be given is not below. Click a name in the legend to hide its line.", controls, el("div", { class: "pair" }, left, right));
    const drawLeft = live(left), drawRight = live(right), hidden = new Set();
    const lines = (metric) => {
      const mine = runs.filter((r) => r.experiment === state.experiment), keys = keysOf(state.experiment).filter((k) => k !== state.x);
      const texts = unique(mine.map((r) => String(valueOf(r, state.x)))), numbers = texts.map(quantity);
      const units = unique(numbers.map((q) => (q ? q[1] : null))), isNames = numbers.some((q) => q === null) || units.length > 1;
      const place = new Map(texts.map((t, i) => [t, isNames ? i : numbers[i][0]]));
      const groups = new Map();
      for (const r of mine) {
        const bound = atLeast(r, metric), y = finite(bound) ? bound : get(r.summary, metric), name = keys.map((k) => valueOf(r, k)).filter((v) => v !== undefined).join(", ");
        if (!groups.has(name)) groups.set(name, new Map());
        const x = place.get(String(valueOf(r, state.x)));
        if (finite(y)) groups.get(name).set(x, [...(groups.get(name).get(x) || []), [y, r]]);
      }
      return { names: isNames ? texts : null, xLabel: axisName(state.x, isNames ? "" : units[0]), series: [...groups].map(([name, at], i) => ({ name, colour: COLOURS[i % COLOURS.length], dash: ["none", "6 4", "2 3"][Math.floor(i / COLOURS.length) % 3],
        points: [...at].sort((a, b) => a[0] - b[0]).map(([x, found]) => { const ys = found.map((f) => f[0]); return [x, ys.reduce((a, b) => a + b, 0) / ys.length, Math.min(...ys), Math.max(...ys), unique(found.map((f) => stateOf(f[1])).filter((word) => word !== "ok")).join(", "), found.some((f) => finite(atLeast(f[1], metric)))]; }) })) };
    };
    const title = (key) => (METRICS.find(([k]) => k === key) || [key, key])[1];
    const redraw = () => {
      drawLeft({ ...lines(state.left), yLabel: title(state.left), hidden });
      drawRight({ ...lines(state.right), yLabel: title(state.right), hidden });
    };
    const build = () => {
      const keys = keysOf(state.experiment), extra = unique(runs.filter((r) => r.experiment === state.experiment).map((r) => r.summary.n_nodes)).length > 1 ? ["n_nodes"] : [];
      if (!state.x || ![...keys, ...extra].includes(state.x)) state.x = keys.find((k) => numericKey(state.experiment, k)) || keys[0];
      controls.replaceChildren(...[
        experiments.filter((e) => keysOf(e).length).length > 1 ? chooser("experiment", experiments.filter((e) => keysOf(e).length).map((e) => [e, e || "(main)"]), state.experiment, (v) => { state.experiment = v; state.x = null; hidden.clear(); build(); }).node : null,
        chooser("against", [...keys, ...extra].map((k) => [k, k]), state.x, (v) => { state.x = v; hidden.clear(); redraw(); }).node,
        chooser("left", METRICS, state.left, (v) => { state.left = v; redraw(); }).node,
        chooser("right", METRICS, state.right, (v) => { state.right = v; redraw(); }).node].filter(Boolean));
      redraw();
    };
    build();
  }

  // ---- jobs of MPI ranks
  const ranked = (r) => (r.summary.jobs || []).filter((job) => finite(job.ranks));
  const withJobs = runs.filter((r) => ranked(r).length);
  if (withJobs.length) {
    const PARTS = [["compute", "computing"], ["wait", "waiting"], ["overhead", "overhead"]];
    const several = withJobs.some((r) => ranked(r).length > 1);
    const rows = withJobs.flatMap((r) => ranked(r).map((job) => ({ r, job }))).slice(0, 400);
    section("Jobs", "When the last rank of a job was done, and what its ranks did until then, mean over ranks. A rank that is done early waits for nobody: the bar of a job of unequal ranks is shorter than its time.",
      el("div", { class: "legend" }, PARTS.map(([, name], i) => el("span", { class: "key" }, el("i", { style: `background:${COLOURS[i]}` }), name))),
      el("div", { class: "scroll" }, el("table", { class: "jobs" }, el("tr", {}, ["run", ...(several ? ["job"] : []), "ranks", "time [us]", "share of the time", "messages", "bytes"].map((h) => el("th", { class: ["ranks", "time [us]", "messages", "bytes"].includes(h) ? "n" : "" }, h))),
        rows.map(({ r, job }) => {
          const whole = PARTS.reduce((sum, [key]) => sum + job[key + "_ns"], 0), scale = Math.max(whole, job.time_ns || 0) || 1;
          const words = PARTS.map(([key, name]) => `${name}: ${number(job[key + "_ns"] / 1e3)} us (${whole ? ((100 * job[key + "_ns"]) / whole).toFixed(1) : 0} %)`).join("\n");
          const bar = el("div", { class: "parts", onmousemove: (event) => showTip(event, words), onmouseleave: hideTip }, PARTS.map(([key], i) => el("i", { style: `width:${(100 * job[key + "_ns"]) / scale}%;background:${COLOURS[i]}` })));
          return el("tr", {}, el("td", {}, r.label.replace(/ ?seed=\S+$/, "") || r.id), several ? el("td", {}, job.name) : null, el("td", { class: "n" }, number(job.ranks)),
            el("td", { class: "n" }, finite(job.time_ns) ? number(job.time_ns / 1e3) : `${job.finished} done`), el("td", {}, bar), el("td", { class: "n" }, compact(job.messages + job.local_messages)), el("td", { class: "n" }, compact(job.bytes + job.local_bytes)));
        }))));
  }

  // ---- memory nodes
  const withMemory = runs.filter((r) => r.summary.memory);
  if (withMemory.length) {
    const PARTS = [["caches and buses", ["l1_ns", "l2_ns", "bus_ns", "inside_ns"]], ["directories, owners", ["directory_ns", "owner_ns"]], ["memory", ["memory_ns"]], ["waiting for memory", ["memory_wait_ns"]],
      ["network", ["request_ns", "forward_ns", "response_ns"]], ["waiting in the network", ["request_wait_ns", "forward_wait_ns", "response_wait_ns"]], ["waiting for other accesses", ["protocol_ns"]]];
    section("Memory nodes", "When the last core had its last access, and what a mean access spends its time with.",
      el("div", { class: "legend" }, PARTS.map(([name], i) => el("span", { class: "key" }, el("i", { style: `background:${COLOURS[i]}` }), name))),
      el("div", { class: "scroll" }, el("table", { class: "jobs" }, el("tr", {}, ["run", "accesses", "time [us]", "an access [ns]", "share of an access", "what limits"].map((h) => el("th", { class: ["accesses", "time [us]", "an access [ns]"].includes(h) ? "n" : "" }, h))),
        withMemory.slice(0, 400).map((r) => {
          const m = r.summary.memory, sums = PARTS.map(([, keys]) => Math.max(0, keys.reduce((sum, key) => sum + m[key], 0))), whole = sums.reduce((a, b) => a + b, 0) || 1;
          const words = PARTS.map(([name], i) => `${name}: ${number(sums[i])} ns (${((100 * sums[i]) / whole).toFixed(1)} %)`).join("\n");
          const bar = el("div", { class: "parts", onmousemove: (event) => showTip(event, words), onmouseleave: hideTip }, sums.map((sum, i) => el("i", { style: `width:${(100 * sum) / whole}%;background:${COLOURS[i]}` })));
          return el("tr", {}, el("td", {}, r.label.replace(/ ?seed=\S+$/, "") || r.id), el("td", { class: "n" }, compact(m.accesses)), el("td", { class: "n" }, finite(m.time_ns) ? number(m.time_ns / 1e3) : "-"),
            el("td", { class: "n" }, number(m.latency_ns)), el("td", {}, bar), el("td", { class: "soft" }, m.bottleneck));
        }))));
  }

  // ---- latency distributions
  const withCdf = runs.filter((r) => r.cdf && r.cdf[0].length);
  if (withCdf.length) {
    const host = el("div", { class: "chart" }), controls = el("div", { class: "controls" });
    section("Latency distribution", "Fraction of messages delivered within a time, for the first seed. At most twelve runs are drawn at first; click a name in the legend to show or hide it.", controls, host);
    const draw = live(host);
    const show = (experiment) => {
      // One seed of every point, at most 60 in the legend, and twelve of these drawn: evenly spread over the sweep.
      const all = withCdf.filter((r) => r.experiment === experiment), mine = all.filter((r) => r.seed === all[0].seed).slice(0, 60);
      const name = (r) => r.label.replace(/ ?seed=\S+$/, "") || r.id;
      const drawn = new Set(mine.length <= 12 ? mine : Array.from({ length: 12 }, (_, i) => mine[Math.round((i * (mine.length - 1)) / 11)]));
      draw({ series: mine.map((r, i) => ({ name: name(r), colour: COLOURS[i % COLOURS.length], dash: ["none", "6 4", "2 3"][Math.floor(i / COLOURS.length) % 3], points: r.cdf[0].map((x, k) => [x, r.cdf[1][k]]) })),
        hidden: new Set(mine.filter((r) => !drawn.has(r)).map(name)), xLabel: "message latency [ns]", yLabel: "fraction of messages", yMax: 1, markers: false });
    };
    const mine = unique(withCdf.map((r) => r.experiment));
    if (mine.length > 1) controls.append(chooser("experiment", mine.map((e) => [e, e || "(main)"]), mine[0], show).node);
    show(mine[0]);
  }

  // ---- links on the network
  const unpack = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const withLinks = runs.filter((r) => r.links);
  if (withLinks.length) {
    const canvas = el("canvas", {}), list = el("ol", { class: "hot" }), histogram = el("div", { class: "chart" }), controls = el("div", { class: "controls" }), note = el("p", { class: "soft" });
    const ramp = el("div", { class: "ramp" }, "idle", el("i", { style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map(heat).join(",")})` }), "fully used");
    section("Where the load is", "Utilisation of every link (the busier direction), drawn on the network. Point at a router to read its links.", controls,
      el("div", { class: "wide" }, el("div", { style: "min-width:0" }, canvas, ramp, note), el("div", { style: "min-width:0" }, el("h3", {}, "hottest links"), list, el("h3", { style: "margin-top:18px" }, "links by utilisation"), histogram)));
    const drawHistogram = live(histogram);
    let current = null, placed = [];
    const paint = () => {
      const links = current.links, width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
      const network = links.network === undefined ? null : data.networks[links.network];
      canvas.hidden = ramp.hidden = !network; placed = [];
      note.textContent = network ? `${network.name}: ${number(network.routers.length)} routers, ${number(network.ends.length)} link directions, mean utilisation ${(links.mean * 100).toFixed(1)} %` : "This network is too large to be drawn here; links.parquet has every link.";
      if (!network) return;
      const xs = network.routers.map((r) => r[2]), ys = network.routers.map((r) => r[3]);
      const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const pad = 24, aspect = (y1 - y0 || 1) / (x1 - x0 || 1), height = Math.max(260, Math.min(680, (width - 2 * pad) * Math.min(1.1, Math.max(0.58, aspect)) + 2 * pad));
      canvas.style.height = height + "px"; canvas.width = width * ratio; canvas.height = height * ratio;
      const g = canvas.getContext("2d"); g.scale(ratio, ratio);
      // A flat network may be stretched to fill the space: only its wiring matters, not its proportions.
      // Long links are bent by 6 % of their length: leave room for that at the rim.
      const padX = pad + 0.04 * height, padY = pad + 0.05 * width;
      const fitX = (width - 2 * padX) / (x1 - x0 || 1), fitY = Math.max(20, height - 2 * padY) / (y1 - y0 || 1), scale = Math.min(fitX, fitY);
      const sx = Math.min(fitX, 3.5 * scale), sy = Math.min(fitY, 3.5 * scale);
      const ox = (width - sx * (x1 - x0)) / 2, oy = (height - sy * (y1 - y0)) / 2;
      const at = new Map(network.routers.map((r) => [r[0], [ox + (r[2] - x0) * sx, oy + (r[3] - y0) * sy]]));
      const use = unpack(links.use), pairs = new Map();
      network.ends.forEach(([a, b], i) => { const key = a < b ? a * 65536 * 4 + b : b * 65536 * 4 + a, had = pairs.get(key); if (!had || had[2] < use[i]) pairs.set(key, [Math.min(a, b), Math.max(a, b), use[i]]); });
      const many = pairs.size > 3000;
      for (const [a, b, u] of [...pairs.values()].sort((p, q) => p[2] - q[2])) {
        const [ax, ay] = at.get(a), [bx, by] = at.get(b), t = u / 250, length = Math.hypot(bx - ax, by - ay);
        g.strokeStyle = heat(t); g.lineWidth = many ? 0.5 + 1.8 * t : 1 + 3.6 * t; g.globalAlpha = many && t < 0.3 ? 0.35 : 1;
        g.beginPath(); g.moveTo(ax, ay);
        if (length > Math.max(sx, sy) * 1.5) g.quadraticCurveTo((ax + bx) / 2 - 0.12 * (by - ay), (ay + by) / 2 + 0.12 * (bx - ax), bx, by); else g.lineTo(bx, by);
        g.stroke();
      }
      g.globalAlpha = 1;
      const radius = Math.max(1.6, Math.min(6, scale * 0.16)), style = getComputedStyle(document.body);
      g.fillStyle = style.color;
      for (const [id, name] of network.routers) { const [x, y] = at.get(id); g.beginPath(); g.arc(x, y, radius, 0, 7); g.fill(); placed.push([x, y, id, name]); }
      links.hottest.slice(0, 3).forEach((hot, i) => {
        const a = at.get(hot[2]), b = at.get(hot[3]); if (!a || !b) return;
        const x = (a[0] + b[0]) / 2, y = (a[1] + b[1]) / 2, long = Math.hypot(b[0] - a[0], b[1] - a[1]) > Math.max(sx, sy) * 1.5, sign = hot[2] < hot[3] ? 1 : -1;
        const lx = long ? x - 0.06 * (b[1] - a[1]) * sign : x, ly = long ? y + 0.06 * (b[0] - a[0]) * sign : y;
        g.fillStyle = heat(1); g.beginPath(); g.arc(lx, ly, 9, 0, 7); g.fill();
        g.fillStyle = "#fff"; g.font = "bold 11px system-ui,sans-serif"; g.textAlign = "center"; g.textBaseline = "middle"; g.fillText(String(i + 1), lx, ly + 0.5);
      });
    };
    canvas.addEventListener("mousemove", (event) => {
      const box = canvas.getBoundingClientRect(), mx = event.clientX - box.left, my = event.clientY - box.top;
      let best = null, distance = 16 * 16;
      for (const p of placed) { const d = (p[0] - mx) ** 2 + (p[1] - my) ** 2; if (d < distance) { distance = d; best = p; } }
      if (!best) { hideTip(); return; }
      const network = data.networks[current.links.network], use = unpack(current.links.use), names = new Map(network.routers.map((r) => [r[0], r[1]]));
      const out = network.ends.map((e, i) => [e, use[i]]).filter(([e]) => e[0] === best[2]).sort((a, b) => b[1] - a[1]).slice(0, 8);
      showTip(event, `${best[3]}\n` + out.map(([e, u]) => `\u2192 ${names.get(e[1])}: ${(u / 2.5).toFixed(0)} %`).join("\n"));
    });
    canvas.addEventListener("mouseleave", hideTip);
    const show = (id) => {
      current = withLinks.find((r) => r.id === id);
      list.replaceChildren(...current.links.hottest.map(([name, u], i) => el("li", {}, el("div", { class: "name" }, el("span", {}, `${i + 1}. ${name}`), el("b", {}, (u * 100).toFixed(1) + " %")), el("div", { class: "bar" }, el("i", { style: `width:${Math.min(100, u * 100)}%;background:${heat(u)}` })))));
      drawHistogram({ series: [{ name: "", colour: COLOURS[0], width: 5, points: current.links.histogram.map((n, i) => [i * 5 + 2.5, n]) }], bars: true, xLabel: "utilisation [%]", yLabel: "links" });
      paint();
    };
    const first = withLinks.reduce((a, b) => (b.links.hottest[0] && b.links.hottest[0][1] > a.links.hottest[0][1] && b.links.network !== undefined ? b : a));
    if (withLinks.length > 1) controls.append(chooser("run", withLinks.map((r) => [r.id, r.label]), first.id, show).node);
    show(first.id);
    redraws.push(paint);
  }

  // ---- hops and timeline of one run
  const detailed = runs.filter((r) => (r.hops && r.hops[0].length) || (r.timeline && r.timeline[0].length));
  if (detailed.length) {
    const controls = el("div", { class: "controls" }), hops = el("div", { class: "chart" }), time = el("div", { class: "chart" });
    const hasTime = detailed.some((r) => r.timeline);
    section("Inside one run", null, controls, el("div", { class: "pair" }, hops, hasTime ? time : null));
    const drawHops = live(hops), drawTime = live(time);
    const show = (id) => {
      const r = detailed.find((run) => run.id === id);
      if (r.hops) drawHops({ series: [{ name: "", colour: COLOURS[0], points: r.hops[0].map((x, i) => [x, r.hops[1][i]]) }], bars: true, xLabel: "hops (ejection counts)", yLabel: "packets" }); else hops.replaceChildren();
      if (r.timeline) drawTime({ series: [{ name: "mean latency", colour: COLOURS[1], points: r.timeline[0].map((x, i) => [x, r.timeline[2][i]]) }], xLabel: "simulated time [ns]", yLabel: "mean latency [ns]", markers: false }); else time.replaceChildren();
    };
    if (detailed.length > 1) controls.append(chooser("run", detailed.map((r) => [r.id, r.label]), detailed[0].id, show).node);
    show(detailed[0].id);
  }

  // ---- table of runs
  if (runs.length) {
    const keys = unique(runs.flatMap((r) => r.sweep.map(([k]) => k)));
    const columns = [["run", (r) => r.id], ...(experiments.length > 1 ? [["experiment", (r) => r.experiment]] : []), ...keys.map((k) => [k, (r) => { const v = valueOf(r, k); return v === undefined ? "" : v; }]), ["seed", (r) => r.seed],
      ...[["nodes", "n_nodes"], ["job time [ns]", "jobs.0.time_ns"], ["time of accesses [ns]", "memory.time_ns"], ["mean latency [ns]", "latency_ns.mean"], ["p99 [ns]", "latency_ns.p99"], ["hops", "hops.mean"], ["offered", "offered_load"], ["accepted", "accepted_load"], ["MiB/s per sender", "throughput_MiBps.mean"], ["messages", "messages"], ["CPU [s]", "cpu_s"]].filter(([, k]) => runs.some((r) => (finite(get(r.summary, k)) || finite(atLeast(r, k))) && (k !== "jobs.0.time_ns" || finite(r.summary.jobs[0].ranks)))).map(([name, k]) => [name, (r) => (finite(atLeast(r, k)) ? `> ${number(atLeast(r, k))}` : get(r.summary, k)), true]),
      ...(runs.some(lost) ? [["not arrived", (r) => `${(100 * lost(r)).toFixed(2)} %`]] : []), ["verdict", (r) => (r.ok ? stateOf(r) : "FAILED")], ["digest", (r) => r.summary.digest || ""]];
    let order = { column: -1, sign: 1 };
    const body = el("tbody", {});
    const fill = () => {
      const sorted = [...runs];
      if (order.column >= 0) { const f = columns[order.column][1]; sorted.sort((a, b) => { let [x, y] = [f(a), f(b)]; const [qx, qy] = [quantity(x), quantity(y)]; if (qx && qy) [x, y] = [qx[0], qy[0]]; return (x < y ? -1 : x > y ? 1 : 0) * order.sign; }); }
      body.replaceChildren(...sorted.slice(0, 2000).map((r) => el("tr", {}, columns.map(([name, f, numeric]) => { const v = f(r); return el("td", { class: numeric || name === "seed" ? "n" : name === "verdict" ? (r.ok ? (stateOf(r) === "ok" ? "good" : "warn") : "bad") : "", ...(name === "verdict" && stateOf(r) !== "ok" ? { title: (r.summary.verdict || {}).because || r.summary.saturated || "" } : {}) }, numeric && typeof v !== "string" ? number(v) : String(v)); }))));
    };
    section("Runs", "Click a heading to sort.", el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, columns.map(([name, , numeric], i) => el("th", { class: "sortable" + (numeric || name === "seed" ? " n" : ""), onclick: () => { order = { column: i, sign: order.column === i ? -order.sign : 1 }; fill(); } }, name)))), body)));
    fill();
  }

  // ---- perturbed runs
  const spreads = runs.flatMap((r) => Object.entries((r.summary.perturbed || {}).times || {}).map(([key, of]) => [r, key, of]));
  if (spreads.length) {
    const fragile = spreads.filter(([, , of]) => of.relative > 0.1).length;
    const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });
    section("Under perturbation", `Each run again with other ties, starts that differ and neighbours in orders of their own. ${fragile ? `${fragile} of ${spreads.length} times spread by more than 10 %: they tell of the order in which ranks happen to act, not of the network.` : `No time spreads by more than 10 %.`}`, el("div", { class: "scroll" }, el("table", {},
      el("tr", {}, ["run", "time [ns]", "unperturbed", "least", "median", "most", "spread"].map((h) => el("th", {}, h))),
      spreads.slice(0, 200).map(([r, key, of]) => el("tr", {}, el("td", {}, r.label), el("td", {}, key), [of.unperturbed, of.min, of.median, of.max].map((value) => el("td", {}, number(value))),
        el("td", { class: of.relative > 0.1 ? "warn" : "good" }, `${(100 * of.relative).toFixed(1)} %`))),
      spreads.length > 200 ? el("tr", {}, el("td", {}, `and ${spreads.length - 200} more in runs.parquet`)) : null)));
  }

  // ---- checks, limits, notes
  const checks = new Map();
  for (const r of runs) for (const c of (r.summary.verdict && r.summary.verdict.checks) || []) { if (!checks.has(c.name)) checks.set(c.name, { ok: 0, bad: [], detail: c.detail }); const entry = checks.get(c.name); if (c.ok) { entry.ok++; } else entry.bad.push([r, c.detail]); }
  if (checks.size) section("Self-checks", "Every run proves itself; a run that fails a check is an error, never a number.", el("div", { class: "scroll" }, el("table", {}, el("tr", {}, ["check", "passed", "detail"].map((h) => el("th", {}, h))),
    [...checks].map(([name, entry]) => el("tr", {}, el("td", {}, name), el("td", { class: entry.bad.length ? "bad" : "good" }, `${entry.ok} of ${entry.ok + entry.bad.length}`), el("td", {}, entry.bad.length ? entry.bad.slice(0, 20).map(([r, detail]) => el("div", {}, `${r.label}: ${detail}`)) : el("span", { class: "soft" }, runs.length > 1 ? `e.g. ${entry.detail || ""}` : entry.detail || "")))))));
  const limits = unique(runs.flatMap((r) => r.summary.limits || []));
  const notes = new Map();
  for (const r of runs) for (const n of r.summary.notes || []) notes.set(n, [...(notes.get(n) || []), r]);
  const saturated = runs.filter((r) => stateOf(r) === "saturated"), unsettled = runs.filter((r) => stateOf(r) === "unsettled");
  if (limits.length || notes.size || saturated.length || unsettled.length) section("What to keep in mind", null, el("div", { class: "pair" },
    limits.length ? el("div", {}, el("h3", {}, "limits of the models"), el("ul", { class: "plain" }, limits.map((text) => el("li", {}, text)))) : null,
    notes.size || saturated.length || unsettled.length ? el("div", {}, el("h3", {}, "notes of the runs"), el("ul", { class: "plain" },
      saturated.length ? el("li", {}, `${saturated.length} run${saturated.length > 1 ? "s are" : " is"} saturated: latency there grows with the length of the run (${saturated.slice(0, 4).map((r) => r.label).join("; ")}${saturated.length > 4 ? "; \u2026" : ""}).`) : null,
      unsettled.length ? el("li", {}, `${unsettled.length} run${unsettled.length > 1 ? "s are" : " is"} too short to tell whether the network keeps up (${unsettled.slice(0, 4).map((r) => r.label).join("; ")}${unsettled.length > 4 ? "; \u2026" : ""}).`) : null,
      [...notes].map(([text, of]) => el("li", {}, text, runs.length > 1 ? el("span", { class: "soft" }, ` (${of.length} of ${runs.length} runs)`) : null)))) : null));

  // ---- provenance
  section("Where this comes from", "The same study and seed give the same bytes on any engine and machine; fabricsim rerun proves it.", el("dl", {}, Object.entries(data.provenance).filter(([, v]) => v).flatMap(([k, v]) => [el("dt", {}, k.replace(/_/g, " ")), el("dd", {}, v)])),
    el("details", {}, el("summary", {}, "the study"), el("pre", {}, data.source)));
  document.getElementById("foot").append(`fabricsim ${data.provenance.version} \u00b7 this file needs no network`);
})();
