import {el, put} from "../core/dom.js";
import {number} from "../core/format.js";
import {address, get, segment} from "../core/http.js";
import {brief} from "../core/json.js";
import {button, empty, failure, field, head, load, run, select, skeleton, table, tag, turn} from "../core/parts.js";
import {entityView} from "../data/entity.js";
import {idOf, linkOf} from "../data/keys.js";

export const title = "Data";

const columnsShown = 7;
const pageSizes = ["25", "50", "100", "200"];

const crumbs = (...steps) =>
  el(
    "nav",
    {"aria-label": "Path"},
    el(
      "ol",
      {class: "crumbs small"},
      steps.map(([label, href], index) =>
        el(
          "li",
          {"aria-current": index === steps.length - 1 ? "page" : undefined},
          href ? el("a", {href}, label) : label,
        ),
      ),
    ),
  );

function typeTable(types, mixed) {
  return [
    el(
      "div",
      {class: "sheet flush"},
      table(
        "Types",
        [
          {
            label: "Type",
            isHead: true,
            cell: (one) => [
              el("a", {href: `#/data/${segment(one.name)}`}, one.name),
              " ",
              one.local ? tag("local", "accent") : null,
            ],
          },
          {label: "Entities", isNumber: true, cell: (one) => number(one.count)},
          {label: "Key", cell: (one) => el("code", {}, one.key.join(", "))},
          {
            label: "Columns",
            kind: "wide",
            cell: (one) => el("span", {class: "soft"}, brief(one.columns.map((column) => column.name).join(", "), 140)),
          },
          {
            label: "Relationships",
            cell: (one) =>
              el("span", {class: "soft"}, one.relationships.map((relationship) => relationship.name).join(", ") || "–"),
          },
        ],
        types,
      ),
    ),
    mixed?.length
      ? el(
          "div",
          {class: "stack"},
          el("h2", {}, "Interfaces and unions"),
          el(
            "div",
            {class: "sheet flush"},
            table(
              "Interfaces and unions",
              [
                {label: "Name", isHead: true, cell: (one) => el("a", {href: `#/data/${segment(one.name)}`}, one.name)},
                {label: "Types", cell: (one) => one.types.join(", ")},
                {label: "Common columns", cell: (one) => one.columns.join(", ") || "–"},
              ],
              mixed,
            ),
          ),
        )
      : null,
  ];
}

/** The value of a cell: what leads to another entity is a link. */
function cell(value, relationship) {
  if (value === undefined) return el("span", {class: "soft", title: "Never fetched"}, "–");
  if (value === null) return el("span", {class: "soft"}, "null");
  if (relationship && !relationship.many && (typeof value === "string" || typeof value === "number"))
    return el("a", {href: linkOf(relationship.type, String(value))}, String(value));
  if (relationship && value.type && value.id !== undefined)
    return el("a", {href: linkOf(value.type, String(value.id))}, `${value.type} ${value.id}`);
  return el("span", {class: "clip"}, brief(value));
}

/** A grid of entities: `path` is that of a collection or of a relationship. */
function grid({path, type, types, signal, query}) {
  const relationships = new Map((type.relationships ?? []).map((one) => [one.name, one]));
  const names = type.columns.map((column) => column.name ?? column);
  // The key and what names the entity stand first, wherever the alphabet puts them.
  const all = [
    ...new Set([...(type.key ?? []), ...["title", "name"].filter((name) => names.includes(name)), ...names]),
  ];
  let chosen = null;
  const filter = el("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    value: query.get("filter") ?? "",
    placeholder: names.includes("title") ? "title CONTAINS[cd] 'sea'" : `${names.at(-1) ?? "id"} IS NOT NULL`,
  });
  const limit = select(pageSizes, "50");
  let order = query.get("order") ?? "",
    pages = [undefined],
    total = null;
  const place = el("div", {class: "sheet flush"});
  const paging = el("div", {class: "row"});

  async function draw(isNew) {
    if (isNew) {
      pages = [undefined];
      total = null;
    }
    if (!place.hasChildNodes()) put(place, skeleton());
    place.setAttribute("aria-busy", "true");
    const isLatest = turn(place);
    try {
      const found = await get(
        address(path, {
          filter: filter.value.trim(),
          order,
          limit: limit.value,
          after: pages.at(-1),
          total: total === null ? "true" : undefined,
        }),
        {signal},
      );
      if (!isLatest()) return;
      if (Array.isArray(found?.items)) {
        total ??= found.total ?? null;
        put(
          place,
          found.items.length
            ? rows(found.items)
            : empty(
                filter.value ? "No entity matches" : "No entities",
                filter.value
                  ? "Change the filter or remove it."
                  : "An operation that fetches this type fills it; so does a webhook or a poll.",
              ),
        );
        showPaging(found);
      } else {
        // A relationship to one entity.
        put(place, found ? rows([found]) : empty("No entity", "The relationship is null."));
        put(paging);
      }
    } catch (error) {
      if (signal.aborted || !isLatest()) return;
      put(
        place,
        failure(error, () => draw(false)),
      );
      put(paging);
    } finally {
      if (isLatest()) place.setAttribute("aria-busy", "false");
    }
  }

  function showPaging(found) {
    const start = (pages.length - 1) * Number(limit.value);
    put(
      paging,
      el(
        "span",
        {class: "soft small grow", role: "status"},
        found.items.length
          ? `${number(start + 1)} to ${number(start + found.items.length)}${total === null ? "" : ` of ${number(total)}`}`
          : "",
      ),
      pages.length > 1 ? button("First page", () => draw(true), "small") : null,
      pages.length > 1
        ? button(
            "Back",
            () => {
              pages.pop();
              draw(false);
            },
            "small",
          )
        : null,
      found.next
        ? button(
            "Next",
            () => {
              pages.push(found.next);
              draw(false);
            },
            "small",
          )
        : null,
    );
  }

  function sortable(name) {
    const direction = order === name ? "ascending" : order === `-${name}` ? "descending" : "none";
    return el(
      "th",
      {scope: "col", "aria-sort": direction},
      type.columns.some((column) => (column.name ?? column) === name)
        ? el(
            "button",
            {
              type: "button",
              class: "plain small",
              onclick: () => {
                order = order === name ? `-${name}` : name;
                draw(true);
              },
            },
            name,
            direction === "ascending" ? " ↑" : direction === "descending" ? " ↓" : "",
          )
        : name,
    );
  }

  /** Chooses columns by a first page: those that have values in it. */
  function choose(items) {
    const known = all.filter((name) => items.filter((one) => one[name] !== undefined).length * 2 >= items.length);
    chosen = new Set([...known, ...all].slice(0, columnsShown));
    put(
      chooser.querySelector(".body"),
      all.map((name) =>
        el(
          "label",
          {class: "inline"},
          el("input", {
            type: "checkbox",
            checked: chosen.has(name),
            onchange: (event) => {
              if (event.target.checked) chosen.add(name);
              else chosen.delete(name);
              draw(false);
            },
          }),
          el("span", {}, name),
        ),
      ),
    );
  }

  function rows(items) {
    if (chosen === null) choose(items);
    const columns = all.filter((name) => chosen.has(name));
    return el(
      "div",
      {class: "scroll", tabindex: 0, role: "group", "aria-label": `Entities of ${type.name}`},
      el(
        "table",
        {class: "grid"},
        el("caption", {class: "hidden"}, `Entities of ${type.name}`),
        el("thead", {}, el("tr", {}, columns.map(sortable))),
        el(
          "tbody",
          {},
          items.map((item) => {
            const own = item.__typename ?? type.name;
            const id = idOf(item, types.find((one) => one.name === own)?.key ?? type.key);
            return el(
              "tr",
              {},
              columns.map((name, index) =>
                index === 0
                  ? el(
                      "th",
                      {scope: "row"},
                      id === null
                        ? brief(item[name])
                        : el(
                            "a",
                            {href: linkOf(own, id)},
                            own === type.name ? brief(item[name] ?? id, 40) : `${own} ${brief(id, 40)}`,
                          ),
                      item._pending ? [" ", tag("pending", "warn")] : null,
                    )
                  : el("td", {}, cell(item[name], relationships.get(name))),
              ),
            );
          }),
        ),
      ),
    );
  }

  const chooser = el("details", {class: "plain"}, el("summary", {}, "Columns"), el("div", {class: "body row"}));
  draw(true);
  return [
    el(
      "form",
      {
        class: "filters",
        onsubmit: (event) => {
          event.preventDefault();
          run(null, () => draw(true));
        },
      },
      field("Filter", filter, null, "grow"),
      field("Rows", limit),
      el("button", {type: "submit"}, "Apply"),
    ),
    el(
      "p",
      {class: "soft small"},
      "For example ",
      el("code", {}, "year >= 1990 AND title BEGINSWITH[c] 'the'"),
      ", ",
      el("code", {}, "synopsis IS MISSING"),
      ", ",
      el("code", {}, "director.name = 'Agnès Varda'"),
      ".",
    ),
    chooser,
    place,
    paging,
  ];
}

export function show({main, parts, query, signal, go}) {
  const [name, id, relationship] = parts;
  const place = el("div", {class: "stack"});
  if (!name)
    main.append(
      head("Data", "Entities that operations fetched, as the operator sees them. Reading them never calls your API."),
      place,
    );
  else main.append(place);
  load(
    place,
    async () => {
      const {types, mixed} = await get("/v1/entities", {signal});
      if (!name)
        return types.length
          ? typeTable(types, mixed)
          : el(
              "div",
              {class: "sheet"},
              empty("No types yet", "A type is stored as soon as an operation that selects its key is deployed."),
            );
      const type = types.find((one) => one.name === name) ?? mixed?.find((one) => one.name === name);
      if (!type)
        return [
          crumbs(["Data", "#/data"], [name]),
          head(name),
          empty("No such type", `The store has no type ${name}.`),
        ];
      if (id === undefined) {
        const jump = select(
          [...types, ...(mixed ?? [])].map((one) => one.name),
          name,
          {"aria-label": "Type", onchange: (event) => go(`#/data/${segment(event.target.value)}`)},
        );
        return [
          crumbs(["Data", "#/data"], [name]),
          head(
            el("span", {}, name, type.local ? [" ", tag("local", "accent")] : null),
            type.types ? `All entities of ${type.types.join(", ")}.` : null,
            jump,
          ),
          grid({path: `/v1/entities/${segment(name)}`, type, types, signal, query}),
        ];
      }
      if (relationship === undefined)
        return [
          crumbs(["Data", "#/data"], [name, `#/data/${segment(name)}`], [id]),
          entityView({type, types, id, signal}),
        ];
      const found = type.relationships?.find((one) => one.name === relationship);
      const target = types.find((one) => one.name === found?.type) ??
        mixed?.find((one) => one.name === found?.type) ?? {
          name: found?.type ?? relationship,
          key: ["id"],
          columns: ["id"],
        };
      return [
        crumbs(["Data", "#/data"], [name, `#/data/${segment(name)}`], [id, linkOf(name, id)], [relationship]),
        head(
          `${name} ${id}: ${relationship}`,
          found ? `${found.many ? "Entities" : "The entity"} of ${found.type}.` : null,
        ),
        found
          ? grid({
              path: `/v1/entities/${segment(name)}/${segment(id)}/${segment(relationship)}`,
              type: target,
              types,
              signal,
              query,
            })
          : empty("No such relationship", `${name} has no relationship ${relationship}.`),
      ];
    },
    signal,
  );
}
