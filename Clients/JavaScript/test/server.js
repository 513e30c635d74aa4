import {Larder, MemoryStore} from "../src/larder.js";

/** A response of Larder's, or of what stands between. */
export const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), {
  status,
  headers: {"Content-Type": status < 400 ? "application/json" : "application/problem+json", "Request-Id": "1cc9013caf476cdb", ...headers},
});
export const problem = (code, status, detail = code, retry = "never") => json({code, status, detail, retry}, status);
export const html = (status = 200, headers = {}) =>
  new Response("<html>Welcome to our network</html>", {status, headers: {"Content-Type": "text/html", ...headers}});
export const empty = () => new Response(null, {status: 204, headers: {"Request-Id": "1cc9013caf476cdb"}});
/** JSON of another service behind Larder's address. */
export const foreign = (body, status = 200, headers = {}) => Response.json(body, {status, headers});
export const refused = () => new TypeError("fetch failed", {cause: Object.assign(new Error("off"), {code: "ECONNREFUSED"})});

/**
 * Larder's side of the exchanges of these tests: devices, users by address, mutations by key. `on` takes the place
 * of the response to a request, if it returns one, or a promise of one.
 */
export class Server {
  requests = [];
  /** @type {(request: object) => any} */
  on = () => undefined;
  users = {};
  devices = new Map();
  /** What it says of a device that it does not know. */
  unknownDevice = "The device token is unknown.";
  mutations = new Map();
  #count = 0;

  fetch = async (url, {method = "GET", headers = {}, body, signal} = {}) => {
    const {pathname, search, origin} = new URL(url);
    const request = {method, path: pathname, search, origin, headers, body, signal, device: headers["Device-Token"], user: headers.Authorization};
    this.requests.push(request);
    const response = await this.on(request) ?? this.answer(request);
    if (response instanceof Error) throw response;
    return response;
  };

  answer({method, path, headers, body, device}) {
    const number = ++this.#count;
    if (path === "/v1/devices") {
      this.devices.set(`token-${number}`, `d_${number}`);
      return json({id: `d_${number}`, deviceToken: `token-${number}`}, 201);
    }
    if (!this.devices.has(device)) return problem("unauthenticated", 401, this.unknownDevice);
    if (path === "/v1/devices/me") return json({id: this.devices.get(device)});
    if (path === "/v1/auth/sign-in" || path === "/v1/auth/sign-up") {
      const {email} = JSON.parse(body), userId = this.users[email] ?? `u_${email.trim().toLowerCase()}`;
      return json({userId, accessToken: `access-${number}`, refreshToken: `refresh-${number}`, expiresIn: 900});
    }
    if (path === "/v1/auth/refresh") return json({accessToken: `access-${number}`, refreshToken: `refresh-${number}`, expiresIn: 900});
    if (path === "/v1/auth/sign-out" || (path.startsWith("/v1/files/") && method === "DELETE")) return empty();
    if (path === "/v1/changes") return json({cursor: `c${number}`, complete: true, changes: []});
    if (path === "/v1/mutations") {
      const key = headers["Idempotency-Key"], isForced = JSON.parse(body).mode === "force";
      if (!this.mutations.has(key)) {
        this.mutations.set(key, isForced ? {id: `m_${number}`, state: "applied", response: {data: {number}}} : {id: `m_${number}`, state: "queued"});
      }
      return json(this.mutations.get(key), isForced ? 200 : 202);
    }
    if (path.startsWith("/v1/operations/")) return json({data: {path}}, 200, {ETag: `"${number}"`});
    if (path === "/v1/entities") return json({items: [null]});
    if (path.startsWith("/v1/files/")) return json({key: path, size: 1, etag: "x"}, 201);
    return problem("not_found", 404);
  }

  open(options = {}) {
    return Larder.open({url: "http://larder.example", store: new MemoryStore(), fetch: this.fetch, reconnect: [1, 5], poll: 5, ...options});
  }
}

/** A promise with the functions that settle it. */
export function deferred() {
  let resolve, reject;
  const promise = new Promise((...both) => [resolve, reject] = both);
  return {promise, resolve, reject};
}
