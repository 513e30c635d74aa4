import {LarderError, ProblemError, SignedOutError} from "./errors.js";
import {uuid} from "./ids.js";

const ROOT = "root";
/** The shape of a response with a session. */
const TOKENS = {accessToken: "string", refreshToken: "string", expiresIn: "number"};

/**
 * @typedef {object} Profile a device token, and the user it belongs to if there is one
 * @property {string} id
 * @property {{id: string, token: string}} device
 * @property {string} [userId]
 * @property {string} [email]
 * @property {{access: string, refresh: string, expiresAt: number}} [session] absent when the user has signed out
 */

/**
 * The profiles of the phone, of which one is active at most, and requests with their credentials.
 */
export class Profiles {
  #store;
  #transport;
  #clock;
  #exclusive;
  #platform;
  #lose;

  /**
   * @param {object} parts
   * @param {import("./store.js").MemoryStore} parts.store
   * @param {import("./transport.js").Transport} parts.transport
   * @param {() => number} parts.clock
   * @param {import("./tabs.js").Exclusive} parts.exclusive
   * @param {string} parts.platform
   * @param {(transaction: import("./store.js").Transaction, id: string, key?: string) => void} parts.lose called in the
   *   transaction that gives a profile a new device; `key` is that of the item that is being sent for the first time
   */
  constructor({store, transport, clock, exclusive, platform, lose}) {
    this.#lose = lose;
    this.#store = store;
    this.#transport = transport;
    this.#clock = clock;
    this.#exclusive = exclusive;
    this.#platform = platform;
  }

  /** @returns {Profile | null} */
  get active() {
    const id = this.#store.get(ROOT, "active");
    return id ? this.#profile(id) : null;
  }

  /** The active profile; throws SignedOutError without one. @returns {Profile} */
  need() {
    const profile = this.active;
    if (!profile) throw new SignedOutError();
    return profile;
  }

  #profile(id) {
    return this.#store.get(ROOT, `profile:${id}`) ?? null;
  }

  #all() {
    return [...this.#store.all(ROOT)].filter(([key]) => key.startsWith("profile:")).map(([, profile]) => profile);
  }

  #save(profile, isActive = false) {
    return this.#store.transact(transaction => {
      transaction.put(ROOT, `profile:${profile.id}`, profile);
      if (isActive) transaction.put(ROOT, "active", profile.id);
    });
  }

  /** Activates the profile without a user, or registers one; nothing if a profile is active. */
  async register(access) {
    const active = this.active;
    if (active) return active;
    await this.sendSignOuts();
    const stored = this.#all().find(profile => !profile.userId);
    const profile = stored ?? await this.#registered(access);
    await this.#save(profile, true);
    return profile;
  }

  async #registered(access, headers = {}) {
    const {body} = await this.#transport.send({
      method: "POST", path: "/v1/devices", headers, json: {platform: this.#platform, access},
      shape: {id: "string", deviceToken: "string"},
    });
    return {id: uuid(this.#clock()), device: {id: body.id, token: body.deviceToken, access}};
  }

  /** @returns {Promise<Profile>} */
  async signIn(email, password, path) {
    await this.sendSignOuts();
    const all = this.#all(), active = this.active;
    let profile = all.find(one => one.email === email)
      ?? (active && !active.userId ? active : all.find(one => !one.userId));
    if (!profile) await this.#save(profile = await this.#registered());
    const ask = () => this.#transport.send({
      method: "POST", path, headers: {"Device-Token": profile.device.token}, json: {email, password},
      shape: {...TOKENS, userId: "string"},
    });
    let response;
    try {
      response = await ask();
    } catch (error) {
      const isForeign = error.code === "device_of_another_user";
      const isGone = error.status === 401 && error.code === "unauthenticated";
      if (!isForeign && !isGone) throw error;
      profile = await this.#registered();
      await this.#save(profile);
      response = await ask();
    }
    const {userId} = response.body;
    const signedIn = {...profile, userId, email, session: this.#session(response.body)};
    await this.#store.transact(transaction => {
      for (const other of this.#all()) {
        if (other.email === email && other.id !== profile.id) {
          transaction.put(ROOT, `profile:${other.id}`, {...other, email: undefined});
        }
      }
      transaction.put(ROOT, `profile:${profile.id}`, signedIn);
      transaction.put(ROOT, "active", profile.id);
    });
    return signedIn;
  }

  #session({accessToken, refreshToken, expiresIn}) {
    return {access: accessToken, refresh: refreshToken, expiresAt: this.#clock() + expiresIn * 1000};
  }

  /**
   * Ends the session on the phone, also offline. The server is told now, or before the next requests.
   * @param {string[]} forget tables of the profile that are deleted with it
   * @returns {Promise<{sent: boolean}>} whether the server has been told
   */
  async signOut(forget = null) {
    const profile = this.need();
    await this.#store.transact(transaction => {
      const {session, ...rest} = profile;
      transaction.delete(ROOT, "active");
      if (forget) {
        transaction.delete(ROOT, `profile:${profile.id}`);
        for (const name of forget) {
          for (const key of transaction.all(`${profile.id}/${name}`).keys()) transaction.delete(`${profile.id}/${name}`, key);
        }
      } else {
        transaction.put(ROOT, `profile:${profile.id}`, rest);
      }
      if (session) transaction.put(ROOT, `signOut:${uuid(this.#clock())}`, {refresh: session.refresh, token: profile.device.token});
    });
    try {
      await this.sendSignOuts();
      return {sent: true};
    } catch (error) {
      if (!(error instanceof LarderError)) throw error;
      return {sent: false};
    }
  }

  /** Tells the server of sessions that were ended while it could not be reached. */
  async sendSignOuts() {
    for (const [key, {refresh, token}] of [...this.#store.all(ROOT)].filter(([key]) => key.startsWith("signOut:"))) {
      try {
        await this.#transport.send({
          method: "POST", path: "/v1/auth/sign-out", headers: {"Device-Token": token}, json: {refreshToken: refresh},
          shape: "empty",
        });
      } catch (error) {
        // Any other refusal says that the session has ended already.
        if (!(error instanceof ProblemError) || error.status >= 500) throw error;
      }
      await this.#store.transact(transaction => transaction.delete(ROOT, key));
    }
  }

  /** Registers a new device for a profile, in place of `lost`. */
  #replaceDevice(id, lost, key) {
    return this.#exclusive.run("device", async () => {
      await this.#store.refresh?.();
      const profile = this.#profile(id);
      if (profile.device.token !== lost) return;
      const headers = profile.session ? {Authorization: `Bearer ${(await this.#fresh(profile)).access}`} : {};
      const {device} = await this.#registered(profile.device.access, headers);
      await this.#store.transact(transaction => {
        transaction.put(ROOT, `profile:${id}`, {...transaction.get(ROOT, `profile:${id}`), device});
        this.#lose(transaction, id, key);
      });
    });
  }

  /** Whether a refusal says that the server does not know the device; other credentials can be missing too. */
  async #isDeviceLost(error, {device}) {
    if (error.status !== 401 || error.code !== "unauthenticated") return false;
    if (/^The device token is unknown/.test(error.message)) return true;
    try {
      await this.#transport.send({path: "/v1/devices/me", headers: {"Device-Token": device.token}, shape: {id: "string"}});
      return false;
    } catch (refusal) {
      if (refusal.status !== 401) throw refusal;
      return refusal.code === "unauthenticated";
    }
  }

  /**
   * Sends a request with the credentials of a profile. Where the server no longer knows the device, another one is
   * registered, and the request is sent once more.
   *
   * @param {import("./transport.js").Request & {item?: {key: string, sent: boolean}}} request `item` of the outbox:
   *   if it may have been sent before, it is not sent from another device
   */
  async request({item, ...request}, id = this.need().id) {
    const profile = this.#profile(id);
    try {
      return await this.#request(request, id);
    } catch (error) {
      if (!profile || !await this.#isDeviceLost(error, profile)) throw error;
      await this.#replaceDevice(id, profile.device.token, item?.sent ? undefined : item?.key);
      if (item?.sent) throw new ProblemError("device_lost", "The device that sent this item is gone: its outcome is not known.");
      return this.#request(request, id);
    }
  }

  /** The tokens are refreshed once where they have expired. */
  async #request(request, id) {
    const profile = this.#profile(id);
    if (!profile) throw new SignedOutError();
    if (!profile.userId) return this.#transport.send(withCredentials(request, profile));
    if (!profile.session) throw new SignedOutError("The session has ended: sign in again.");
    const session = await this.#fresh(profile);
    try {
      return await this.#transport.send(withCredentials(request, profile, session));
    } catch (error) {
      if (error.status !== 401 || !["token_expired", "token_invalid"].includes(error.code)
        || session !== profile.session) throw error;
      const next = await this.#refresh(id, session.refresh);
      return this.#transport.send(withCredentials(request, profile, next));
    }
  }

  async #fresh({id, session}) {
    return session.expiresAt > this.#clock() ? session : this.#refresh(id, session.refresh);
  }

  /**
   * New tokens, by one request at a time. A response that is lost loses nothing: the refresh token stays until
   * its successor is stored, and the server accepts it again for `accounts.refreshLeeway`.
   */
  #refresh(id, used) {
    return this.#exclusive.run("refresh", async () => {
      await this.#store.refresh?.();
      const profile = this.#profile(id);
      if (!profile?.session) throw new SignedOutError("The session has ended: sign in again.");
      if (profile.session.refresh !== used) return profile.session;
      try {
        const {body} = await this.#transport.send({
          method: "POST", path: "/v1/auth/refresh", headers: {"Device-Token": profile.device.token},
          json: {refreshToken: used}, shape: TOKENS,
        });
        const session = this.#session(body);
        await this.#save({...profile, session});
        return session;
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status !== 401) throw error;
        const {session, ...rest} = profile;
        await this.#save(rest);
        throw new SignedOutError("The session has ended: sign in again.");
      }
    });
  }
}

function withCredentials(request, {device}, session) {
  const headers = {...request.headers, "Device-Token": device.token};
  if (session) headers.Authorization = `Bearer ${session.access}`;
  return {...request, headers};
}
