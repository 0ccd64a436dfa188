/* What if: a fork of the run that is shown, in which something fails at a time or a key has another value. */
import { chooser, el } from "../../report/js/elements.js";
import { ask, begin } from "./ask.js";

/* Milliseconds between two questions after a fork. */
const ASK_MS = 500;

/* How something fails: what is sent, and in words. */
const WAYS = [
  ["dead", "is dead"],
  ["0.5", "has half of its bandwidth"],
  ["0.25", "has a quarter of its bandwidth"],
  ["0.1", "has a tenth of its bandwidth"],
];

/** Return the keys of `a.b = value, c = "d"`, commas in brackets and quotes aside; throws on what is none. */
export function keysOf(text) {
  const parts = text.match(/(?:"[^"]*"|\[[^\]]*\]|\{[^}]*\}|[^,\n])+/g) || [];
  const sets = {};
  for (const part of parts.map((each) => each.trim()).filter(Boolean)) {
    const at = part.indexOf("=");
    if (at < 1) throw new Error(`${part} is no key with its value: write routing.threshold = "8 KiB"`);
    sets[part.slice(0, at).trim()] = part
      .slice(at + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
  }
  return sets;
}

/** Return what the server is asked for. */
export function forkOf({ folder, run }, fails, { way, at, until, keys }) {
  const sets = keysOf(keys);
  const told = { folder, run, sets };
  if (!fails) return told;
  const time = { at: at.trim() || "0 s", ...(until.trim() ? { until: until.trim() } : {}) };
  return { ...told, ...fails, ...time, ...(way === "dead" || !fails.cables ? {} : { keeps: Number(way) }) };
}

/** Say how a fork is going. */
export const stateWords = ({ state, name, sentence }) =>
  ({
    waiting: `With ${name}: waits for the fork before it.`,
    running: `With ${name}: is running.`,
    done: sentence,
    failed: sentence,
  })[state];

/** Make the form; `forked` is told where a fork is that is done. */
export function forkForm(host, { forked, trouble }) {
  const state = { side: null, fails: null, way: "dead" };
  const input = (label, placeholder, size) => {
    const field = el("input", { type: "text", placeholder, size, "aria-label": label });
    return [el("label", {}, label, field), field];
  };
  const [fromLabel, from] = input("from", "0 s", 10);
  const [untilLabel, until] = input("until", "the end", 10);
  const [keysLabel, keys] = input("keys from the start", 'routing.threshold = "8 KiB"', 32);
  const what = el("span", {});
  const failing = el("div", { class: "controls" }, what, fromLabel, untilLabel);
  failing.insertBefore(
    chooser("", WAYS, state.way, (way) => (state.way = way)),
    fromLabel,
  );
  const told = el("p", { role: "status" });
  const submit = async () => {
    try {
      const asked = forkOf(state.side.query(), state.fails, {
        way: state.way,
        at: from.value,
        until: until.value,
        keys: keys.value,
      });
      follow(await begin("api/fork", asked));
    } catch (error) {
      told.textContent = error.message;
    }
  };
  const follow = async (fork) => {
    try {
      let now = fork;
      while (now.state === "waiting" || now.state === "running") {
        told.textContent = stateWords(now);
        await new Promise((done) => setTimeout(done, ASK_MS));
        now = (await ask("api/forks")).find(({ number }) => number === fork.number);
      }
      told.textContent = stateWords(now);
      if (now.state === "done") forked({ folder: now.forks, run: now.fork });
    } catch (error) {
      trouble(error);
    }
  };
  const button = el("button", { type: "button", class: "plain", onclick: submit }, "run the fork");
  host.append(el("h3", {}, "what if"), failing, el("div", { class: "controls" }, keysLabel, button), told);
  const show = (fails, name) => {
    Object.assign(state, { fails });
    failing.hidden = !fails;
    what.textContent = name;
  };
  show(null, "");
  return {
    /** Take the run of a side as what is forked, and nothing that fails. */
    of(side) {
      Object.assign(state, { side });
      show(null, "");
    },
    /** Take a link of a side that fails, at the time that is shown. */
    link(side, found) {
      Object.assign(state, { side });
      show(found.fails, found.fails.nodes ? `node ${found.fails.nodes[0]}` : found.fails.cables[0]);
      if (side.time() !== null) from.value = `${side.time()} ns`;
    },
  };
}
