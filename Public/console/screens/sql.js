import {el, put} from "../core/dom.js";
import {counted, number} from "../core/format.js";
import {ask, get, post, segment} from "../core/http.js";
import {brief} from "../core/json.js";
import {
  button,
  confirmed,
  empty,
  failure,
  field,
  head,
  load,
  run,
  select,
  table,
  tabs,
  tag,
  toast,
  writeButton,
} from "../core/parts.js";

export const title = "SQL";

const first = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name";
let last = first;

const cellText = (value) =>
  value === null
    ? el("span", {class: "soft"}, "NULL")
    : value?.blob !== undefined
      ? el("span", {class: "soft"}, `blob, ${brief(value.blob, 40)}`)
      : el("span", {class: "clip"}, brief(value, 500));

/** A query plan as a tree, by the parents of its rows. */
function plan(found) {
  const [id, parent, detail] = ["id", "parent", "detail"].map((name) => found.columns.indexOf(name));
  const below = (above) => {
    const rows = found.rows.filter((row) => String(row[parent]) === String(above));
    return rows.length
      ? el(
          "ul",
          {},
          rows.map((row) =>
            el(
              "li",
              {},
              el("span", {class: /^SCAN/.test(row[detail]) ? "warn" : ""}, String(row[detail])),
              below(row[id]),
            ),
          ),
        )
      : null;
  };
  return [
    el("p", {class: "soft"}, "SCAN reads a whole table or index; SEARCH finds rows by an index."),
    below(0) ?? empty("No plan", "This statement reads no table."),
  ];
}

function statements(signal) {
  const text = el("textarea", {rows: 6, spellcheck: "false", "aria-keyshortcuts": "Control+Enter", value: last});
  const limit = select(["50", "200", "1000"], "200");
  const output = el(
    "div",
    {class: "stack", "aria-live": "polite"},
    el("div", {class: "sheet"}, empty("Nothing was run yet", "One statement that reads. Writes are refused.")),
  );
  async function answer(isPlan, pressed) {
    last = text.value;
    await run(pressed, async () => {
      put(output, el("p", {class: "soft"}, "Reading…"));
      try {
        const started = performance.now();
        const found = await post(
          "/v1/admin/sql",
          {sql: (isPlan ? "EXPLAIN QUERY PLAN " : "") + text.value, limit: Number(limit.value)},
          {signal},
        );
        const elapsed = Math.round(performance.now() - started);
        put(
          output,
          isPlan
            ? el("div", {class: "sheet stack"}, plan(found))
            : [
                el(
                  "p",
                  {class: "soft small", role: "status"},
                  `${counted(found.rows.length, "row")} in ${elapsed} ms${found.truncated ? "; there are more" : ""}`,
                ),
                found.rows.length
                  ? el(
                      "div",
                      {class: "sheet flush"},
                      table(
                        "Result",
                        found.columns.map((name, index) => ({label: name, cell: (row) => cellText(row[index])})),
                        found.rows,
                      ),
                    )
                  : el("div", {class: "sheet"}, empty("No rows", null)),
              ],
        );
      } catch (error) {
        if (!signal.aborted) put(output, failure(error));
      }
    });
  }
  const read = el("button", {type: "submit", class: "primary"}, "Run");
  const explain = button("Explain", () => answer(true, explain));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      answer(false, read);
    }
  });
  return [
    el(
      "form",
      {
        class: "sheet stack",
        onsubmit: (event) => {
          event.preventDefault();
          answer(false, read);
        },
      },
      field("Statement", text, "Ctrl and Enter runs it."),
      el("div", {class: "row"}, read, explain, el("label", {class: "inline"}, el("span", {}, "Rows at most"), limit)),
    ),
    output,
  ];
}

function tables(signal) {
  const place = el("div", {class: "stack"});
  const fill = () =>
    load(
      place,
      async () => {
        const found = await get("/v1/admin/tables", {signal});
        const unused = found.tables.filter((one) => !one.named || one.columns.some((column) => !column.named));
        const clean = unused.length
          ? writeButton(
              "Remove what no operation names",
              async () => {
                if (
                  !(await confirmed(
                    "Remove unused tables and columns?",
                    `Of ${unused.map((one) => one.type).join(", ")}, all that no operation names is deleted from the database.`,
                    "Remove",
                  ))
                )
                  return;
                await run(clean, async () => {
                  const {types, columns} = await post("/v1/admin/tables/clean-up");
                  toast(`Removed: ${counted(types.length, "table")}, ${counted(columns.length, "column")}.`);
                  fill();
                });
              },
              "danger",
            )
          : null;
        return found.tables.length
          ? [
              clean ? el("div", {class: "row"}, clean) : null,
              el(
                "div",
                {class: "sheet flush"},
                table(
                  "Tables",
                  [
                    {
                      label: "Type",
                      isHead: true,
                      cell: (one) => [one.type, one.named ? null : [" ", tag("not named by operations", "warn")]],
                    },
                    {label: "Table", cell: (one) => el("code", {}, one.name)},
                    {label: "Entities", isNumber: true, cell: (one) => number(one.entities)},
                    {label: "Tombstones", isNumber: true, cell: (one) => number(one.tombstones)},
                    {
                      label: "Indexes",
                      cell: (one) =>
                        one.columns
                          .filter((column) => column.indexed)
                          .map((column) => column.field)
                          .join(", ") || "–",
                    },
                    {
                      label: "",
                      cell: (one) =>
                        one.named
                          ? ""
                          : writeButton(
                              "Drop",
                              async (event) => {
                                if (
                                  !(await confirmed(
                                    `Drop the table of ${one.type}?`,
                                    `Its ${counted(one.entities, "entity", "entities")} are deleted.`,
                                    "Drop",
                                  ))
                                )
                                  return;
                                await run(event.target, async () => {
                                  await ask("DELETE", `/v1/admin/tables/${segment(one.type)}`);
                                  toast("Dropped.");
                                  fill();
                                });
                              },
                              "small danger",
                            ),
                    },
                  ],
                  found.tables,
                ),
              ),
            ]
          : el("div", {class: "sheet"}, empty("No tables", "A type has a table once an operation names it."));
      },
      signal,
      {isQuiet: true},
    );
  fill();
  return place;
}

export function show({main, signal}) {
  main.append(
    head("SQL", "Reads of the database; it sees what devices and users stored, too."),
    el(
      "div",
      {},
      tabs("SQL", [
        ["Statements", () => statements(signal)],
        ["Tables", () => tables(signal)],
      ]),
    ),
  );
}
