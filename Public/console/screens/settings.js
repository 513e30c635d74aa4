import {el, put} from "../core/dom.js";
import {get} from "../core/http.js";
import {empty, field, head, load, table, tag} from "../core/parts.js";

export const title = "Settings";

export function show({main, signal}) {
  const place = el("div", {class: "stack"});
  main.append(
    head("Settings", "Those in force, and where each comes from. They change with the settings file and a restart."),
    place,
  );
  load(
    place,
    async () => {
      const {items, version} = await get("/v1/admin/settings", {signal});
      const filter = el("input", {type: "search", autocomplete: "off", placeholder: "cache"});
      const changed = el("input", {type: "checkbox"});
      const list = el("div", {class: "sheet flush"});
      const count = el("p", {class: "soft small", role: "status"});
      const draw = () => {
        const wanted = filter.value.trim().toLowerCase();
        const found = items.filter(
          (one) =>
            (!changed.checked || !one.isDefault) &&
            [one.name, one.value ?? "", one.doc ?? ""].some((text) => String(text).toLowerCase().includes(wanted)),
        );
        count.textContent = `${found.length} of ${items.length} settings${version ? ` of Larder ${version}` : ""}`;
        put(
          list,
          found.length
            ? table(
                "Settings",
                [
                  {label: "Setting", isHead: true, cell: (one) => el("code", {}, one.name)},
                  {
                    label: "Value",
                    cell: (one) =>
                      one.value === null
                        ? el("span", {class: "soft"}, "not set")
                        : [el("code", {}, String(one.value)), one.isSecret ? [" ", tag("secret")] : null],
                  },
                  {
                    label: "From",
                    cell: (one) => (one.isDefault ? el("span", {class: "soft"}, "default") : tag(one.origin, "accent")),
                  },
                  {label: "Meaning", kind: "wide", cell: (one) => el("span", {class: "soft"}, one.doc ?? "")},
                ],
                found,
              )
            : empty("No setting matches", "Try a part of its name."),
        );
      };
      filter.addEventListener("input", draw);
      changed.addEventListener("change", draw);
      draw();
      return [
        el(
          "div",
          {class: "filters"},
          field("Filter", filter),
          el("label", {class: "inline"}, changed, el("span", {}, "Only what is not the default")),
        ),
        count,
        list,
      ];
    },
    signal,
  );
}
