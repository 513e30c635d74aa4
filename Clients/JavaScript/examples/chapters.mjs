// The chapters of a database on the device, one after the other, with trips and their legs: insert, update,
// insertOrUpdate, delete, queries, counts, relationships, observation. All of it works without a network; what was
// written waits then, and leaves with the next run.
//
//   node examples/chapters.mjs URL FOLDER

import {refresh, run, settle} from "./program.mjs";

const schema = {Leg: {references: {trip: "Trip"}}};

await run("chapters.mjs URL FOLDER", {schema}, async larder => {
  await larder.register();
  await larder.follow("trips", {types: ["Trip", "Leg"]});
  await refresh(larder);

  const titles = trips => trips.map(({title, days}) => `${title} (${days})`).join(", ") || "none";
  const all = {type: "Trip", order: "title"};
  console.log(`From the last run: ${titles(larder.list(all))}`);

  // Delete. One write is a list of operations, of which all take effect or none.
  const former = larder.list(all).map(({id}) => ({op: "delete", type: "Trip", id}));
  if (former.length > 0) await larder.write(former);
  console.log(`Delete: ${titles(larder.list(all))}`);

  // Insert. The id is temporary; it finds the entity for as long as the profile exists.
  const [rome, oslo, lima] = [larder.newId(), larder.newId(), larder.newId()];
  await larder.write([
    {op: "insert", type: "Trip", id: rome, data: {title: "Rome", days: 4}},
    {op: "insert", type: "Trip", id: oslo, data: {title: "Oslo", days: 2}},
    {op: "insert", type: "Trip", id: lima, data: {title: "Lima", days: 14}},
  ]);
  console.log(`Insert: ${titles(larder.list(all))}`);

  // Update. Fields that the write does not name stay.
  await larder.write([{op: "update", type: "Trip", id: rome, data: {days: 5}}]);
  console.log(`Update: ${titles([larder.get("Trip", rome)])}`);

  // Insert or update, whichever applies. The id is the app's own: temporary ids are for inserts.
  for (const days of [1, 3]) {
    await larder.write([{op: "insertOrUpdate", type: "Trip", id: "bern", data: {title: "Bern", days}}]);
    console.log(`Insert or update: ${titles([larder.get("Trip", "bern")])}`);
  }

  // Queries: filters, orders, pages, counts.
  const filter = "days > :least AND title CONTAINS[c] :part";
  console.log(`Filter: ${titles(larder.list({type: "Trip", filter, args: {least: 2, part: "M"}}))}`);
  console.log(`Order: ${titles(larder.list({type: "Trip", order: "-days,title"}))}`);
  console.log(`Second page: ${titles(larder.list({type: "Trip", order: "title", limit: 2, offset: 2}))}`);
  const short = larder.count({type: "Trip", filter: "days BETWEEN 2 AND 5"});
  console.log(`Count: ${short} of ${larder.count({type: "Trip"})}`);

  // Relationships: a leg refers to its trip; the legs of a trip are those that refer to it.
  await larder.write([
    {op: "insert", type: "Leg", id: larder.newId(), data: {name: "Airport", trip: rome}},
    {op: "insert", type: "Leg", id: larder.newId(), data: {name: "Colosseum", trip: rome}},
  ]);
  const [leg] = larder.list({type: "Leg", filter: "trip.title = 'Rome'", order: "name"});
  console.log(`To one: ${leg.name} is a leg of ${larder.get("Trip", leg.trip).title}`);
  const legs = larder.list({type: "Leg", filter: "trip = ?", args: [rome], order: "-name"});
  console.log(`To many: ${legs.map(({name}) => name).join(", ")}`);

  // Observation: the results now, and after each change with the steps that lead to them.
  const observed = larder.observe({type: "Trip", filter: "days > 2", order: "days"});
  const next = async label => {
    const {items, diff} = (await observed.next()).value;
    const steps = {deleted: diff.deletes, inserted: diff.inserts, moved: diff.moves, updated: diff.updates};
    const counts = Object.entries(steps).map(([name, places]) => `${places.length} ${name}`);
    console.log(`${label}: ${titles(items)}; ${counts.join(", ")}`);
  };
  await next("Observe");
  await larder.write([{op: "update", type: "Trip", id: oslo, data: {days: 9}}]);
  await next("Oslo takes longer");
  await larder.write([{op: "update", type: "Trip", id: "bern", data: {days: 20}}]);
  await next("So does Bern");
  await larder.write([{op: "delete", type: "Trip", id: lima}]);
  await next("Lima is cancelled");
  await observed.return();

  // A refusal: the write shows at first, and is gone with its outcome, which says why.
  const never = {title: "Never", days: "many"};
  const {key} = await larder.write([{op: "insert", type: "Trip", id: larder.newId(), data: never}]);
  if (await refresh(larder)) await settle(larder);
  const outcome = larder.outcomes().find(one => one.key === key);
  console.log(outcome ? `Refused: ${outcome.problem.errors[0].detail}` : `${larder.outbox().length} writes wait`);
  console.log(`In the end: ${titles(larder.list(all))}`);
  console.log(`Rome has ${larder.count({type: "Leg", filter: "trip = ?", args: [rome]})} legs`);
});
