import {Larder} from "/client/larder.js";

const SHOWN = 30;
const element = id => document.getElementById(id);

const larder = await Larder.open({url: location.origin, name: "larder-demo"});
let problem = null;

if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register("sw.js").catch(error => report(`Without a service worker the page needs the network: ${error.message}`));
}

/** Registers the device and has Larder fetch films, once; both need the network. */
async function prepare() {
  try {
    await larder.register();
    await larder.follow("films", {types: ["Film"]});
    if (larder.count({type: "Film"}) === 0) await larder.read("Films", {limit: 100});
    problem = null;
    larder.start({onError: error => report(error.message)});
  } catch (error) {
    report(error.message);
    setTimeout(prepare, 2_000);
  }
  showStatus();
}

function report(message) {
  problem = message;
  showStatus();
}

function showStatus() {
  const waiting = larder.profile ? larder.outbox().length : 0;
  element("status").textContent = [
    navigator.onLine ? "The network is on." : "The network is off.",
    waiting ? `${waiting} ${waiting === 1 ? "edit waits" : "edits wait"}.` : "All edits have arrived.",
    problem && navigator.onLine ? problem : "",
  ].join(" ");
}

function showQueue() {
  const items = larder.profile ? larder.outbox() : [];
  element("empty").hidden = items.length > 0;
  element("queue").replaceChildren(...items.map(({key, operation, state}) => {
    const row = document.createElement("li");
    row.dataset.state = state;
    row.textContent = `${operation}: ${{waiting: "waits for the network", enqueued: "accepted", parked: "parked"}[state]}`;
    const discard = document.createElement("button");
    discard.textContent = "Discard";
    discard.onclick = () => larder.discard(key).catch(error => report(error.message));
    row.append(" ", discard);
    return row;
  }));
}

function showFilms() {
  const search = element("search").value.trim();
  const query = {type: "Film", order: "title", ...(search ? {filter: "title CONTAINS[cd] ?", args: [search]} : {})};
  const films = larder.profile ? larder.list({...query, limit: SHOWN}) : [];
  const list = element("films");
  const rows = new Map([...list.children].map(row => [row.dataset.id, row]));
  list.replaceChildren(...films.map(film => updated(rows.get(film.id) ?? rowOf(film), film)));
  element("count").textContent = films.length ? `${films.length} of ${larder.count(query)}` : "No film is on this device yet.";
}

function rowOf({id}) {
  const row = document.createElement("li");
  row.dataset.id = id;
  const form = document.createElement("form"), input = document.createElement("input"), save = document.createElement("button");
  input.setAttribute("aria-label", "Tagline");
  save.textContent = "Save";
  form.append(input, save);
  form.onsubmit = event => {
    event.preventDefault();
    const tagline = input.value;
    input.dataset.edited = "";
    larder.submit("UpdateFilm", {id, patch: {tagline}}, {
      object: `Film:${id}`, optimistic: [{op: "merge", type: "Film", id, fields: {tagline}}],
    }).catch(error => report(error.message));
  };
  input.oninput = () => input.dataset.edited = "yes";
  row.append(document.createElement("span"), form);
  return row;
}

function updated(row, film) {
  row.className = film._pending ? "pending" : "";
  row.querySelector("span").textContent = `${film.title} (${film.year})${film._pending ? ", not saved upstream yet" : ""}`;
  const input = row.querySelector("input");
  if (!input.dataset.edited) input.value = film.tagline ?? "";
  return row;
}

let isShowing = false;
function show() {
  if (isShowing) return;
  isShowing = true;
  // A tab in the background draws no frames, and is to follow all the same.
  setTimeout(() => {
    isShowing = false;
    showStatus();
    showQueue();
    showFilms();
  });
}

larder.onChange(() => {
  problem = null;
  show();
});
element("search").oninput = show;
addEventListener("online", show);
addEventListener("offline", show);
show();
await prepare();
document.documentElement.dataset.ready = "yes";
