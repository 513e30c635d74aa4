import {OfflineError, ProblemError, UnavailableError, UsageError} from "./errors.js";
import {checkPath} from "./transport.js";

/** The smallest part of an upload, except the last. */
const PART = 5 * 1024 * 1024;
/** The size up to which a file is one request, unless the app says otherwise. */
const SMALL = 1024 * 1024;
/** Milliseconds for one part. */
const TRANSFER = 300_000;
/** More parts than the store allows are never made: the parts grow instead. */
const PARTS_MAX = 10_000;

/** The shape of a response to an object, or a part of one, that is stored. */
const STORED = {etag: "string"};

/**
 * What is uploaded: a Blob, bytes, or an object with `size` and `slice(start, end)` that gives either (also as a
 * promise).
 * @typedef {Blob | Uint8Array | {size: number, slice: (start: number, end: number) => any}} Source
 */

const sizeOf = source => source.size ?? source.byteLength;
const slice = (source, start, end) => source.subarray?.(start, end) ?? source.slice(start, end);
const encoded = key => key.split("/").map(encodeURIComponent).join("/");

/** Files of Larder, with uploads that continue after a pause, a lost connection or a restart. */
export class Files {
  #store;
  #profiles;

  constructor({store, profiles}) {
    this.#store = store;
    this.#profiles = profiles;
  }

  /** The uploads that are not complete. @returns {{bucket: string, key: string, size: number, note?: any}[]} */
  unfinished() {
    return [...this.#store.all(`${this.#profiles.need().id}/uploads`).values()];
  }

  /**
   * Uploads a file, a large one in parts. If it was begun before with the same size, only the missing parts are sent;
   * the app gives the same content again (`note` helps it to find that).
   *
   * @param {string} bucket
   * @param {string} key `{user}` stands for the user's id
   * @param {Source} source
   * @param {{partBytes?: number, wholeBytesMax?: number, type?: string, note?: any, signal?: AbortSignal, onProgress?: (done: number, size: number) => void}} [options]
   * @returns {Promise<{done: boolean, sent: number, error?: Error}>} `done` is false if it was interrupted: call it again
   */
  async upload(bucket, key, source, {partBytes = PART, wholeBytesMax = SMALL, type = source.type, note, signal, onProgress} = {}) {
    const profile = this.#profiles.need();
    const path = this.#path(bucket, key, profile);
    const size = sizeOf(source);
    if (!(size >= 0)) throw new UsageError("invalid_argument", "The source has no size.");
    const table = `${profile.id}/uploads`, name = `${bucket}/${key}`;
    let upload = this.#store.get(table, name);
    if (upload?.size !== size) {
      upload = {bucket, key, size, partBytes: Math.max(partBytes, Math.ceil(size / PARTS_MAX)), note, uploadId: null};
      await this.#save(profile.id, name, upload);
    }
    const headers = {"Content-Type": type || "application/octet-stream"};
    let sent = 0;
    try {
      if (size <= wholeBytesMax) {
        const body = await slice(source, 0, size);
        await this.#profiles.request({method: "PUT", path, body, headers, timeout: TRANSFER, signal, shape: STORED}, profile.id);
        await this.#save(profile.id, name, undefined);
        onProgress?.(size, size);
        return {done: true, sent: 1};
      }
      const had = upload.uploadId ? await this.#parts(path, upload, profile.id, signal) : null;
      // Complete already, if the response to the last request was lost.
      if (!had && upload.isCompleting && await this.#hasObject(path, size, profile.id, signal)) {
        await this.#save(profile.id, name, undefined);
        return {done: true, sent: 0};
      }
      if (!had) {
        const {body} = await this.#profiles.request({method: "POST", path: `${path}/uploads`, headers, signal, shape: {uploadId: "string"}}, profile.id);
        upload = {...upload, uploadId: body.uploadId, isCompleting: false};
        await this.#save(profile.id, name, upload);
      }
      const parts = had ?? new Map();
      const count = Math.max(1, Math.ceil(size / upload.partBytes));
      for (let number = 1; number <= count; number++) {
        const start = (number - 1) * upload.partBytes, end = Math.min(size, start + upload.partBytes);
        if (parts.get(number) !== end - start) {
          const body = await slice(source, start, end);
          await this.#profiles.request({
            method: "PUT", path, query: [["uploadId", upload.uploadId], ["partNumber", String(number)]], body, signal,
            timeout: TRANSFER, shape: STORED,
          }, profile.id);
          sent++;
        }
        onProgress?.(end, size);
      }
      await this.#save(profile.id, name, upload = {...upload, isCompleting: true});
      await this.#profiles.request({method: "POST", path, query: [["uploadId", upload.uploadId]], timeout: TRANSFER, signal, shape: STORED}, profile.id);
      await this.#save(profile.id, name, undefined);
      return {done: true, sent};
    } catch (error) {
      const canGoOn = error instanceof OfflineError || error instanceof UnavailableError || error.code === "no_such_upload";
      if (error instanceof ProblemError && !canGoOn && error.status < 500) await this.#save(profile.id, name, undefined);
      if (!canGoOn) throw error;
      return {done: false, sent, error};
    }
  }

  /** The sizes of the parts that are there, by number; null if the upload is no longer known. */
  async #parts(path, {uploadId, size}, id, signal) {
    try {
      const {body} = await this.#profiles.request({path, query: [["uploadId", uploadId]], signal, shape: {Parts: "array"}}, id);
      return new Map(body.Parts.map(part => [part.PartNumber, part.Size]));
    } catch (error) {
      if (error.code !== "no_such_upload") throw error;
      return null;
    }
  }

  async #hasObject(path, size, id, signal) {
    try {
      const {headers} = await this.#profiles.request({method: "HEAD", path, signal, shape: "head"}, id);
      return Number(headers.get("content-length")) === size;
    } catch (error) {
      if (error instanceof OfflineError) throw error;
      return false;
    }
  }

  /** Stops an upload and removes its parts. */
  async abandon(bucket, key) {
    const profile = this.#profiles.need(), table = `${profile.id}/uploads`, name = `${bucket}/${key}`;
    const upload = this.#store.get(table, name);
    if (!upload) return;
    await this.#save(profile.id, name, undefined);
    if (!upload.uploadId) return;
    await this.#profiles.request({
      method: "DELETE", path: this.#path(bucket, key, profile), query: [["uploadId", upload.uploadId]], shape: "empty",
    }, profile.id);
  }

  /** @returns {Promise<{blob: Blob, type: string, etag: string}>} */
  async download(bucket, key, {signal} = {}) {
    const profile = this.#profiles.need();
    const {body, headers} = await this.#profiles.request({
      path: this.#path(bucket, key, profile), shape: "file", signal,
    }, profile.id);
    return {blob: body, type: headers.get("content-type"), etag: headers.get("etag")};
  }

  async delete(bucket, key) {
    const profile = this.#profiles.need();
    await this.#profiles.request({method: "DELETE", path: this.#path(bucket, key, profile), shape: "empty"}, profile.id);
  }

  #path(bucket, key, {userId = ""}) {
    const prefix = userId.replaceAll("%", "%25").replaceAll("/", "%2F");
    return checkPath(`/v1/files/${encodeURIComponent(bucket)}/${encoded(key.replaceAll("{user}", prefix))}`);
  }

  #save(id, name, upload) {
    return this.#profiles.transact(id, transaction => transaction.put(`${id}/uploads`, name, upload));
  }
}
