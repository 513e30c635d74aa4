import assert from "node:assert/strict";
import {test} from "node:test";
import {applyDiff, diff} from "../src/diff.js";
import {withSeeds} from "./random.js";

/** Applies the steps as UICollectionView does: deletes and moves from old indexes, inserts and moves to new ones. */
function batched(before, steps, entity) {
  const gone = new Set([...steps.deletes, ...steps.moves.map(({from}) => from)]);
  const staying = before.filter((_, index) => !gone.has(index));
  const arrivals = [...steps.inserts.map(({index, id}) => [index, entity(id)]), ...steps.moves.map(({from, to}) => [to, before[from]])];
  for (const [index, item] of arrivals.sort(([left], [right]) => left - right)) {
    assert.ok(index <= staying.length, "an insert beyond the end");
    staying.splice(index, 0, item);
  }
  for (const {new: index, id} of steps.updates) staying[index] = entity(id);
  return staying;
}

test("60 rounds of random edits lead to the new list by legal steps", () => withSeeds(60, random => {
  let before = Array.from({length: random.below(30)}, (_, index) => ({__typename: "Film", id: `f${index}`, title: "a"}));
  for (let round = 0; round < 8; round++) {
    let after = before.filter(() => !random.chance(0.2)).map(item => random.chance(0.2) ? {...item, title: `t${random.below(9)}`} : item);
    for (let count = random.below(5); count > 0; count--) {
      after.splice(random.below(after.length + 1), 0, {__typename: "Film", id: `n${round}-${count}`, title: "new"});
    }
    if (random.chance(0.3)) after = random.shuffled(after);
    const entities = new Map(after.map(item => [`Film/${item.id}`, item]));
    const steps = diff(before, after);
    assert.deepEqual(batched(before, steps, id => entities.get(id)), after);
    assert.deepEqual(applyDiff(before, steps, id => entities.get(id)), after);
    for (const list of [steps.deletes, steps.inserts.map(({index}) => index), steps.updates.map(({old}) => old)]) {
      assert.deepEqual(list, [...list].sort((left, right) => left - right));
    }
    before = after;
  }
}));

test("A single item that moves is one move", () => {
  const items = ["a", "b", "c", "d", "e"].map(id => ({__typename: "T", id}));
  const moved = [items[4], ...items.slice(0, 4)];
  assert.deepEqual(diff(items, moved).moves, [{from: 4, to: 0, id: "T/e"}]);
});

test("The moves are as few as can be", () => withSeeds(100, random => {
  const before = Array.from({length: 7}, (_, index) => ({__typename: "T", id: String(index)}));
  const after = random.shuffled(before);
  // The longest increasing run, by trying all.
  const order = after.map(({id}) => Number(id));
  let longest = 0;
  for (let mask = 0; mask < 1 << 7; mask++) {
    const kept = order.filter((_, index) => mask >> index & 1);
    if (kept.every((value, index) => index === 0 || kept[index - 1] < value)) longest = Math.max(longest, kept.length);
  }
  assert.equal(diff(before, after).moves.length, 7 - longest);
}));
