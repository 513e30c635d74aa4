/**
 * Runs one step at a time among all tabs of the origin, where Web Locks exist; else among the calls here.
 */
export class Exclusive {
  #name;
  #locks;
  #tails = new Map();

  constructor(name, locks) {
    this.#name = name;
    this.#locks = locks;
  }

  run(what, step) {
    if (this.#locks) return this.#locks.request(`larder:${this.#name}:${what}`, step);
    const result = (this.#tails.get(what) ?? Promise.resolve()).then(step);
    this.#tails.set(what, result.catch(() => {}));
    return result;
  }

  /** Resolves once this tab is the leader; it stays so until `signal` aborts or the tab goes. */
  lead(signal) {
    return new Promise((resolve, reject) => {
      const hold = () => new Promise(release => {
        resolve();
        signal.addEventListener("abort", release, {once: true});
      });
      this.run("leader", () => signal.aborted ? undefined : hold()).catch(reject);
      signal.addEventListener("abort", () => reject(signal.reason), {once: true});
    });
  }
}

/** Messages to the other tabs: `changed` (the store), `work` (something waits for the leader). */
export class Channel {
  #channel;

  /** @param {(message: string) => void} receive */
  constructor(name, receive, isShared) {
    if (!isShared || typeof BroadcastChannel === "undefined") return;
    this.#channel = new BroadcastChannel(`larder:${name}`);
    this.#channel.onmessage = ({data}) => receive(data);
  }

  post(message) {
    this.#channel?.postMessage(message);
  }

  close() {
    this.#channel?.close();
  }
}
