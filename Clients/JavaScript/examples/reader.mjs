// A display that only reads: its device can read, stream and ask for diffs, and Larder refuses all that it writes.
//
//   node examples/reader.mjs URL FOLDER show     films, and what has changed since the last time
//   node examples/reader.mjs URL FOLDER watch    films as they change, until Control-C
//   node examples/reader.mjs URL FOLDER write    tries to write in every way

import {LarderError, applyDiff} from "larder";
import {refresh, run} from "./program.mjs";

const path = "/v1/entities/Film?order=title&limit=5";

function print(films) {
  for (const {id, title, tagline} of films) console.log(`${id}  ${title}${tagline ? `: ${tagline}` : ""}`);
}

await run("reader.mjs URL FOLDER show|watch|write", {}, async (larder, [command]) => {
  await larder.register({access: "read"});
  await larder.follow("films", {types: ["Film"]});
  if (command === "write") return write(larder);

  // The rest of this program has a reader alone, which has nothing that writes.
  const {reader} = larder;
  console.log(`The reader can: ${Object.keys(reader).join(", ")}`);
  if (command === "watch") return watch(reader);

  // A diff from the films that the device has to those that Larder has now.
  const first = {type: "Film", order: "title", limit: 5};
  const have = reader.list(first).map(({id, _rev}) => [`Film/${id}`, _rev]);
  try {
    const diff = have.length > 0 ? await reader.listDiff(path, {have}) : null;
    const changed = diff?.kind === "diff" ? diff.updates.map(({id}) => id) : [];
    console.log(`New since the last time: ${changed.join(", ") || "nothing"}`);
  } catch (error) {
    console.log(`No diff: ${error.code}`);
  }
  await refresh(larder, "Catalogue");
  print(reader.list(first));
  const {data, from} = await reader.read("Film", {id: "f1"});
  console.log(`The query Film (${from}): ${data.film.title}, ${data.film.director.name}`);
});

/** Follows the list: whole at first, then by diffs, over every interruption. */
async function watch(reader) {
  const abort = new AbortController();
  process.once("SIGINT", () => abort.abort());
  let films = [];
  for await (const {event, data} of reader.live({collection: path}, {signal: abort.signal})) {
    films = event === "list" ? data.items : applyDiff(films, data, id => data.entities[id]);
    console.log(`${event}: ${films.length} films`);
    print(films);
  }
  console.log("The end");
}

async function write(larder) {
  await refresh(larder, "Catalogue");
  // Now, or an error.
  const attempts = {
    force: () => larder.force("SetTagline", {id: "f1", tagline: "mine"}),
    upload: async () => {
      const {error} = await larder.files.upload("pics", "me.txt", new TextEncoder().encode("me"));
      if (error) throw error;
    },
    signUp: () => larder.signUp("display@example.com", "correct horse"),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      console.log(`${name}: done`);
    } catch (error) {
      if (!(error instanceof LarderError)) throw error;
      console.log(`${name}: ${error.code}: ${error.message}`);
    }
  }
  // Later: these wait on the device, and Larder refuses them when they are sent.
  await larder.submit("SetTagline", {id: "f1", tagline: "mine"}, {
    object: "Film:f1", optimistic: [{op: "merge", type: "Film", id: "f1", fields: {tagline: "mine"}}],
  });
  await larder.write([{op: "insert", type: "MyList", id: larder.newId(), data: {name: "Mine"}}]);
  await refresh(larder);
  const outcomes = larder.outcomes();
  for (const {operation, state, problem} of outcomes) {
    console.log(`${operation}: ${state}, ${problem.code}: ${problem.detail}`);
  }
  await larder.forgetOutcomes(outcomes.map(({key}) => key));
  const {tagline} = larder.get("Film", "f1");
  console.log(`${larder.outbox().length} wait; the tagline is ${tagline}; ${larder.count({type: "MyList"})} lists`);
}
