import {el, put} from "../core/dom.js";
import {address, get} from "../core/http.js";
import {brief} from "../core/json.js";
import {empty, failure, field, head, pages, select, skeleton, tag} from "../core/parts.js";
import {linkOf} from "../data/keys.js";

export const title = "Search";

/** A snippet with the words that were searched for marked. Case and diacritics do not matter. */
function marked(text, words) {
  const fold = (part) => part.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return text
    .split(/([\p{L}\p{N}\p{M}]+)/u)
    .map((part) =>
      part && words.some((word) => (word.isPrefix ? fold(part).startsWith(word.text) : fold(part) === word.text))
        ? el("mark", {}, part)
        : part,
    );
}

function wordsOf(query) {
  return [...query.matchAll(/([\p{L}\p{N}\p{M}]+)(\*?)/gu)].map(([, text, star]) => ({
    text: text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase(),
    isPrefix: star === "*",
  }));
}

export async function show({main, query, signal, go}) {
  const text = el("input", {
    type: "search",
    autocomplete: "off",
    value: query.get("q") ?? "",
    placeholder: 'desert*  or  "low tide"',
  });
  const type = select([["", "All types"]], "");
  const place = el("div", {class: "stack", "aria-live": "polite"});
  main.append(
    head(
      "Search",
      "Full-text search over the fields that the settings name (types.<Type>.search). It works while your API is unavailable.",
    ),
    el(
      "form",
      {
        class: "filters sheet",
        role: "search",
        onsubmit: (event) => {
          event.preventDefault();
          go(address("#/search", {q: text.value.trim(), types: type.value}));
        },
      },
      field("Words", text, null, "grow"),
      field("Type", type),
      el("button", {type: "submit", class: "primary"}, "Search"),
    ),
    place,
  );
  get("/v1/entities", {signal})
    .then(({types}) => {
      type.append(...types.map((one) => el("option", {value: one.name}, one.name)));
      type.value = query.get("types") ?? "";
    })
    .catch(() => {
      /* All types are searched. */
    });
  const wanted = query.get("q");
  if (!wanted) {
    put(
      place,
      el(
        "div",
        {class: "sheet"},
        empty(
          "Search the store",
          "All words must match. A star after a word finds what begins with it, quotes find a phrase.",
        ),
      ),
    );
    return;
  }
  put(place, skeleton("Searching…"));
  const words = wordsOf(wanted);
  let isApproximate = false;
  const list = pages(
    async (after) => {
      const found = await get(address("/v1/search", {q: wanted, types: query.get("types"), limit: 20, after}), {
        signal,
      });
      isApproximate ||= found.approximate === true;
      return found;
    },
    (items) =>
      el(
        "ol",
        {class: "events sheet flush"},
        items.map((one) =>
          el(
            "li",
            {class: "stack tight"},
            el(
              "div",
              {class: "row"},
              el("a", {href: linkOf(one.type, one.id)}, brief(one.entity?.title ?? one.entity?.name ?? one.id, 100)),
              tag(one.type),
              el("span", {class: "soft small"}, `score ${one.score.toFixed(3)}`),
            ),
            el("p", {class: "soft"}, marked(one.snippet, words)),
          ),
        ),
      ),
    el(
      "div",
      {class: "sheet"},
      empty("Nothing found", `No stored entity has all the words of “${brief(wanted, 80)}”.`),
    ),
    signal,
  );
  try {
    await list.start();
    put(
      place,
      isApproximate
        ? el(
            "p",
            {class: "notice warn"},
            "More than 5,000 entities match, of which the latest were ranked. A further word makes the search exact.",
          )
        : null,
      list.place,
    );
  } catch (error) {
    if (!signal.aborted) put(place, failure(error));
  }
}
