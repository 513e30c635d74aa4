// Two types that the app keeps in Larder: MyList belongs to the device, Reminder to the signed-in user and so to all
// devices of the user. Both are written offline and synced later.
//
//   node examples/lists.mjs URL FOLDER sign-up|sign-in EMAIL PASSWORD
//   node examples/lists.mjs URL FOLDER list NAME            makes a list
//   node examples/lists.mjs URL FOLDER place NAME PLACE     moves it
//   node examples/lists.mjs URL FOLDER remind TEXT FILM     makes a reminder of a film, such as f1
//   node examples/lists.mjs URL FOLDER done TEXT            removes it
//   node examples/lists.mjs URL FOLDER show

import {refresh, run} from "./program.mjs";

const schema = {Reminder: {references: {film: "Film"}}};

const usage = "lists.mjs URL FOLDER sign-up|sign-in|list|place|remind|done|show …";

await run(usage, {schema}, async (larder, [command, ...words]) => {
  if (command === "sign-up") await larder.signUp(...words);
  if (command === "sign-in") await larder.signIn(...words);
  await larder.follow("own", {types: ["MyList", "Reminder", "Film"]});

  // Each write is durable on the device before it resolves, with a network or without.
  switch (command) {
    case "list": {
      const data = {name: words[0], place: larder.count({type: "MyList"})};
      await larder.write([{op: "insert", type: "MyList", id: larder.newId(), data}]);
      break;
    }
    case "place":
      for (const {id} of larder.list({type: "MyList", filter: "name = ?", args: [words[0]]})) {
        await larder.write([{op: "update", type: "MyList", id, data: {place: Number(words[1])}}]);
      }
      break;
    case "remind": {
      const data = {text: words[0], film: words[1]};
      await larder.write([{op: "insert", type: "Reminder", id: larder.newId(), data}]);
      break;
    }
    case "done":
      for (const {id} of larder.list({type: "Reminder", filter: "text = ?", args: [words[0]]})) {
        await larder.write([{op: "delete", type: "Reminder", id}]);
      }
      break;
  }
  await refresh(larder, "Catalogue");

  for (const {place, name, _pending} of larder.list({type: "MyList", order: "place,name"})) {
    console.log(`list ${place} ${name}${_pending ? "  [pending]" : ""}`);
  }
  for (const {text, film, _pending} of larder.list({type: "Reminder", order: "film.title,text"})) {
    console.log(`reminder ${text}: ${larder.get("Film", film)?.title ?? film}${_pending ? "  [pending]" : ""}`);
  }
  // What Larder has refused is not shown any more. Its outcome says why, until the app forgets it.
  const outcomes = larder.outcomes();
  for (const {state, reason, problem} of outcomes) {
    if (state !== "applied") console.log(`${state}: ${problem?.errors?.[0]?.detail ?? problem?.detail ?? reason}`);
  }
  await larder.forgetOutcomes(outcomes.map(({key}) => key));
});
