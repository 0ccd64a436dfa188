/* The page of `fabricsim view`: a folder's state, the pictures of its runs, and all of them in a table, as they are now. */
import { chooser, el } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { ask, asked } from "./ask.js";
import { differencesOf } from "./beside.js";
import { makeChoice } from "./choice.js";
import { countWords, failedLines, runningBars } from "./progress.js";
import { rowsTable } from "./rows.js";
import { makeStage } from "./stage.js";
import { badge, merged, shareOf } from "./states.js";

/** Draw the head: name, badge, how far it is. */
export function drawHead(host, data, lost) {
  const { state } = data;
  const [kind, text] = lost ? ["bad", "the server has ended"] : badge(data);
  const progress = { role: "progressbar", "aria-valuenow": state.finished, "aria-valuemax": state.total };
  const share = `width:${100 * shareOf(state)}%`;
  const wrong = [state.damage, ...state.findings, ...failedLines(state)].filter(Boolean);
  const more = state.n_findings - state.findings.length;
  if (more > 0) wrong.push(`and ${number(more)} more (fabricsim verify names all)`);
  host.replaceChildren(
    el("div", { class: "title" }, el("h1", {}, state.name), el("span", { class: `badge ${kind}`, role: "status" }, text)),
    state.description ? el("p", { class: "lead" }, state.description) : "",
    el("div", { class: "progress", ...progress }, el("i", { style: share })),
    el("p", { class: "soft", id: "count" }, [countWords(state), state.command].filter(Boolean).join(" \u00b7 ")),
    ...runningBars(state.running || []),
    wrong.length
      ? el(
          "ul",
          { class: "plain bad findings" },
          wrong.map((line) => el("li", {}, line)),
        )
      : "",
  );
}

function follow(folder, show, trouble) {
  const source = new EventSource(asked("api/events", { folder }));
  let data = null;
  let lost = false;
  const again = async () => {
    data = await ask("api/runs", { folder });
    show(data, lost, true);
  };
  source.onmessage = (event) => {
    const told = JSON.parse(event.data);
    lost = false;
    const isNew = told.runs && told.runs.some(({ id }) => !data || !data.main.length || !data.order.includes(id));
    if (!data || told.again || isNew) again().catch(trouble);
    else {
      data = { ...merged(data, told.runs || []), state: told.state };
      show(data, lost, Boolean(told.runs));
    }
  };
  source.onerror = () => {
    lost = true;
    if (data) show(data, lost, false);
  };
  source.addEventListener("refused", (event) => {
    source.close();
    trouble(new Error(JSON.parse(event.data)));
  });
  return () => source.close();
}

/** Make the section of the pictures; what it returns is told of runs, and of choices in the table. */
function pictures(part, { folders, root, may_fork: mayFork }, trouble) {
  const [controls, below] = [el("div", { class: "controls" }), el("div", { class: "beside" })];
  part.append(controls);
  const forked = (place) => choice.beside(place).catch(trouble);
  const stage = makeStage(part, trouble, mayFork ? forked : null);
  part.append(below);
  let turn = 0;
  const show = async (places) => {
    const mine = ++turn;
    below.replaceChildren();
    await stage.show(places);
    if (places.length < 2 || mine !== turn) return;
    const [first, second] = places;
    const found = await ask("api/differences", { ...first, folder2: second.folder, run2: second.run });
    if (mine === turn) below.replaceChildren(el("h3", {}, "what differs"), ...differencesOf(found));
  };
  const choice = makeChoice(controls, { folders, root, show: (places) => show(places).catch(trouble) });
  return choice;
}

const sectionOf = (title, hint) => el("section", {}, el("h2", {}, title), el("p", { class: "hint" }, hint));

async function run() {
  const [top, main] = [document.getElementById("top"), document.getElementById("main")];
  const [head, controls, alarm] = [el("div", {}), el("div", { class: "controls" }), el("p", { class: "bad", role: "alert" })];
  const drawn = sectionOf(
    "The network",
    "How busy its links are. Click a link to see who uses it, a group to see into it. With the keyboard: arrow keys move " +
      "through time, Space plays, Escape leaves a group.",
  );
  const listed = sectionOf(
    "Runs",
    "Click a heading to sort, a run to see its network, with Shift to put it beside. Arrow keys move through the rows, " +
      "Enter is a click.",
  );
  top.append(controls, head, alarm);
  main.append(drawn, listed);
  const trouble = (error) => (alarm.textContent = error.message);
  try {
    const told = await ask("api/folders");
    const { root, folders } = told;
    const choice = pictures(drawn, told, trouble);
    const fill = rowsTable(listed, choice.pick);
    const show = (data, lost, rows) => {
      document.title = `${data.state.name} (${data.state.phase})`;
      drawHead(head, data, lost);
      for (const part of [listed, drawn]) part.hidden = !data.runs.length;
      if (!rows) return;
      fill(data);
      choice.runs(data);
    };
    let stop = () => {};
    const open = (folder) => {
      stop();
      alarm.textContent = "";
      choice.folder(folder);
      stop = follow(folder, show, trouble);
    };
    const first = folders.length ? folders[0] : "";
    const names = folders.map((name) => [name, name || root]);
    if (folders.length > 1) controls.append(chooser("folder", names, first, open));
    open(first);
  } catch (error) {
    trouble(error);
  }
}

/** Start the page. */
export const start = () => run();
