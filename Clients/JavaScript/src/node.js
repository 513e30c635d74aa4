import {closeSync, constants, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, linkSync, mkdirSync, openSync,
  readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync, writeSync} from "node:fs";
import {open} from "node:fs/promises";
import {join} from "node:path";
import {StorageError} from "./errors.js";
import {uuid} from "./ids.js";
import {parse, stringify} from "./json.js";
import {MemoryStore, storageError} from "./store.js";

// A log of transactions, one a line: the CRC-32 of the rest in hex, a space, JSON. A transaction is durable once its
// line is synced; a last line that is not whole never happened.

/** The log is written again, without what was replaced, when it has grown by this and by its own size. */
const GROWTH = 8 * 1024 * 1024;
/** Changes in one line of a log that was written again. */
const LINE_CHANGES = 1_000;

const CRC = Uint32Array.from({length: 256}, (_, value) => {
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function crc32(bytes) {
  let value = 0xffffffff;
  for (let index = 0; index < bytes.length; index++) value = CRC[(value ^ bytes[index]) & 0xff] ^ (value >>> 8);
  return ((value ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

function lineOf(changes) {
  const text = Buffer.from(stringify(changes.map(([table, key, value]) => value === undefined ? [table, key] : [table, key, value])));
  return Buffer.concat([Buffer.from(`${crc32(text)} `), text, Buffer.from("\n")]);
}

/** Writes all bytes; one call of the system can write fewer, and does so when a disk becomes full. */
function writeAll(file, bytes, position) {
  for (let written = 0; written < bytes.length;) {
    const count = writeSync(file, bytes, written, bytes.length - written, position + written);
    if (count === 0) throw Object.assign(new Error("No byte was written"), {code: "ENOSPC"});
    written += count;
  }
}

/**
 * A store in a folder, for one process at a time. Survives the end of the process, and of the machine, at any moment.
 * @param {string} folder made if missing
 * @param {{bytesMax?: number}} [options] the size of the log above which writes fail with `storage_full`
 */
export function fileStore(folder, options) {
  return new FileStore(folder, options);
}

export class FileStore extends MemoryStore {
  bytesMax;
  #folder;
  #isOpen = false;
  #file;
  #lock;
  /** Size and file number of the log when it was read. */
  #read;
  /** Bytes of whole lines; whatever follows is cut off. */
  #bytes = 0;
  #compacted = 0;
  #isTorn = false;

  constructor(folder, {bytesMax = Infinity} = {}) {
    super();
    this.#folder = folder;
    this.bytesMax = bytesMax;
  }

  async load() {
    try {
      mkdirSync(this.#folder, {recursive: true, mode: 0o700});
      try {
        this.#lock = takeLock(this.#folder);
        this.#openLog();
      } catch (error) {
        // Without room the store can still be read; `persist` tries again.
        if (storageError(error).code !== "storage_full") throw error;
      }
      this.#readLog();
    } catch (error) {
      this.#release();
      this.tables.clear();
      throw storageError(error);
    }
    this.#isOpen = true;
    try {
      if (this.#file !== undefined && this.#bytes > GROWTH && this.#bytes > 2 * this.#liveBytes()) this.#compact();
    } catch {
      // The present log is whole; the next attempt comes when it has grown.
    }
  }

  get #path() {
    return join(this.#folder, "larder.log");
  }

  #openLog() {
    this.#file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  #readLog() {
    const path = this.#path;
    this.#read = stateOf(path);
    const content = this.#read ? readFileSync(path) : Buffer.alloc(0);
    let start = 0;
    for (let end; (end = content.indexOf(10, start)) !== -1; start = end + 1) {
      const line = content.subarray(start, end);
      const text = line.subarray(9);
      if (line[8] !== 32 || line.toString("latin1", 0, 8) !== crc32(text)) {
        if (content.indexOf(10, end + 1) === -1) break;
        throw new StorageError("store_damaged", `${path}: the line at byte ${start} is damaged, and more lines follow. Restore it, or remove it to start afresh.`);
      }
      this.applySilently(parse(text.toString()));
    }
    this.#bytes = this.#compacted = start;
    this.#isTorn = start < content.length;
    if (start === 0 && this.#file !== undefined) this.#syncFolder();
  }

  /** Takes the lock and opens the log, if there was no room for that when the store was opened. */
  #prepare() {
    if (this.#file !== undefined) return;
    const lock = this.#lock ?? takeLock(this.#folder);
    const present = stateOf(this.#path);
    if (present?.ino !== this.#read?.ino || present?.size !== this.#read?.size) {
      freeLock(lock);
      this.#lock = undefined;
      throw new StorageError("store_in_use", `${this.#folder} was changed by another process since it was opened. Open it again.`);
    }
    this.#lock = lock;
    this.#openLog();
  }

  #liveBytes() {
    let bytes = 0;
    for (const [table, rows] of this.tables) {
      for (const [key, value] of rows) bytes += stringify([table, key, value]).length;
    }
    return bytes;
  }

  async persist(changes) {
    if (!this.#isOpen) throw new StorageError("store_closed", "The store is closed.");
    const line = lineOf(changes);
    if (this.#bytes + line.length > this.bytesMax) {
      throw new StorageError("storage_full", `The store would have more than ${this.bytesMax} bytes. Nothing was stored.`);
    }
    try {
      this.#prepare();
      if (this.#isTorn) ftruncateSync(this.#file, this.#bytes);
      this.#isTorn = true;
      writeAll(this.#file, line, this.#bytes);
      fdatasyncSync(this.#file);
      this.#isTorn = false;
    } catch (error) {
      throw storageError(error);
    }
    this.#bytes += line.length;
  }

  apply(changes, isOwn) {
    super.apply(changes, isOwn);
    if (this.#bytes > 2 * this.#compacted + GROWTH) {
      try {
        this.#compact();
      } catch {
        this.#compacted = this.#bytes; // The present log is whole; the next attempt comes when it has grown again.
      }
    }
  }

  /** Writes the log again. It takes the place of the former one in one step, once it is whole and durable. */
  #compact() {
    const path = this.#path, next = `${path}.new`;
    const file = openSync(next, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
    let bytes = 0;
    try {
      let changes = [];
      const write = () => {
        if (changes.length === 0) return;
        const line = lineOf(changes);
        writeAll(file, line, bytes);
        bytes += line.length;
        changes = [];
      };
      for (const [table, rows] of this.tables) {
        for (const [key, value] of rows) {
          if (changes.push([table, key, value]) === LINE_CHANGES) write();
        }
      }
      write();
      fsyncSync(file);
      if (fstatSync(file).size !== bytes) throw new Error("The log was not written as a whole");
      renameSync(next, path);
    } catch (error) {
      closeSync(file);
      rmSync(next, {force: true});
      throw error;
    }
    closeSync(this.#file);
    this.#file = file;
    this.#bytes = this.#compacted = bytes;
    this.#isTorn = false;
    this.#syncFolder();
  }

  #syncFolder() {
    const folder = openSync(this.#folder, constants.O_RDONLY);
    fsyncSync(folder);
    closeSync(folder);
  }

  #release() {
    if (this.#file !== undefined) closeSync(this.#file);
    if (this.#lock) freeLock(this.#lock);
    this.#file = this.#lock = undefined;
  }

  async close() {
    await this.serially(async () => {
      this.#isOpen = false;
      this.#release();
    });
  }
}

/** Size and file number; undefined if there is no file. */
function stateOf(path) {
  const stat = statSync(path, {throwIfNoEntry: false});
  return stat && {size: stat.size, ino: stat.ino};
}

// One owner has the store, among processes, threads and spellings of the path. The files `lock.N` are a register:
// the one with the highest number holds, with the owner's process as its content, or with none once it is free. The
// next one is linked as a complete file, which one caller alone can do, so that a void lock is never removed under
// the feet of another. Numbers are never used again.

/** Takes the lock of a folder; returns its path. */
function takeLock(folder) {
  const own = join(folder, `lock.new.${uuid()}`);
  const check = () => {
    const newest = newestLock(folder);
    if (newest.name && isHeld(join(folder, newest.name))) {
      throw new StorageError("store_in_use", `${folder} is in use, by another process or by another store of this one.`);
    }
    return newest.number + 1;
  };
  let number = check();
  try {
    writeFileSync(own, `${process.pid} ${startOf(process.pid)}`, {flag: "wx", mode: 0o600});
    for (;; number = check()) {
      const path = join(folder, `lock.${number}`);
      try {
        linkSync(own, path);
      } catch (error) {
        if (error.code === "EEXIST") continue;
        throw error;
      }
      if (newestLock(folder).number === number) {
        for (const one of locks(folder)) {
          if (one.number < number) rmSync(join(folder, one.name), {force: true});
        }
        return path;
      }
      rmSync(path, {force: true});
    }
  } finally {
    rmSync(own, {force: true});
  }
}

/** Frees a lock; needs no room. */
function freeLock(path) {
  writeFileSync(path, "");
}

/** Those of former versions of the library have no number. */
function locks(folder) {
  return readdirSync(folder).flatMap(name => {
    const [, number = 0] = /^lock(?:\.(\d+))?$/.exec(name) ?? [null, -1];
    return number < 0 ? [] : [{name, number: Number(number)}];
  });
}

function newestLock(folder) {
  return locks(folder).reduce((one, other) => other.number > one.number ? other : one, {number: -1});
}

/** Whether the process that a lock names is there. */
function isHeld(path) {
  let content, taken;
  try {
    content = readFileSync(path, "utf8");
    taken = statSync(path).mtimeMs;
  } catch (error) {
    return error.code !== "ENOENT";
  }
  const [pid, start = ""] = content.split(" ");
  if (!(Number(pid) > 0) || startOf(pid) !== start) return false;
  // Where the start is not known: a lock that is older than this process was another one's.
  if (Number(pid) === process.pid) return start !== "" || taken >= Date.now() - process.uptime() * 1000 - 1000;
  return isAlive(Number(pid));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** When a process began, so that another one with its number is not taken for it; empty where that is not known. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return "";
  }
}

/**
 * A file as the source of an upload.
 * @param {string} path
 */
export function fileSource(path) {
  const file = openSync(path, constants.O_RDONLY);
  const {size} = fstatSync(file);
  closeSync(file);
  return {size, slice: (start, end) => readPart(path, start, end)};
}

async function readPart(path, start, end) {
  const file = await open(path);
  try {
    const bytes = new Uint8Array(end - start);
    const {bytesRead} = await file.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
