import {el, put} from "../core/dom.js";
import {block, empty, head, load, tag} from "../core/parts.js";
import {openAPI} from "../core/schema.js";
import {groups, operationView, prose} from "../docs/reference.js";

export const title = "API reference";

export function show({main, parts, signal, go}) {
  const place = el("div", {class: "stack"});
  main.append(place);
  load(
    place,
    async () => {
      const root = await openAPI();
      const all = groups(root);
      const chosen = all.find((one) => one.name === parts[0]) ?? all[0];
      const filter = el("input", {
        type: "search",
        autocomplete: "off",
        placeholder: "Path, name or text",
        "aria-label": "Filter the routes",
      });
      const list = el("div", {class: "stack"});
      const navigation = el(
        "ul",
        {class: "links"},
        all.map((one) =>
          el(
            "li",
            {},
            el(
              "a",
              {href: `#/docs/${encodeURIComponent(one.name)}`, "aria-current": one === chosen ? "true" : undefined},
              el("span", {}, one.name),
              el("span", {class: "soft"}, String(one.operations.length)),
            ),
          ),
        ),
      );
      const choice = el(
        "select",
        {
          "aria-label": "Group",
          value: chosen?.name,
          onchange: (event) => go(`#/docs/${encodeURIComponent(event.target.value)}`),
        },
        all.map((one) => el("option", {value: one.name}, `${one.name} (${one.operations.length})`)),
      );
      const draw = () => {
        const wanted = filter.value.trim().toLowerCase();
        const found = wanted
          ? all.flatMap((one) => one.operations).filter((one) => one.words.includes(wanted))
          : (chosen?.operations ?? []);
        put(
          list,
          wanted
            ? el("p", {class: "soft small", role: "status"}, `${found.length} routes`)
            : el(
                "div",
                {},
                el("h2", {}, chosen?.name ?? ""),
                chosen?.description ? el("p", {class: "soft"}, chosen.description) : null,
              ),
          found.length
            ? found.slice(0, 120).map((one) => operationView(one, root, found.length === 1))
            : empty("No route matches", "Try a part of its path."),
        );
      };
      filter.addEventListener("input", draw);
      draw();
      const {info = {}} = root;
      return [
        head(
          info.title && info.title !== "Larder" ? info.title : "API reference",
          info.description ? el("span", {}, prose(info.description)) : null,
          tag(`version ${info.version || "unknown"}`),
          el("a", {class: "button small", href: "/openapi.json"}, "openapi.json"),
        ),
        el(
          "div",
          {class: "split side"},
          el("nav", {class: "stack groups", "aria-label": "Groups"}, filter, navigation, choice),
          list,
        ),
        el(
          "details",
          {class: "sheet"},
          el("summary", {}, "Errors and conventions"),
          el(
            "div",
            {class: "body stack"},
            el(
              "p",
              {},
              "Every error is a problem document (RFC 9457). ",
              el("code", {}, "code"),
              " is stable, ",
              el("code", {}, "retry"),
              " says whether the same request can succeed later.",
            ),
            block(
              JSON.stringify(
                {
                  type: "about:blank",
                  title: "Not Found",
                  status: 404,
                  detail: "…",
                  code: "not_found",
                  retry: "never",
                  requestId: "…",
                },
                null,
                2,
              ),
              "A problem",
            ),
          ),
        ),
      ];
    },
    signal,
  );
}
