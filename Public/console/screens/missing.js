import {el} from "../core/dom.js";
import {empty, head} from "../core/parts.js";

export const title = "No such screen";

export function show({main}) {
  main.append(
    head("No such screen"),
    empty(
      "This address has no screen",
      location.hash,
      el("p", {}, el("a", {href: "#/overview"}, "Go to the overview")),
    ),
  );
}
