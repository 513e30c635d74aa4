import {MemoryStore, Source} from "./larder.js";

/** A store in a folder, for one process at a time. Survives the end of the process and of the machine at any moment. */
export class FileStore extends MemoryStore {
  constructor(folder: string, options?: {bytesMax?: number});
  /** The size of the log above which writes fail with `storage_full`. */
  bytesMax: number;
}
export function fileStore(folder: string, options?: {bytesMax?: number}): FileStore;

/** A file as the source of an upload. */
export function fileSource(path: string): Exclude<Source, Blob | Uint8Array>;
