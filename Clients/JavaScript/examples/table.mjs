// A table that follows a list by batch updates alone, as a collection view does: 60 rounds of random changes, after
// each of which its rows equal the list.
//
//   node examples/table.mjs URL FOLDER [SEED]

import {refresh, run} from "./program.mjs";

/** Rows on a screen. What leaves has positions of the former rows, what arrives of the new ones. */
class Table {
  rows = [];

  apply({deletes, inserts, moves, updates}, items) {
    const former = this.rows;
    const leaving = new Set([...deletes, ...moves.map(({from}) => from)]);
    const rows = former.filter((_, index) => !leaving.has(index));
    const arriving = [
      ...inserts.map(({index}) => [index, items[index]]),
      ...moves.map(({from, to}) => [to, former[from]]),
    ];
    arriving.sort(([left], [right]) => left - right);
    for (const [index, row] of arriving) rows.splice(index, 0, row);
    for (const {new: index} of updates) rows[index] = items[index];
    this.rows = rows;
  }

  shows(items) {
    return this.rows.length === items.length && this.rows.every((row, index) => row === items[index]);
  }
}

/** Pseudo-random numbers below a bound, the same for the same seed (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  return bound => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

await run("table.mjs URL FOLDER [SEED]", {}, async (larder, [seed = String(1 + Math.floor(Math.random() * 1e6))]) => {
  console.log(`Seed ${seed}`);
  const below = randomFrom(Number(seed));
  await larder.register();
  await larder.follow("trips", {types: ["Trip"]});
  await refresh(larder);

  const query = {type: "Trip", filter: "days < 25", order: "-days,title"};
  const updates = larder.observe(query), table = new Table(), steps = {deletes: 0, inserts: 0, moves: 0, updates: 0};
  const follow = async () => {
    const {items, diff} = (await updates.next()).value;
    table.apply(diff, items);
    for (const name of Object.keys(steps)) steps[name] += diff[name].length;
  };
  await follow();
  console.log(`${table.rows.length} rows at first`);

  for (let round = 1; round <= 60; round++) {
    if (round % 10 === 0) {
      await refresh(larder);
    } else {
      const trips = larder.list({type: "Trip"}), operations = [];
      for (let count = below(4); count >= 0; count--) {
        const kind = below(3), trip = trips.splice(below(trips.length), 1)[0];
        if (kind === 0 || !trip) {
          const data = {title: `Trip ${round}.${count}`, days: 1 + below(30)};
          operations.push({op: "insert", type: "Trip", id: larder.newId(), data});
        } else if (kind === 1) {
          operations.push({op: "update", type: "Trip", id: trip.id, data: {days: 1 + below(30)}});
        } else {
          operations.push({op: "delete", type: "Trip", id: trip.id});
        }
      }
      await larder.write(operations);
    }
    // There is no batch update for a round that changes nothing in the list.
    if (!table.shows(larder.list(query))) await follow();
    if (!table.shows(larder.list(query))) throw new Error(`Seed ${seed}, round ${round}: the rows differ.`);
  }
  await updates.return();
  console.log(`60 rounds, each equal: ${Object.entries(steps).map(([name, count]) => `${count} ${name}`).join(", ")}`);
  console.log(`${table.rows.length} rows in the end, ${larder.outbox().length} writes wait`);
});
