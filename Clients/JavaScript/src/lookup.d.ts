import {Larder} from "./larder.js";

/**
 * The same client, whose `read` answers a generated query from the replica where it has no response and Larder or your
 * API cannot be reached. Everything that the query selects must be in the replica; else the call fails as before.
 */
export function withLookups<Client extends Larder>(larder: Client): Client;
