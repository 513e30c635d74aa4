// Films and their makers, listed and searched, in flight mode too.
//
//   node examples/films.mjs URL FOLDER list [WORD]      films whose title contains a word
//   node examples/films.mjs URL FOLDER makers [WORD]    makers whose name contains a word, with their films
//   node examples/films.mjs URL FOLDER tagline ID TEXT  gives a film a tagline, now or when there is a network
//   node examples/films.mjs URL FOLDER outbox           what waits, and how the others ended

import {UsageError} from "larder";
import {refresh, run} from "./program.mjs";

// The types of references let a filter or an order go on to the other entity: `director.name`.
const schema = {Film: {references: {director: "Person"}}};

function print(larder, film) {
  const maker = larder.get("Person", film.director)?.name ?? "unknown";
  const tagline = film.tagline ? `: ${film.tagline}` : "";
  console.log(`${film.id}  ${film.title} (${film.year}), ${maker}${tagline}${film._pending ? "  [pending]" : ""}`);
}

await run("films.mjs URL FOLDER list|makers|tagline|outbox …", {schema}, async (larder, [command, ...words]) => {
  // A device needs a network once, to register. What it follows is then on the device.
  await larder.register();
  await larder.follow("films", {types: ["Film", "Person"]});

  if (command === "tagline") {
    const [id, tagline] = words;
    await larder.submit("SetTagline", {id, tagline}, {
      object: `Film:${id}`, optimistic: [{op: "merge", type: "Film", id, fields: {tagline}}],
    });
  }
  // The query has Larder fetch the films from the API; the sync brings them to the device.
  await refresh(larder, "Catalogue");

  const args = [words[0] ?? ""];
  switch (command) {
    case "list":
      for (const film of larder.list({type: "Film", filter: "title CONTAINS[cd] ?", args, order: "title", limit: 20})) {
        print(larder, film);
      }
      break;
    case "makers":
      for (const {id, name} of larder.list({type: "Person", filter: "name CONTAINS[cd] ?", args, order: "name"})) {
        const films = larder.list({type: "Film", filter: "director = ?", args: [id], order: "-year"});
        console.log(`${name}: ${films.map(({title, year}) => `${title} (${year})`).join(", ")}`);
      }
      console.log(`${larder.count({type: "Film", filter: "director.name CONTAINS[cd] ?", args})} films`);
      break;
    case "tagline":
      for (const film of larder.list({type: "Film", filter: "id = ?", args})) print(larder, film);
      break;
    case "outbox":
      for (const {operation, state} of larder.outbox()) console.log(`${operation} ${state}`);
      for (const {operation, state, problem} of larder.outcomes()) {
        console.log(`${operation} ${state}${problem ? ` ${problem.detail}` : ""}`);
      }
      break;
    default:
      throw new UsageError("invalid_argument", `There is no command ${command}.`);
  }
});
