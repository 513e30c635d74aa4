import {equal} from "./json.js";

/**
 * The steps from one list to another, legal for a batch update (docs/changes.md, List diffs): `deletes`,
 * `moves[].from` and `updates[].old` index the old list; `inserts[].index`, `moves[].to` and `updates[].new` the new.
 *
 * @typedef {object} Diff
 * @property {number} oldCount
 * @property {number} count
 * @property {number[]} deletes
 * @property {{index: number, id: string}[]} inserts
 * @property {{from: number, to: number, id: string}[]} moves
 * @property {{old: number, new: number, id: string}[]} updates
 */

/** The identity of an entity in a list. */
export const identity = entity => `${entity.__typename}/${entity._id ?? entity.id}`;

/**
 * @param {any[]} before
 * @param {any[]} after
 * @param {(item: any) => string} [id] unique in each list
 * @param {(left: any, right: any) => boolean} [same] whether two items with one identity look the same
 * @returns {Diff}
 */
export function diff(before, after, id = identity, same = (left, right) => left === right || equal(left, right)) {
  const old = new Map(before.map((item, index) => [id(item), index]));
  const present = new Set(after.map(id));
  const deletes = [], inserts = [], updates = [], moves = [], survivors = [];
  before.forEach((item, index) => {
    if (!present.has(id(item))) deletes.push(index);
  });
  after.forEach((item, index) => {
    const name = id(item), from = old.get(name);
    if (from === undefined) return inserts.push({index, id: name});
    survivors.push({from, to: index, id: name});
    if (!same(before[from], item)) updates.push({old: from, new: index, id: name});
  });
  const kept = longestRun(survivors.map(({from}) => from));
  survivors.forEach((step, index) => {
    if (!kept.has(index)) moves.push(step);
  });
  updates.sort((left, right) => left.old - right.old);
  return {oldCount: before.length, count: after.length, deletes, inserts, moves, updates};
}

/** The positions of a longest increasing subsequence. */
function longestRun(values) {
  const ends = [], previous = [];
  values.forEach((value, index) => {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[ends[middle]] < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1];
    ends[low] = index;
  });
  const run = new Set();
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) run.add(index);
  return run;
}

/**
 * The list that a diff leads to.
 *
 * @param {any[]} before
 * @param {Diff} diff
 * @param {(id: string) => any} entity the inserted and updated items, as in `entities` of Larder's diffs
 */
export function applyDiff(before, {count, deletes, inserts, moves, updates}, entity) {
  const after = new Array(count);
  const gone = new Set([...deletes, ...moves.map(({from}) => from)]);
  for (const {index, id} of inserts) after[index] = entity(id);
  for (const {from, to} of moves) after[to] = before[from];
  const placed = new Set([...inserts.map(({index}) => index), ...moves.map(({to}) => to)]);
  let next = 0;
  before.forEach((item, index) => {
    if (gone.has(index)) return;
    while (placed.has(next)) next++;
    after[next++] = item;
  });
  for (const {new: index, id} of updates) after[index] = entity(id);
  return after;
}
