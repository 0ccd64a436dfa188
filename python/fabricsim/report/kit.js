"use strict";
/* What the pages share: elements, numbers as text, charts. Text always goes in as text, never as markup. */
const kit = (() => {
  const COLOURS = ["#2f74c0", "#d9692f", "#2f9a62", "#9a58b5", "#bf962e", "#38a3ab", "#cc4f88", "#7a8494"];
  const tip = document.getElementById("tip");
  const redraws = [];

  // ---- small helpers
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
    return node;
  };
  const svg = (tag, attributes = {}, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const finite = (value) => typeof value === "number" && Number.isFinite(value);
  const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const number = (value, digits = 4) => {
    if (!finite(value)) return "\u2013";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2).replace("e+", "e");
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    return value.toLocaleString("en-US", { maximumFractionDigits: Math.max(0, digits - 1 - Math.floor(Math.log10(size || 1))) });
  };
  const compact = (value) => {
    if (!finite(value)) return "\u2013";
    for (const [limit, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
      if (Math.abs(value) >= limit) return trim((value / limit).toFixed(value / limit < 10 ? 2 : 1)) + " " + unit;
    return trim(value.toFixed(Math.abs(value) < 10 ? 2 : 0));
  };
  const showTip = (event, text) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 8, event.clientX + 14)) + "px";
    tip.style.top = (event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16) + "px";
  };
  const hideTip = () => { tip.hidden = true; };
  const get = (object, path) => path.split(".").reduce((at, key) => (at === null || at === undefined ? undefined : at[key]), object);
  const section = (title, hint, ...children) => {
    const node = el("section", {}, el("h2", {}, title), hint ? el("p", { class: "hint" }, hint) : null, ...children);
    document.getElementById("main").append(node);
    return node;
  };
  const chooser = (label, options, value, change) => {
    const select = el("select", { onchange: () => change(select.value) }, options.map(([key, text]) => el("option", { value: key, ...(key === value ? { selected: "" } : {}) }, text)));
    return { node: el("label", {}, label, select), select };
  };
  const unique = (items) => [...new Set(items)];
  const heat = (t) => {
    // from calm blue-grey over amber to deep red; lightness falls all the way, so it reads without colour too
    const stops = [[196, 212, 230], [126, 172, 214], [242, 190, 84], [226, 112, 44], [150, 20, 34]];
    const at = Math.max(0, Math.min(0.9999, t)) * (stops.length - 1), i = Math.floor(at), f = at - i;
    return `rgb(${stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * f)).join(",")})`;
  };

  // ---- axes
  const ticks = (low, high, count) => {
    const span = high - low || Math.abs(high) || 1, rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
    return found;
  };
  const logTicks = (low, high) => {
    const found = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) for (const m of [1, 2, 5]) found.push(m * 10 ** e);
    const inside = found.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    return inside.length > 7 ? inside.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6) : inside;
  };

  // ---- a chart of lines or bars
  const chart = (host, options) => {
    const { series, xLabel, yLabel, names = null, bars = false, yZero = true, yMax = null, markers = true, steps = false, log = true } = options;
    const hidden = options.hidden || new Set();
    const draw = () => {
      host.replaceChildren();
      const width = Math.max(260, host.clientWidth || 480), height = Math.min(340, Math.max(230, width * 0.56));
      const margin = { left: 62, right: 14, top: 12, bottom: 44 };
      const shown = series.filter((s) => !hidden.has(s.name));
      const xs = shown.flatMap((s) => s.points.map((p) => p[0])).filter(finite), ys = shown.flatMap((s) => s.points.map((p) => p[1])).filter(finite);
      const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${yLabel} against ${xLabel}` });
      if (!xs.length) { root.append(svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "nothing to draw")); }
      else {
        let [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(...ys), Math.max(...ys)];
        const distinct = unique(xs);
        const logX = log && !names && !bars && x0 > 0 && x1 / x0 > 30 && distinct.length > 2;
        const logY = log && !bars && !yMax && y0 > 0 && y1 / y0 > 50;
        if (names || bars) { x0 -= 0.6; x1 += 0.6; } else if (x0 === x1) { x0 -= Math.abs(x0) * 0.5 || 1; x1 += Math.abs(x1) * 0.5 || 1; }
        if (!logY) { if (yZero) y0 = Math.min(0, y0); y1 = yMax || (y1 === y0 ? y1 + 1 : y1 + (y1 - y0) * 0.06); }
        else if (y0 === y1) y1 = y0 * 10;
        const fx = logX ? Math.log10 : (v) => v, fy = logY ? Math.log10 : (v) => v;
        const px = (v) => margin.left + ((fx(v) - fx(x0)) / (fx(x1) - fx(x0))) * (width - margin.left - margin.right);
        const py = (v) => height - margin.bottom - ((fy(v) - fy(y0)) / (fy(y1) - fy(y0))) * (height - margin.top - margin.bottom);
        for (const t of logY ? logTicks(y0, y1) : ticks(y0, y1, 5)) {
          root.append(svg("line", { x1: margin.left, x2: width - margin.right, y1: py(t), y2: py(t), stroke: "var(--grid)" }));
          root.append(svg("text", { x: margin.left - 8, y: py(t) + 4, "text-anchor": "end" }, compact(t)));
        }
        if (names) {
          const every = Math.ceil((names.length * 7 * Math.max(...names.map((n) => Math.min(n.length, 18)))) / (width - margin.left - margin.right));
          names.forEach((name, i) => { if (i % every === 0) root.append(svg("text", { x: px(i), y: height - margin.bottom + 17, "text-anchor": "middle" }, name.length > 18 ? name.slice(0, 17) + "\u2026" : name)); });
        } else for (const t of logX ? logTicks(x0, x1) : ticks(x0, x1, Math.max(3, width / 90)).filter((v) => !bars || Number.isInteger(v)))
          root.append(svg("text", { x: px(t), y: height - margin.bottom + 17, "text-anchor": "middle" }, compact(t)));
        root.append(svg("line", { x1: margin.left, x2: width - margin.right, y1: height - margin.bottom, y2: height - margin.bottom, stroke: "var(--soft)", "stroke-opacity": 0.6 }));
        shown.forEach((s) => {
          const points = s.points.filter((p) => finite(p[0]) && finite(p[1]) && (!logY || p[1] > 0));
          if (bars) {
            const w = Math.max(2, Math.min(46, ((width - margin.left - margin.right) / (x1 - x0)) * (s.width || 1) * 0.8));
            for (const p of points) root.append(svg("rect", { x: px(p[0]) - w / 2, y: py(p[1]), width: w, height: Math.max(0, py(Math.max(0, y0)) - py(p[1])), rx: 2, fill: s.colour }));
          } else {
            const path = points.map((p, i) => (i === 0 ? "M" : steps ? `H${px(p[0]).toFixed(1)}V` : "L") + (i && steps ? py(p[1]).toFixed(1) : `${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`)).join("");
            root.append(svg("path", { d: path, fill: "none", stroke: s.colour, "stroke-width": 1.9, "stroke-linejoin": "round", "stroke-dasharray": s.dash || "none" }));
            for (const p of points) if (p[2] && p[3] && p[3] > p[2]) root.append(svg("line", { x1: px(p[0]), x2: px(p[0]), y1: py(Math.max(p[2], logY ? y0 : -Infinity)), y2: py(p[3]), stroke: s.colour, "stroke-width": 1.1, opacity: 0.6 }));
            if (markers && points.length < 60) for (const p of points) root.append(p[5]
              ? svg("path", { d: `M${px(p[0]).toFixed(1)} ${(py(p[1]) - 5).toFixed(1)}l4.5 8h-9z`, fill: "none", stroke: s.colour, "stroke-width": 1.4 })
              : svg("circle", { cx: px(p[0]), cy: py(p[1]), r: 3.3, fill: s.colour }));
          }
        });
        const focus = svg("circle", { r: 5.5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.6, visibility: "hidden" });
        root.append(focus);
        root.addEventListener("mousemove", (event) => {
          const box = root.getBoundingClientRect(), mx = ((event.clientX - box.left) / box.width) * width, my = ((event.clientY - box.top) / box.height) * height;
          let best = null, distance = 60 * 60;
          for (const s of shown) for (const p of s.points) if (finite(p[0]) && finite(p[1])) {
            const d = (px(p[0]) - mx) ** 2 + (bars ? 0 : (py(p[1]) - my) ** 2);
            if (d < distance) { distance = d; best = [s, p]; }
          }
          if (!best) { focus.setAttribute("visibility", "hidden"); hideTip(); return; }
          const [s, p] = best;
          focus.setAttribute("cx", px(p[0])); focus.setAttribute("cy", py(p[1])); focus.setAttribute("visibility", "visible");
          showTip(event, `${s.name ? s.name + "\n" : ""}${xLabel}: ${names ? names[p[0]] : number(p[0])}\n${yLabel}: ${number(p[1])}${p[4] ? "\n" + p[4] : ""}`);
        });
        root.addEventListener("mouseleave", () => { focus.setAttribute("visibility", "hidden"); hideTip(); });
      }
      root.append(svg("text", { class: "axis", x: margin.left + (width - margin.left - margin.right) / 2, y: height - 6, "text-anchor": "middle" }, xLabel));
      root.append(svg("text", { class: "axis", x: 14, y: (height - margin.bottom + margin.top) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(height - margin.bottom + margin.top) / 2})` }, yLabel));
      host.append(root);
      if (series.length > 1) host.append(el("div", { class: "legend" }, series.map((s) => el("button", { type: "button", class: hidden.has(s.name) ? "off" : "", title: "show or hide", onclick: () => { hidden.has(s.name) ? hidden.delete(s.name) : hidden.add(s.name); draw(); } }, el("i", { style: `background:${s.colour}` }), s.name))));
    };
    draw();
    return draw;
  };
  const live = (host) => { let current = null; redraws.push(() => current && current()); return (options) => { current = chart(host, options); }; };

  let wait = 0;
  addEventListener("resize", () => { clearTimeout(wait); wait = setTimeout(() => redraws.forEach((f) => f()), 120); });
  return { COLOURS, tip, redraws, el, svg, finite, trim, number, compact, showTip, hideTip, get, section, chooser, unique, heat, ticks, logTicks, live };
})();
