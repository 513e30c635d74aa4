// The parts that screens are made of: states, tables, facts, dialogs, tabs, copies.

import {el, freshId, put, shown} from "./dom.js";
import {Problem, signals} from "./http.js";
import {indented, parsed} from "./json.js";
import {canWrite} from "./session.js";
import {ago, date, moment} from "./format.js";

// States.

export const skeleton = (label = "Loading…") =>
  el(
    "div",
    {class: "skeleton", role: "status"},
    el("span"),
    el("span"),
    el("span"),
    el("span"),
    el("p", {class: "hidden"}, label),
  );

/** What is shown where there is nothing. */
export const empty = (title, text, ...more) =>
  el("div", {class: "empty"}, el("strong", {}, title), text ? el("p", {}, text) : null, ...more);

/** What is shown where something failed; `retry` repeats it. */
export function failure(error, retry) {
  const isProblem = error instanceof Problem;
  const isOffline = isProblem && error.isOffline;
  return el(
    "div",
    {class: `notice ${isOffline ? "warn" : "bad"}`, role: "alert"},
    el(
      "strong",
      {},
      isOffline
        ? "Larder does not respond"
        : isProblem && error.status === 404
          ? "Not found"
          : isProblem && error.status === 403
            ? "Not allowed"
            : "This cannot be shown",
    ),
    el("p", {}, isOffline ? `${error.message} What is shown here comes back with the connection.` : error.message),
    isProblem && error.faults.length
      ? el(
          "ul",
          {},
          error.faults
            .slice(0, 20)
            .map((fault) =>
              el(
                "li",
                {},
                fault.pointer || fault.parameter ? el("code", {}, fault.pointer ?? fault.parameter) : null,
                ` ${fault.detail}`,
              ),
            ),
        )
      : null,
    isProblem && (error.code || error.requestId)
      ? el(
          "p",
          {class: "soft small"},
          [error.status, error.code].filter(Boolean).join(" "),
          error.requestId ? [" · request ", el("code", {}, error.requestId)] : null,
        )
      : null,
    retry ? el("button", {type: "button", class: "small", onclick: retry}, "Try again") : null,
  );
}

const turns = new WeakMap();

/** Begins a turn of filling a place; the result says whether no later one has begun since. */
export function turn(place) {
  const own = (turns.get(place) ?? 0) + 1;
  turns.set(place, own);
  return () => turns.get(place) === own;
}

/**
 * Fills a place with what `make` returns; shows that it loads, why it fails, and loads again when the service
 * is back.
 */
export async function load(place, make, signal, {isQuiet = false} = {}) {
  const again = () => load(place, make, signal);
  const isLatest = turn(place);
  if (!isQuiet || !place.hasChildNodes()) put(place, skeleton());
  place.setAttribute("aria-busy", "true");
  try {
    const made = await make();
    if (signal?.aborted || !isLatest()) return;
    put(place, made);
  } catch (error) {
    if (signal?.aborted || !isLatest()) return;
    if (!(error instanceof Problem)) console.error(error);
    put(place, failure(error, again));
    if (error instanceof Problem && error.isOffline) {
      const back = (event) => {
        if (!event.detail) return;
        signals.removeEventListener("reach", back);
        if (!signal?.aborted && isLatest()) again();
      };
      signals.addEventListener("reach", back, {signal});
    }
  } finally {
    if (isLatest()) place.setAttribute("aria-busy", "false");
  }
}

// Headings and buttons.

/** The heading of a screen. */
export const head = (title, text, ...actions) =>
  el(
    "div",
    {class: "head"},
    el("div", {class: "grow"}, el("h1", {tabindex: -1}, title), text ? el("p", {}, text) : null),
    actions.length ? el("div", {class: "row"}, shown(actions)) : null,
  );

export const sheet = (title, ...children) => {
  const id = freshId("sheet");
  return el("section", {class: "sheet stack", "aria-labelledby": id}, el("h2", {id}, title), shown(children));
};

export const tag = (text, kind = "") => el("span", {class: `tag ${kind}`}, text);
export const pill = (text, kind = "") => el("span", {class: `pill ${kind}`}, text);

export const button = (label, press, kind = "") => el("button", {type: "button", class: kind, onclick: press}, label);

/** A button that writes; null for a caller who only reads. */
export const writeButton = (label, press, kind = "") => (canWrite() ? button(label, press, kind) : null);

/** Runs something that a button began: disables the button meanwhile, and reports a failure. */
export async function run(pressed, work) {
  if (pressed) pressed.disabled = true;
  try {
    return await work();
  } catch (error) {
    // The screen was left meanwhile.
    if (error.name === "AbortError") return undefined;
    if (!(error instanceof Problem)) console.error(error);
    const faults =
      error.faults?.map((fault) => `${fault.pointer ?? fault.parameter ?? ""} ${fault.detail}`.trim()) ?? [];
    toast([error.message, ...faults.slice(0, 5)].join(" "), true);
    return undefined;
  } finally {
    if (pressed) pressed.disabled = false;
  }
}

const toastMilliseconds = 6000;

/** Says something that happened; what failed stays until it is closed. */
export function toast(text, isBad = false) {
  const made = el(
    "div",
    {class: "toast"},
    el("span", {}, text),
    el("button", {type: "button", "aria-label": "Close", onclick: () => made.remove()}, "×"),
  );
  const place = document.getElementById("toasts");
  place.append(made);
  while (place.children.length > 4) place.firstChild.remove();
  if (!isBad) setTimeout(() => made.remove(), toastMilliseconds);
}

// Tables and facts.

/** A table that scrolls by itself. A column is `{label, cell(row), isNumber, isHead, kind}`. */
export function table(caption, columns, rows) {
  return el(
    "div",
    {class: "scroll", tabindex: 0, role: "group", "aria-label": caption},
    el(
      "table",
      {},
      el("caption", {class: "hidden"}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((column) =>
            el(
              "th",
              {scope: "col", class: column.isNumber ? "number" : ""},
              column.label || el("span", {class: "hidden"}, "Actions"),
            ),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            columns.map((column) => {
              const content = shown([column.cell(row)]);
              return column.isHead
                ? el("th", {scope: "row"}, content)
                : el("td", {class: [column.isNumber ? "number" : "", column.kind ?? ""].join(" ").trim()}, content);
            }),
          ),
        ),
      ),
    ),
  );
}

/** Names and values; those without a value are left out. */
export const facts = (pairs) =>
  el(
    "dl",
    {class: "facts"},
    pairs
      .filter(([, value]) => value !== undefined && value !== null && value !== "")
      .map(([name, value]) => [el("dt", {}, name), el("dd", {}, shown([value]))]),
  );

/** A moment as the time since then, with the whole date on hover and for readers. */
export function since(value) {
  const found = date(value);
  return found ? el("time", {datetime: found.toISOString(), title: moment(value)}, ago(value)) : "never";
}

export const tile = (label, value, note, kind = "") =>
  el(
    "div",
    {class: "number-tile"},
    el("span", {}, label),
    el("strong", {class: kind}, value),
    note ? el("span", {}, note) : null,
  );

/**
 * A list of pages: a place that grows by a button while there is a `next`.
 *
 * - `fetch(after)` returns `{items, next}`; `show(items)` an element for one page.
 */
export function pages(fetch, show, none, signal) {
  const place = el("div", {class: "stack"});
  async function more(after, pressed) {
    const page = await fetch(after);
    if (signal?.aborted) return;
    pressed?.remove();
    if (!after && page.items.length === 0) {
      put(place, none);
      return;
    }
    place.append(show(page.items, after));
    if (page.next) {
      const next = el("button", {type: "button", onclick: () => run(next, () => more(page.next, next))}, "Show more");
      place.append(el("div", {class: "row"}, next));
    }
  }
  return {place, start: () => more(undefined)};
}

/** A place that shows such a list. */
export function listed(list, signal, place = el("div")) {
  load(
    place,
    async () => {
      await list.start();
      return list.place;
    },
    signal,
  );
  return place;
}

// Texts to copy.

export async function copy(text, pressed) {
  const label = pressed.textContent;
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    // Without HTTPS there is no clipboard: the text is selected instead.
    const source = pressed.closest("[data-copies]")?.querySelector("pre");
    if (source) getSelection().selectAllChildren(source);
    pressed.textContent = "Selected";
  }
  setTimeout(() => {
    pressed.textContent = label;
  }, 1500);
}

/** A block of text with a button that copies it. */
export function block(text, label) {
  const pressed = el(
    "button",
    {type: "button", class: "small", "aria-label": `Copy: ${label}`, onclick: () => copy(text, pressed)},
    "Copy",
  );
  return el(
    "div",
    {class: "stack tight", "data-copies": true},
    el("div", {class: "row"}, el("span", {class: "grow label soft"}, label), pressed),
    verbatim(text, label),
  );
}

const shownCharactersMax = 200000;

/** A text as it stands, in a place that scrolls by itself and can be reached with the keyboard. */
export const verbatim = (text, label) => el("pre", {tabindex: 0, role: "group", "aria-label": label}, text);

/** A response's text: JSON is indented, and what is longer than a screen holds is cut. */
export function bodyText(text) {
  const readable = parsed(text) === undefined ? text : indented(text);
  return readable.length > shownCharactersMax
    ? `${readable.slice(0, shownCharactersMax)}\n… ${readable.length - shownCharactersMax} more characters`
    : readable;
}

// Forms.

/** A field with its label. `hint` is read with it. */
export function field(label, control, hint, kind = "") {
  const id = control.id || freshId("field");
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return el(
    "div",
    {class: `field ${kind}`},
    el("label", {for: id, class: "label"}, label),
    control,
    hint ? el("span", {class: "hint", id: `${id}-hint`}, hint) : null,
  );
}

export const select = (options, value, properties = {}) =>
  el(
    "select",
    {...properties, value},
    options.map((option) =>
      typeof option === "string" ? el("option", {value: option}, option) : el("option", {value: option[0]}, option[1]),
    ),
  );

// Dialogs.

/** Opens a dialog whose content `make(close)` returns. The promise ends with what `close` was given. */
export function dialog(title, make, kind = "") {
  return new Promise((resolve) => {
    const id = freshId("dialog");
    let result;
    const made = el("dialog", {class: kind, "aria-labelledby": id});
    const close = (value) => {
      result = value;
      made.close();
    };
    made.addEventListener("close", () => {
      made.remove();
      resolve(result);
    });
    put(made, el("div", {class: "stack"}, el("h2", {id}, title), make(close)));
    document.body.append(made);
    made.showModal();
  });
}

/** Asks before something is done that cannot be undone. True if it shall be done. */
export const confirmed = (title, text, verb) =>
  dialog(title, (close) => [
    el("p", {}, text),
    el(
      "div",
      {class: "row end"},
      button("Cancel", () => close(false)),
      button(verb, () => close(true), "danger"),
    ),
  ]);

/** Tabs: `entries` are `[name, make]`; what `make` returns is shown when its tab is first chosen. */
export function tabs(label, entries) {
  const base = freshId("tabs");
  const panel = el("div", {role: "tabpanel", id: `${base}-panel`, class: "stack", tabindex: 0});
  const list = el("div", {role: "tablist", "aria-label": label});
  const made = new Map();
  function choose(index, isFocused) {
    [...list.children].forEach((one, number) => {
      one.setAttribute("aria-selected", String(number === index));
      one.tabIndex = number === index ? 0 : -1;
    });
    if (!made.has(index)) made.set(index, shown([entries[index][1]()]));
    panel.setAttribute("aria-labelledby", `${base}-${index}`);
    put(panel, made.get(index));
    if (isFocused) list.children[index].focus();
  }
  entries.forEach(([name], index) => {
    list.append(
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `${base}-${index}`,
          "aria-controls": `${base}-panel`,
          onclick: () => choose(index, false),
          onkeydown: (event) => {
            const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
            if (!step) return;
            event.preventDefault();
            choose((index + step + entries.length) % entries.length, true);
          },
        },
        name,
      ),
    );
  });
  choose(0, false);
  return el("div", {class: "stack"}, list, panel);
}
