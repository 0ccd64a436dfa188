/* Which runs are shown: one of the folder, and beside it none or one of this or another folder. */
import { el } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { ask } from "./ask.js";

/* Runs that a list offers; the table has all. */
const MOST = 500;

/** Return the runs that can be drawn, those with loads over time first if any has some; else all. */
export function firstOf(runs) {
  const has = (table) => runs.find((run) => (run.tables || []).includes(table));
  return has("link_windows") || has("links") || runs[0] || null;
}

function fillSelect(select, options, value) {
  const items = options.slice(0, MOST).map(([key, text]) => el("option", { value: key }, text));
  const more = options.length - MOST;
  if (value && !options.slice(0, MOST).some(([key]) => key === value)) {
    const found = options.find(([key]) => key === value);
    items.push(el("option", { value }, found ? found[1] : value));
  }
  if (more > 0) items.push(el("option", { value: "", disabled: "" }, `and ${number(more)} more in the table`));
  select.replaceChildren(...items);
  select.value = value;
}

/** Make the choices; `show` is told the places {folder, run} whenever they are others. */
export function makeChoice(host, { folders, root, show }) {
  const state = { folder: "", run: "", folder2: "", run2: "", runs: [], runs2: [] };
  const selectOf = (label, onchange) => {
    const select = el("select", { onchange: () => onchange(select.value) });
    host.append(el("label", {}, label, select));
    return select;
  };
  const tell = () => {
    const places = [{ folder: state.folder, run: state.run }];
    if (state.run2) places.push({ folder: state.folder2, run: state.run2 });
    if (state.run) show(places);
  };
  const labels = (runs) => runs.map(({ id, label }) => [id, label]);
  const refresh = () => {
    fillSelect(one, labels(state.runs), state.run);
    fillSelect(two, [["", "nothing"], ...labels(state.runs2)], state.run2);
  };
  const one = selectOf("run", (run) => {
    state.run = run;
    tell();
  });
  const two = selectOf("beside it", (run) => {
    state.run2 = run;
    tell();
  });
  const other = async (folder) => {
    [state.folder2, state.run2] = [folder, ""];
    state.runs2 = folder === state.folder ? state.runs : (await ask("api/runs", { folder })).runs;
    refresh();
    tell();
  };
  const from = selectOf("of the folder", other);
  /* A folder of forks comes while the page is open. */
  const known = [...folders];
  const offer = () => {
    from.parentElement.hidden = known.length < 2;
    fillSelect(
      from,
      known.map((name) => [name, name || root]),
      state.folder2,
    );
  };
  offer();
  return {
    /** Begin anew with a folder. */
    folder(folder) {
      Object.assign(state, { folder, run: "", folder2: folder, run2: "", runs: [], runs2: [] });
      from.value = folder;
      refresh();
    },
    /** Take what runs there are now. */
    runs({ runs }) {
      state.runs = runs;
      if (state.folder2 === state.folder) state.runs2 = runs;
      const had = state.run;
      if (!runs.some((run) => run.id === state.run)) {
        const first = firstOf(runs);
        state.run = first ? first.id : "";
      }
      refresh();
      if (state.run !== had) tell();
    },
    /** Show a run of the folder, or put it beside the one that is shown. */
    pick(run, beside) {
      if (beside) Object.assign(state, { folder2: state.folder, run2: run.id, runs2: state.runs });
      else state.run = run.id;
      from.value = state.folder2;
      refresh();
      tell();
    },
    /** Put a run of any folder beside the one that is shown. */
    async beside({ folder, run }) {
      if (!known.includes(folder)) known.push(folder);
      const { runs } = await ask("api/runs", { folder });
      Object.assign(state, { folder2: folder, run2: run, runs2: runs });
      offer();
      refresh();
      tell();
    },
  };
}
