import {LarderError, ProblemError, SignedOutError, UsageError} from "./errors.js";
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
  #join;
  #tables;

  /**
   * @param {object} parts
   * @param {import("./store.js").MemoryStore} parts.store
   * @param {import("./transport.js").Transport} parts.transport
   * @param {() => number} parts.clock
   * @param {import("./tabs.js").Exclusive} parts.exclusive
   * @param {string} parts.platform
   * @param {(transaction: import("./store.js").Transaction, id: string, key?: string) => void} parts.lose called in the
   *   transaction that gives a profile a new device; `key` is that of the item that is being sent for the first time
   * @param {(transaction: import("./store.js").Transaction, from: string, to: string) => void} parts.join called in the
   *   transaction that gives what the user has submitted in one profile to another
   * @param {string[]} parts.tables of a profile
   */
  constructor({store, transport, clock, exclusive, platform, lose, join, tables}) {
    this.#lose = lose;
    this.#join = join;
    this.#tables = tables;
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

  /**
   * Activates the profile without a user, or registers one; nothing if a profile is active. Throws a UsageError if
   * its device has more than the access that is asked for.
   */
  register(access) {
    return this.#exclusive.run("register", async () => {
      await this.#store.refresh?.();
      const active = this.active, stored = active ?? this.#all().find(profile => !profile.userId);
      if (stored && access && access !== stored.device.access) {
        throw new UsageError("invalid_argument", "The device of this store can write: use another store to read only.");
      }
      if (active) return active;
      await this.sendSignOuts();
      const profile = stored ?? await this.#registered(access);
      await this.#save(profile, true);
      return profile;
    });
  }

  async #registered(access, headers = {}) {
    const {body} = await this.#transport.send({
      method: "POST", path: "/v1/devices", headers, json: {platform: this.#platform, access},
      shape: {id: "string", deviceToken: "string"},
    });
    return {id: uuid(this.#clock()), device: {id: body.id, token: body.deviceToken, access}};
  }

  /**
   * Runs a step of the store for a profile, whose requests can have outlived it: throws SignedOutError where it was
   * forgotten meanwhile.
   */
  transact(id, decide) {
    return this.#store.transact(transaction => {
      if (!transaction.get(ROOT, `profile:${id}`)) throw new SignedOutError();
      return decide(transaction);
    });
  }

  /** @returns {Promise<Profile>} */
  async signIn(email, password, path) {
    await this.sendSignOuts();
    const address = normalized(email);
    const all = this.#all(), active = this.active;
    let profile = all.find(one => one.email && normalized(one.email) === address)
      ?? (active && !active.userId ? active : all.find(one => !one.userId));
    let isNew = !profile;
    if (isNew) await this.#save(profile = await this.#registered());
    const ask = async () => {
      const {body} = await this.#transport.send({
        method: "POST", path, headers: {"Device-Token": profile.device.token}, json: {email, password},
        shape: {...TOKENS, userId: "string"},
      });
      // One device belongs to one user.
      if (profile.userId && profile.userId !== body.userId) throw new ProblemError("device_of_another_user", "The device belongs to another user.");
      return body;
    };
    const askAsNew = async () => {
      isNew = true;
      await this.#save(profile = await this.#registered());
      return ask();
    };
    const tryAll = async () => {
      try {
        return await ask();
      } catch (error) {
        if (error.code === "device_of_another_user") return askAsNew();
        if (!await this.#isDeviceLost(error, profile)) throw error;
        await this.#replaceDevice(profile.id, profile.device.token);
        profile = this.#profile(profile.id);
        return ask();
      }
    };
    let body = await tryAll();
    // The address is another one than before, and the user has a profile here: the session is to be one of its device.
    const known = this.#all().find(one => one.userId === body.userId && one.id !== profile.id);
    let former = null;
    if (known) {
      former = {profile, isNew, session: this.#session(body)};
      profile = known;
      path = "/v1/auth/sign-in";
      body = await tryAll();
    }
    const signedIn = {userId: body.userId, email, session: this.#session(body)};
    await this.#store.transact(transaction => {
      for (const other of this.#all()) {
        if (other.email && normalized(other.email) === address && other.id !== profile.id) {
          transaction.put(ROOT, `profile:${other.id}`, {...other, email: undefined});
        }
      }
      if (former) {
        this.#end(transaction, former.profile.device, former.session);
        if (!former.isNew) this.#join(transaction, former.profile.id, profile.id);
        this.#forget(transaction, former.profile.id);
      }
      transaction.put(ROOT, `profile:${profile.id}`, {...profile, ...signedIn});
      transaction.put(ROOT, "active", profile.id);
    });
    return signedIn;
  }

  #session({accessToken, refreshToken, expiresIn}) {
    return {access: accessToken, refresh: refreshToken, expiresAt: this.#clock() + expiresIn * 1000};
  }

  #forget(transaction, id) {
    transaction.delete(ROOT, `profile:${id}`);
    for (const name of this.#tables) {
      for (const key of transaction.all(`${id}/${name}`).keys()) transaction.delete(`${id}/${name}`, key);
    }
  }

  /** Has the server end a session before the next requests. */
  #end(transaction, device, session) {
    transaction.put(ROOT, `signOut:${uuid(this.#clock())}`, {refresh: session.refresh, token: device.token});
  }

  /**
   * Ends the session on the phone, also offline. The server is told now, or before the next requests.
   * @param {boolean} forget whether the profile is deleted with all its data
   * @returns {Promise<{sent: boolean}>} whether the server has been told
   */
  async signOut(forget) {
    const {id} = this.need();
    await this.transact(id, transaction => {
      const {session, ...rest} = transaction.get(ROOT, `profile:${id}`);
      if (transaction.get(ROOT, "active") === id) transaction.delete(ROOT, "active");
      if (forget) this.#forget(transaction, id);
      else transaction.put(ROOT, `profile:${id}`, rest);
      if (session) this.#end(transaction, rest.device, session);
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
      if (!profile) throw new SignedOutError();
      if (profile.device.token !== lost) return;
      const headers = profile.session ? {Authorization: `Bearer ${(await this.#fresh(profile)).access}`} : {};
      const {device} = await this.#registered(profile.device.access, headers);
      await this.transact(id, transaction => {
        transaction.put(ROOT, `profile:${id}`, {...transaction.get(ROOT, `profile:${id}`), device});
        this.#lose(transaction, id, key);
      });
    });
  }

  /** Whether a refusal says that the server does not know the device; other credentials can be missing too. */
  async #isDeviceLost(error, {device}) {
    if (error.status !== 401 || error.code !== "unauthenticated") return false;
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
        return await this.#exchange(id, used, (transaction, present) => {
          // It has ended meanwhile on the phone, and must at the server.
          if (!present?.session) this.#end(transaction, profile.device, session);
          else transaction.put(ROOT, `profile:${id}`, {...present, session});
          return present?.session && session;
        });
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status !== 401) throw error;
        return this.#exchange(id, used, (transaction, {session, ...rest} = {}) => {
          if (session) transaction.put(ROOT, `profile:${id}`, rest);
        });
      }
    });
  }

  /** Records what came of a refresh, unless another session has begun meanwhile; returns the present one. */
  async #exchange(id, used, decide) {
    const session = await this.#store.transact(transaction => {
      const present = transaction.get(ROOT, `profile:${id}`);
      return present?.session && present.session.refresh !== used ? present.session : decide(transaction, present);
    });
    if (!session) throw new SignedOutError("The session has ended: sign in again.");
    return session;
  }
}

/** Addresses that mailboxes take for the same. */
const normalized = email => String(email).trim().normalize("NFC").toLowerCase();

function withCredentials(request, {device}, session) {
  const headers = {...request.headers, "Device-Token": device.token};
  if (session) headers.Authorization = `Bearer ${session.access}`;
  return {...request, headers};
}
