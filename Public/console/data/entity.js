// One entity: its fields with where each came from, its relationships, and how it changes.

import {el, put} from "../core/dom.js";
import {counted, moment} from "../core/format.js";
import {ask, get, post, Problem, segment} from "../core/http.js";
import {brief, Digits, indented, parsed} from "../core/json.js";
import {
  button,
  confirmed,
  dialog,
  empty,
  facts,
  failure,
  field,
  head,
  load,
  pill,
  run,
  select,
  sheet,
  since,
  table,
  tag,
  toast,
  verbatim,
  writeButton,
} from "../core/parts.js";
import {follow} from "../core/stream.js";
import {linkOf, pathOf} from "./keys.js";

const shownChangesMax = 100;

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function reference(value) {
  return value &&
    typeof value === "object" &&
    typeof value.type === "string" &&
    value.id !== undefined &&
    Object.keys(value).length === 2
    ? el("a", {href: linkOf(value.type, String(value.id))}, `${value.type} ${value.id}`)
    : null;
}

function valueCell(value, relationship) {
  if (value === null) return el("span", {class: "soft"}, "null");
  const link = reference(value);
  if (link) return link;
  if (Array.isArray(value) && value.length && value.every((one) => reference(one)))
    return value
      .slice(0, 12)
      .flatMap((one, index) => [index ? ", " : "", reference(one)])
      .concat(value.length > 12 ? ` and ${value.length - 12} more` : []);
  if (relationship && !relationship.many && typeof value !== "object")
    return el("a", {href: linkOf(relationship.type, String(value))}, String(value));
  if (typeof value === "object" && !(value instanceof Digits)) return el("code", {}, brief(value, 600));
  return brief(value, 600);
}

/** The stored copies of an entity: one for each scope that holds it. */
function copies(found, type) {
  const relationships = new Map((type.relationships ?? []).map((one) => [one.name, one]));
  const source = (name) => el("a", {href: `#/operations/${segment(name)}`}, name);
  const sources = (copy) => [
    ...new Set([copy.operation, ...(copy.fields ?? []).map((one) => one.operation)].filter(Boolean)),
  ];
  return found.copies.map((copy) =>
    sheet(
      el(
        "span",
        {class: "row"},
        `Scope ${copy.scope}`,
        copy.subject ? el("code", {}, copy.subject) : null,
        copy.deleted ? pill("deleted", "bad") : null,
        copy.due ? pill("must be fetched again", "warn") : null,
      ),
      facts([
        ["Received", [since(copy.receivedAt), ` (${moment(copy.receivedAt)})`]],
        ["Partition", copy.partition],
        [
          "From",
          sources(copy).length
            ? sources(copy).map((name, index) => [index ? ", " : "", source(name)])
            : "a write, or an operation whose response is no longer stored",
        ],
        ["Revision", copy.revision],
      ]),
      copy.fields?.length
        ? table(
            `Fields in scope ${copy.scope}`,
            [
              {
                label: "Field",
                isHead: true,
                cell: (one) => [one.name, one.local ? [" ", tag("local", "accent")] : null],
              },
              {label: "Value", kind: "wide", cell: (one) => valueCell(one.value, relationships.get(one.name))},
              {
                label: "From",
                cell: (one) =>
                  one.local
                    ? "a write of the caller's own"
                    : one.operation
                      ? source(one.operation)
                      : el("span", {class: "soft"}, "unknown"),
              },
            ],
            copy.fields,
          )
        : el("p", {class: "soft"}, "Nothing is left of it but the mark that it was deleted."),
    ),
  );
}

/** The recorded states from before the present ones: what each change of a copy replaced. */
function earlier(found) {
  const {recordedSince, states} = found.history ?? {};
  if (!states) return null;
  if (!states.length)
    return sheet(
      "Earlier states",
      el(
        "p",
        {class: "soft"},
        recordedSince === undefined
          ? "States of this type are not recorded: they are once a client observes it with a filter."
          : `None since revision ${recordedSince}, from which states of this type are recorded.`,
      ),
    );
  const shown = (value) => (value === undefined ? "absent" : brief(value));
  const name = (one) => `${one.scope} ${one.subject ?? ""}`;
  // What came after each state: the next recorded one of its copy, or the copy as it is now.
  const after = new Map();
  for (const copy of found.copies) if (!after.has(name(copy))) after.set(name(copy), copy.fields);
  const rows = states.map((state) => {
    const next = after.get(name(state));
    after.set(name(state), state.fields);
    const now = new Map((next ?? []).map((one) => [one.name, one.value]));
    const old = new Map((state.fields ?? []).map((one) => [one.name, one.value]));
    const changes = [...new Set([...old.keys(), ...now.keys()])]
      .filter((key) => !same(old.get(key), now.get(key)))
      .map((key) => [key, old.get(key), next ? now.get(key) : undefined]);
    return {state, changes: state.fields ? changes : null};
  });
  return sheet(
    "Earlier states",
    el(
      "p",
      {class: "soft"},
      `States of this type are recorded from revision ${recordedSince ?? "0"} on; the newest come first.`,
    ),
    table(
      "Earlier states",
      [
        {
          label: "Revisions",
          isHead: true,
          cell: ({state}) => `${state.since} to ${state.until}`,
        },
        {
          label: "Scope",
          cell: ({state}) => [state.scope, state.subject ? [" ", el("code", {}, state.subject)] : null],
        },
        {
          label: "What changed then",
          kind: "wide",
          cell: ({changes}) =>
            changes === null
              ? el("span", {class: "soft"}, "not known: it had been removed and was stored again")
              : changes.length
                ? changes.map(([field, from, to]) =>
                    el("div", {}, el("strong", {}, field), `: ${shown(from)} → ${shown(to)}`),
                  )
                : el("span", {class: "soft"}, "no field"),
        },
      ],
      rows,
    ),
  );
}

/** A form for a correction: one input for each column; only what was changed is sent. */
async function correct(type, id, entity, done) {
  const columns = type.columns.filter(
    (column) => !type.key.includes(column.name) && !column.local && column.kind !== "reference",
  );
  const made = columns.map((column) => {
    const value = entity[column.name];
    const text = value === undefined || value === null ? "" : String(value);
    const control =
      column.kind === "boolean"
        ? select([["", "null"], "true", "false"], text)
        : text.length > 60
          ? el("textarea", {rows: 3})
          : el("input", {
              type: "text",
              autocomplete: "off",
              inputmode: ["integer", "real"].includes(column.kind) ? "decimal" : undefined,
            });
    control.value = text;
    return {column, value, control, before: text};
  });
  await dialog(
    `Correct ${type.name} ${id}`,
    (close) => {
      const fault = el("div", {role: "alert"});
      const send = el("button", {type: "submit", class: "primary"}, "Store the correction");
      return el(
        "form",
        {
          class: "stack",
          novalidate: true,
          onsubmit: async (event) => {
            event.preventDefault();
            const data = {};
            for (const one of made) {
              if (one.control.value === one.before) continue;
              const isText =
                typeof one.value === "string" ||
                ((one.value === undefined || one.value === null) && one.column.kind === "text");
              const parsedValue = parsed(one.control.value);
              data[one.column.name] =
                one.control.value === ""
                  ? isText && one.before !== ""
                    ? ""
                    : null
                  : isText || parsedValue === undefined
                    ? one.control.value
                    : parsedValue;
            }
            if (!Object.keys(data).length) {
              close(false);
              return;
            }
            send.disabled = true;
            try {
              await ask("PATCH", pathOf(type.name, id), {
                json: data,
                headers: entity._rev ? {"If-Match": `"${entity._rev}"`} : {},
              });
              close(true);
              toast("The correction is stored. Your API's next response replaces it.");
              done();
            } catch (error) {
              put(fault, failure(error));
              send.disabled = false;
            }
          },
        },
        el(
          "p",
          {class: "soft"},
          "A correction changes the stored copy, not your API; the next response of your API replaces it.",
        ),
        el(
          "div",
          {class: "form"},
          made.map((one) => field(one.column.name, one.control, one.column.kind)),
        ),
        fault,
        el(
          "div",
          {class: "row end"},
          button("Cancel", () => close(false)),
          send,
        ),
      );
    },
    "wide",
  );
}

/** What changed while the page was open. */
function history(type, id, signal, changed) {
  const list = el("ol", {class: "events", reversed: true});
  const state = el("p", {class: "soft small", role: "status"}, "Connecting…");
  let before;
  const note = (text, rows) => {
    list.prepend(
      el(
        "li",
        {},
        el(
          "div",
          {class: "row"},
          el("strong", {}, text),
          el("time", {class: "soft small"}, new Date().toLocaleTimeString()),
        ),
        rows?.length
          ? table(
              `Changed at ${new Date().toLocaleTimeString()}`,
              [
                {label: "Field", isHead: true, cell: ([name]) => name},
                {label: "Before", cell: ([, from]) => brief(from)},
                {label: "After", cell: ([, , to]) => brief(to)},
              ],
              rows,
            )
          : null,
      ),
    );
    while (list.children.length > shownChangesMax) list.lastChild.remove();
  };
  follow(
    `${pathOf(type.name, id)}/stream`,
    {
      event: ({name, data}) => {
        if (!["list", "diff"].includes(name) || !data) return;
        const now = data.items
          ? (data.items[0] ?? null)
          : (Object.values(data.entities ?? {})[0] ?? (data.count === 0 ? null : before));
        if (before !== undefined && !same(before, now)) {
          if (!now) note("Deleted");
          else if (!before) note("Made");
          else
            note(
              "Changed",
              [...new Set([...Object.keys(before), ...Object.keys(now)])]
                .filter((key) => key !== "_rev" && !same(before[key], now[key]))
                .map((key) => [key, before[key], now[key]]),
            );
          changed(now);
        }
        before = now;
      },
      state: (word, problem) => {
        state.textContent =
          word === "open"
            ? "Changes are shown as they come."
            : word === "failed"
              ? problem.message
              : "Connecting again…";
      },
    },
    signal,
  );
  return sheet("Changes since this page was opened", state, list);
}

export function entityView({type, id, signal}) {
  const path = pathOf(type.name, id);
  if (path === null)
    return [
      head(`${type.name} ${id}`),
      empty("This entity has no address", "URLs give its id another meaning. Find it by a filter."),
    ];
  const place = el("div", {class: "stack"});
  const origins = el("div", {class: "stack"});
  let entity = null;
  const draw = () =>
    load(
      place,
      async () => {
        let note = null;
        try {
          entity = await get(path, {signal});
        } catch (error) {
          if (!(error instanceof Problem) || error.status !== 404) throw error;
          entity = null;
          note = el(
            "div",
            {class: "notice warn"},
            el("strong", {}, error.code === "deleted" ? "Deleted" : "Not visible to the operator"),
            el("p", {}, error.message),
          );
        }
        return [
          note,
          type.relationships?.length
            ? sheet(
                "Relationships",
                el(
                  "div",
                  {class: "row"},
                  type.relationships.map((one) => {
                    const value = entity?.[one.name];
                    return el(
                      "a",
                      {class: "button small", href: `${linkOf(type.name, id)}/${segment(one.name)}`},
                      one.name,
                      el(
                        "span",
                        {class: "soft"},
                        one.many
                          ? `many ${one.type}`
                          : typeof value === "string" || typeof value === "number"
                            ? String(value)
                            : one.type,
                      ),
                    );
                  }),
                ),
              )
            : null,
          entity
            ? el(
                "details",
                {class: "sheet"},
                el("summary", {}, "As JSON"),
                el("div", {class: "body"}, verbatim(indented(JSON.stringify(entity)), "The entity as JSON")),
              )
            : null,
        ];
      },
      signal,
      {isQuiet: true},
    );
  const drawOrigins = () =>
    load(
      origins,
      async () => {
        const found = await get(`/v1/admin/entities/${segment(type.name)}/${segment(id)}`, {signal}).catch((error) => {
          if (error instanceof Problem && error.status === 404) return null;
          throw error;
        });
        if (!found)
          return el(
            "div",
            {class: "sheet"},
            empty("Not stored", "No scope holds a copy. An operation that fetches it stores one."),
          );
        return [
          el("h2", {}, counted(found.copies.length, "stored copy", "stored copies")),
          copies(found, type),
          found.more ? el("p", {class: "soft"}, "There are more copies, which are not shown.") : null,
          earlier(found),
        ];
      },
      signal,
      {isQuiet: true},
    );
  const again = () => {
    draw();
    drawOrigins();
  };
  again();
  const edit = type.local ? null : writeButton("Correct", () => entity && correct(type, id, entity, again));
  const purge = type.local
    ? null
    : writeButton(
        "Purge",
        async () => {
          if (
            !(await confirmed(
              `Purge ${type.name} ${id}?`,
              "Responses that contain it are fetched again when they are next requested.",
              "Purge",
            ))
          )
            return;
          await run(purge, async () => {
            const {purged} = await post("/v1/admin/purge", {type: type.name, id});
            toast(`Purged: ${purged}.`);
            again();
          });
        },
        "danger",
      );
  return [
    head(
      `${type.name} ${id}`,
      type.local ? "A local type: its rows belong to devices and users, who alone write them." : null,
      edit,
      purge,
    ),
    place,
    origins,
    history(type, id, signal, again),
  ];
}
