import {el, put} from "../core/dom.js";
import {bytes, counted, duration, number} from "../core/format.js";
import {get, Problem} from "../core/http.js";
import {empty, facts, failure, head, pill, sheet, since, skeleton, table, tag, turn} from "../core/parts.js";
import {shown, wait} from "../core/stream.js";

export const title = "Cluster";

const lookMilliseconds = 2000;

const single = () =>
  el(
    "div",
    {class: "sheet"},
    empty(
      "A single machine",
      "All data is in this machine's data folder. With cluster.postgres several nodes share it, and one replaces " +
        "another that fails; docs/cluster.md says when that is worth it.",
    ),
  );

function state(found) {
  const live = found.nodes.filter((one) => one.live).length;
  return sheet(
    el(
      "span",
      {class: "row"},
      found.name,
      found.reachable
        ? pill(found.lease ? "has a leader" : "has no leader", found.lease ? "good" : "bad")
        : pill("PostgreSQL does not respond", "bad"),
    ),
    found.reachable
      ? null
      : el(
          "p",
          {class: "bad"},
          `${found.outage ?? "The shared database could not be read."} Reads go on from this node's copy; writes wait.`,
        ),
    facts([
      ["This node", found.node ? el("code", {}, found.node) : null],
      [
        "Leader",
        found.lease
          ? el("span", {}, el("code", {}, found.lease.node), ` at ${found.lease.url}, epoch ${found.lease.epoch}`)
          : null,
      ],
      ["Lease", found.lease ? `${number(found.lease.validMs)} ms left` : null],
      ["Nodes", found.reachable ? `${live} of ${counted(found.nodes.length, "node")} live` : null],
      ["Log", found.log ? `up to ${number(found.log.position)}, readable after ${number(found.log.floor)}` : null],
      [
        "Inbox",
        found.inbox
          ? el(
              "span",
              {class: found.inbox.oldestAgeSeconds > 60 ? "warn" : ""},
              found.inbox.entries
                ? `${counted(found.inbox.entries, "mutation")}, the oldest for ${duration(found.inbox.oldestAgeSeconds ?? 0)}`
                : "empty",
            )
          : null,
      ],
      [
        "Snapshot",
        found.snapshot
          ? el(
              "span",
              {},
              `position ${number(found.snapshot.position)}, ${bytes(found.snapshot.bytes)}, `,
              since(found.snapshot.at),
            )
          : found.snapshot === null
            ? "none yet"
            : null,
      ],
    ]),
  );
}

function nodes(found) {
  if (!found.nodes.length) return null;
  return el(
    "div",
    {class: "sheet flush"},
    table(
      "Nodes",
      [
        {
          label: "Node",
          isHead: true,
          cell: (one) => [el("code", {}, one.id), one.id === found.node ? [" ", tag("this one")] : null],
        },
        {
          label: "Role",
          cell: (one) =>
            one.live ? pill(one.role, one.role === "leader" ? "good" : "") : pill("gone", "bad"),
        },
        {label: "Position", isNumber: true, cell: (one) => number(one.position)},
        {
          label: "Behind",
          isNumber: true,
          cell: (one) => (one.lagRows === undefined ? "–" : counted(one.lagRows, "row")),
        },
        {
          label: "Version",
          cell: (one) => [one.version, one.agrees ? null : [" ", tag("other operations", "warn")]],
        },
        {label: "Seen", isNumber: true, cell: (one) => `${duration(one.seenSeconds)} ago`},
        {label: "Address", cell: (one) => el("code", {}, one.url)},
      ],
      found.nodes,
    ),
  );
}

export function show({main, signal}) {
  const place = el("div", {class: "stack"});
  main.append(head("Cluster", "The nodes, who leads, and how far each one is."), place);
  put(place, skeleton());
  follow(place, signal);
}

/** Looks every two seconds while the page is visible. What is the same is not drawn again. */
async function follow(place, signal) {
  const isLatest = turn(place);
  let last = null;
  while (!signal.aborted && isLatest()) {
    await shown(signal);
    try {
      const found = await get("/v1/admin/cluster", {signal});
      if (signal.aborted) return;
      const text = JSON.stringify(found);
      if (text !== last) put(place, found.mode === "single" ? single() : [state(found), nodes(found)]);
      last = text;
      // A node joins or leaves a cluster only by a restart.
      if (found.mode === "single") return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) console.error(error);
      put(place, failure(error, () => follow(place, signal)));
      if (!(error instanceof Problem) || !error.isOffline) return;
      last = null;
    }
    await wait(lookMilliseconds, signal);
  }
}
