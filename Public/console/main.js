// The frame: routes, the session, and whether the service responds.

import {byId, el, put} from "./core/dom.js";
import {Problem, send, setReachable, signals} from "./core/http.js";
import {failure, head, skeleton} from "./core/parts.js";
import {forget, resume, session, signOut} from "./core/session.js";
import {wait} from "./core/stream.js";

/**
 * The screens by the first part of their address; a screen without a group is not in the navigation. A public
 * one is shown without a session.
 */
const screens = {
  overview: {label: "Overview", group: "Now"},
  changes: {label: "Changes", group: "Now"},
  logs: {label: "Logs", group: "Now"},
  operations: {label: "Operations", group: "API"},
  docs: {label: "API reference", group: "API", file: "docs", isPublic: true},
  data: {label: "Data", group: "Store"},
  search: {label: "Search", group: "Store"},
  sql: {label: "SQL", group: "Store"},
  files: {label: "Files", group: "Store"},
  devices: {label: "Devices and queues", group: "Clients"},
  users: {label: "Users", group: "Clients"},
  push: {label: "Push", group: "Clients"},
  hooks: {label: "Hooks", group: "Service"},
  cluster: {label: "Cluster", group: "Service"},
  settings: {label: "Settings", group: "Service"},
  backup: {label: "Backup", group: "Service"},
};
const first = "overview";
const retrySeconds = [1, 2, 4, 8, 15];
const healthSeconds = 15;

let leaving = new AbortController();

/** The parts of the address: `#/data/Film?order=year` is ["data", "Film"] and its query. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path
    .split("/")
    .filter(Boolean)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  return {name: parts[0] || first, parts: parts.slice(1), query: new URLSearchParams(query)};
}

function showNavigation(current) {
  const groups = [...new Set(Object.values(screens).map((one) => one.group))];
  put(
    byId("nav"),
    groups.map((group) => [
      el(
        "div",
        {},
        el("h2", {id: `group-${group}`}, group),
        el(
          "ul",
          {"aria-labelledby": `group-${group}`},
          Object.entries(screens)
            .filter(([, one]) => one.group === group)
            .map(([name, one]) =>
              el(
                "li",
                {},
                el("a", {href: `#/${name}`, "aria-current": name === current ? "page" : undefined}, one.label),
              ),
            ),
        ),
      ),
    ]),
  );
}

function showWho() {
  const who = byId("who");
  who.hidden = session.role === null;
  if (session.role === null) return;
  put(
    who,
    el("span", {class: "tag accent role"}, session.role === "viewer" ? "viewer: reads only" : session.role),
    el("button", {type: "button", class: "small", onclick: leave}, "Sign out"),
  );
}

async function leave() {
  try {
    await signOut();
  } catch {
    // The session ends by itself, and the page has forgotten its token.
  }
  await show();
}

function openMenu(isOpen) {
  byId("nav").classList.toggle("open", isOpen);
  byId("menu").setAttribute("aria-expanded", String(isOpen));
}

let isFirst = true,
  failedImports = 0;

/**
 * The module of a screen. Browsers can remember that a module could not be fetched: another address is another
 * attempt.
 */
async function screenModule(file) {
  try {
    return await import(`./screens/${file}.js${failedImports ? `?attempt=${failedImports}` : ""}`);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    failedImports += 1;
    setReachable(false);
    throw new Problem(0, null, "The screen could not be fetched.");
  }
}

/** Shows the screen of the address. */
async function show() {
  leaving.abort();
  leaving = new AbortController();
  const {signal} = leaving;
  const {name, parts, query} = place();
  const screen = screens[name];
  const main = byId("main");
  openMenu(false);
  for (const open of document.querySelectorAll("dialog")) open.close();
  const isLocked = session.role === null && !screen?.isPublic;
  document.body.classList.toggle("alone", session.role === null);
  showNavigation(name);
  showWho();
  put(main, skeleton());
  main.setAttribute("aria-busy", "true");
  try {
    const file = isLocked ? "sign-in" : screen ? name : "missing";
    const {show: fill, title} = await screenModule(file);
    if (signal.aborted) return;
    document.title = `${title} – Larder`;
    put(main);
    await fill({main, parts, query, signal, go, again: show});
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) console.error(error);
    put(main, head(screen?.label ?? "Larder"), failure(error, show));
    if (error instanceof Problem && error.isOffline)
      signals.addEventListener(
        "reach",
        ({detail}) => {
          if (detail) show();
        },
        {once: true, signal},
      );
  } finally {
    if (!signal.aborted) main.setAttribute("aria-busy", "false");
  }
  // A change of screen is announced by its heading; the first one leaves the focus where it is.
  const isElsewhere = document.activeElement === main || !main.contains(document.activeElement);
  if (!isFirst && !signal.aborted && isElsewhere) (main.querySelector("h1") ?? main).focus();
  if (!isFirst) scrollTo(0, 0);
  isFirst = false;
}

/** Goes to another address; the same one is shown again. */
function go(hash) {
  if (location.hash === hash) show();
  else location.hash = hash;
}

// Whether the service and its upstreams respond.

function showHealth([kind, text]) {
  const mark = byId("health");
  mark.className = `pill ${kind}`;
  mark.textContent = text;
  mark.hidden = false;
}

let shownAt = 0;

async function look() {
  // The overview says more, and more often.
  if (performance.now() - shownAt < healthSeconds * 1000) return;
  try {
    const response = await send("GET", "/readyz", {own: true, timeout: 5000});
    const report = await response.json().catch(() => ({}));
    const states = report.upstreams ? Object.entries(report.upstreams) : [["upstream", report.upstream]];
    const failing = states.filter(([, state]) => state === "failing").map(([name]) => name);
    const refusing = report.serviceCredentialRefused ?? [];
    const isReady = response.ok && report.ready !== false;
    showHealth(
      !isReady
        ? ["bad", report.draining ? "Stopping" : "Not ready"]
        : failing.length
          ? ["bad", failing.length === 1 && !report.upstreams ? "Upstream fails" : `${failing.length} upstreams fail`]
          : refusing.length
            ? ["bad", "Upstream refuses the service"]
            : ["good", "Ready"],
    );
  } catch {
    showHealth(["bad", "No response"]);
  }
}

async function watch() {
  for (;;) {
    if (!document.hidden) await look();
    await wait(healthSeconds * 1000);
  }
}

let isTrying = false;

/** Asks again, at growing intervals, until the service responds. */
async function retry() {
  if (isTrying) return;
  isTrying = true;
  const notice = byId("offline");
  notice.hidden = false;
  showHealth(["bad", "No response"]);
  for (let turn = 0; !notice.hidden; turn += 1) {
    const seconds = retrySeconds[Math.min(turn, retrySeconds.length - 1)];
    // The text stays, so that a reader hears it once.
    if (turn === 0)
      put(
        notice,
        el("strong", {}, "Larder does not respond"),
        el(
          "p",
          {},
          `The service at ${location.host} cannot be reached. What is shown can be out of date. The console tries again by itself.`,
        ),
      );
    await wait(seconds * 1000);
    try {
      await fetch("/healthz", {cache: "no-store", signal: AbortSignal.timeout(5000)});
      setReachable(true);
    } catch {
      // Another turn.
    }
  }
  isTrying = false;
}

signals.addEventListener("reach", ({detail: isReachable}) => {
  if (!isReachable) {
    retry();
    return;
  }
  byId("offline").hidden = true;
  shownAt = 0;
  look();
});
signals.addEventListener("health", ({detail}) => {
  shownAt = performance.now();
  showHealth(detail);
});
signals.addEventListener("session", async () => {
  if (session.role === null) return;
  forget();
  sessionStorage.setItem("ended", "1");
  await show();
});
addEventListener("hashchange", () => {
  if (location.hash !== "#main") show();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("menu").addEventListener("click", () => openMenu(!byId("nav").classList.contains("open")));
byId("nav").addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    openMenu(false);
    byId("menu").focus();
  }
});

async function start() {
  put(byId("main"), skeleton());
  byId("gateway").textContent = location.host;
  try {
    await resume();
  } catch (error) {
    document.body.classList.add("alone");
    put(byId("main"), failure(error, start));
    signals.addEventListener("reach", start, {once: true});
    return;
  }
  watch();
  await show();
}

start();
