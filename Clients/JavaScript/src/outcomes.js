// What the outbox learns from Larder: states and outcomes of its items.

import {isTemporary} from "./ids.js";

/** States of a mutation in which it has ended. */
const ENDS = new Set(["applied", "rejected", "superseded", "annihilated", "expired", "cancelled", "discarded"]);
/** All others. */
const STATES = new Set(["queued", "inflight", "parked"]);

/** The key in the outbox and among the outcomes of the item that was submitted as the n-th. */
export const itemKey = number => String(number).padStart(12, "0");

export const hasEnded = state => ENDS.has(state);

/** The shape of a response with the status of a mutation. */
export const isStatus = ({id, state}) => typeof id === "string" && (hasEnded(state) || STATES.has(state));

/**
 * Records the outcome of an item. Its overlay stays until `isShown`: until the replica shows the effect.
 */
export function conclude(transaction, id, item, {state, reason, problem, response, supersededBy}, isShown) {
  const outcome = {key: item.key, operation: item.operation, state, reason, problem, response, supersededBy};
  for (const name of Object.keys(outcome)) {
    if (outcome[name] == null) delete outcome[name];
  }
  transaction.put(`${id}/outcomes`, itemKey(item.number), outcome);
  if (isShown) transaction.delete(`${id}/outbox`, itemKey(item.number));
  else transaction.put(`${id}/outbox`, itemKey(item.number), {...item, state: "ended"});
}

/**
 * Refuses an item, and the waiting ones that need what it would have made.
 */
export function refuse(transaction, id, item, outcome) {
  const gone = new Set(), made = new Set();
  const end = (one, how) => {
    gone.add(one.number);
    conclude(transaction, id, one, how, true);
    for (const {id: name} of one.overlay ?? []) {
      if (isTemporary(name)) made.add(name);
    }
  };
  end(item, outcome);
  if (made.size === 0) return;
  const others = [...transaction.all(`${id}/outbox`).values()].sort((left, right) => left.number - right.number);
  for (const other of others) {
    const needs = other.state === "waiting" && !gone.has(other.number) && other.number > item.number
      && [...made].some(name => other.body.includes(name));
    if (needs) end(other, {state: "refused", reason: "dependency"});
  }
}

/**
 * Applies reports of type `$mutation`.
 *
 * @param {import("./store.js").Transaction} transaction
 * @param {string} id of the profile
 * @param {object[]} reports changes
 * @param {Set<number>} accepted numbers of the items that had their 2xx, or their outcome, before the pull began
 */
export function settle(transaction, id, reports, accepted) {
  const items = [...transaction.all(`${id}/outbox`).values()];
  const known = new Map(items.filter(item => item.id).map(item => [item.id, item]));
  const isInDoubt = items.some(item => item.sent && !item.id && item.state === "waiting");
  const news = new Map();
  for (const {op, id: mutation, data} of reports) {
    if (op !== "put") {
      transaction.delete(`${id}/reports`, mutation);
      continue;
    }
    for (const [temporary, real] of Object.entries(data.temporaryIds ?? {})) {
      transaction.put(`${id}/temporary`, temporary, String(real));
    }
    if (known.has(mutation)) news.set(mutation, data);
    // An item without an answer can be this one: its repeated request will tell.
    else if (isInDoubt && (hasEnded(data.state) || data.state === "parked")) transaction.put(`${id}/reports`, mutation, data);
  }
  if (!isInDoubt) {
    for (const mutation of transaction.all(`${id}/reports`).keys()) transaction.delete(`${id}/reports`, mutation);
  }
  for (const item of items) {
    const table = `${id}/outbox`, key = itemKey(item.number);
    const wasAccepted = accepted.has(item.number);
    if (item.state === "ended") {
      if (wasAccepted) transaction.delete(table, key);
      continue;
    }
    const report = news.get(item.id);
    const isShown = wasAccepted || item.operation === "$write";
    if (report && hasEnded(report.state)) {
      conclude(transaction, id, item, report, isShown);
      continue;
    }
    const next = report ? {...item, state: report.state === "parked" ? "parked" : "enqueued", reason: report.reason} : item;
    // From now on Larder shows the optimistic update of a mutation by itself.
    const showsItself = wasAccepted && item.operation !== "$write" && item.overlay;
    if (report || showsItself) transaction.put(table, key, showsItself ? {...next, overlay: null} : next);
  }
}

/**
 * Records Larder's 2xx to an item; that of a forced one has its outcome.
 * @param {{id: string, state: string, reason?: string, response?: any}} answer
 */
export function accept(transaction, id, item, answer) {
  const report = transaction.get(`${id}/reports`, answer.id);
  const accepted = {...item, id: answer.id, state: "enqueued", reason: undefined};
  if (report) {
    transaction.delete(`${id}/reports`, answer.id);
    if (hasEnded(report.state)) return conclude(transaction, id, accepted, report, true);
    accepted.state = report.state === "parked" ? "parked" : "enqueued";
  }
  if (item.mode === "force" && hasEnded(answer.state)) return conclude(transaction, id, accepted, answer, !item.overlay);
  if (answer.state === "parked") accepted.state = "parked";
  transaction.put(`${id}/outbox`, itemKey(item.number), accepted);
}

/**
 * Changes what a profile keeps with its device, when that is gone: cursors are void, and items that may have been sent
 * end as `unknown`, since keys belong to a device. The item of `key` is being sent for the first time, and was refused.
 */
export function loseDevice(transaction, id, key) {
  for (const item of transaction.all(`${id}/outbox`).values()) {
    if (item.state === "ended") transaction.delete(`${id}/outbox`, itemKey(item.number));
    else if (item.key !== key && (item.sent || item.state !== "waiting")) {
      conclude(transaction, id, item, {state: "unknown", reason: "device_lost"}, true);
    }
  }
  for (const [name, following] of transaction.all(`${id}/follow`)) transaction.put(`${id}/follow`, name, {...following, cursor: null});
}

/** Gives the items and outcomes of a profile to another one of the same user; those that were sent are the device's. */
export function moveItems(transaction, from, to) {
  let number = transaction.get(`${to}/meta`, "submitted") ?? 0;
  for (const [, outcome] of [...transaction.all(`${from}/outcomes`)].sort()) {
    transaction.put(`${to}/outcomes`, itemKey(++number), outcome);
  }
  const items = [...transaction.all(`${from}/outbox`).values()].sort((left, right) => left.place - right.place);
  for (const item of items.filter(({state}) => state !== "ended")) {
    const moved = {...item, number: ++number, place: number};
    if (item.state === "waiting" && !item.sent) transaction.put(`${to}/outbox`, itemKey(number), moved);
    else conclude(transaction, to, moved, {state: "unknown", reason: "device_lost"}, true);
  }
  transaction.put(`${to}/meta`, "submitted", number);
  for (const [name, id] of transaction.all(`${from}/temporary`)) transaction.put(`${to}/temporary`, name, id);
}
