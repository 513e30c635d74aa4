/** A value of JSON. Integers beyond 2^53 are bigint. */
export type JSONValue = null | boolean | number | bigint | string | JSONValue[] | {[name: string]: JSONValue | undefined};

/** An entity as the app sees it. `_pending` has the keys of the outbox items, or Larder's ids of them, that it shows. */
export interface Entity {
  __typename: string;
  _rev?: string;
  _pending?: string[];
  [field: string]: any;
}

export interface Problem {
  code: string;
  status: number;
  title?: string;
  detail?: string;
  retry?: "never" | "after" | "same-key" | "new-key";
  requestId?: string;
  errors?: {pointer?: string; parameter?: string; detail: string}[];
}

/** The error of every failed call. Decide by `code`. */
export class LarderError extends Error {
  constructor(code: string, message: string, details?: {cause?: unknown; status?: number; problem?: Problem; retryAfter?: number});
  readonly code: string;
  readonly status?: number;
  readonly problem?: Problem;
  /** Seconds. */
  readonly retryAfter?: number;
}
/** `offline`: no connection, no response, or one cut off. */
export class OfflineError extends LarderError {
  constructor(message: string, cause?: unknown, unsent?: boolean);
  /** True if the request surely never left. */
  readonly unsent: boolean;
  /** Whether there was a response that is not Larder's: of a network that wants a sign-in, or of a proxy. */
  readonly isForeign: boolean;
}
/** `unavailable`: 429, 502, 503 or 504. Try again later. */
export class UnavailableError extends LarderError {}
/** A response that refuses; `code` is that of its `problem` (docs/problems.md). */
export class ProblemError extends LarderError {
  readonly problem: Problem;
}
/** `signed_out`: no profile is active, or its user has to sign in again. */
export class SignedOutError extends LarderError {
  constructor(message?: string);
}
/** `storage_full`, `store_damaged`, `store_in_use`, `store_closed` or `store_failed`. */
export class StorageError extends LarderError {}
/** `unknown_key`, `not_parked`, `invalid_filter` or `invalid_argument`. */
export class UsageError extends LarderError {}

/** A change of the store: table, key, new value; undefined deletes. */
export type Change = [table: string, key: string, value: any];

export interface Transaction {
  get(table: string, key: string): any;
  all(table: string): ReadonlyMap<string, any>;
  put(table: string, key: string, value: any): void;
  delete(table: string, key: string): void;
}

/** A store that keeps nothing beyond the process. A store of your own extends it with `load`, `persist` and `close`. */
export class MemoryStore {
  open(): Promise<void>;
  get(table: string, key: string): any;
  all(table: string): ReadonlyMap<string, any>;
  /** Durable as a whole once it resolves, or it has not happened. */
  transact<Result>(decide: (transaction: Transaction) => Result): Promise<Result>;
  close(): Promise<void>;
  protected load(): Promise<void>;
  protected persist(changes: Change[]): Promise<void>;
  protected applySilently(changes: Change[]): void;
}

/** A store in IndexedDB, shared by all tabs of an origin. */
export class IndexedDBStore extends MemoryStore {
  constructor(name?: string, factory?: IDBFactory);
  refresh(): Promise<void>;
}

/** What the library must know of entity types that it cannot see in the data. */
export interface TypeSchema {
  /** Key fields, if not `id`. */
  key?: string[];
  /** Whether it is a type of `local.graphql`; false for your API's types with local fields. */
  local?: boolean;
  /** The types of to-one relationships by field, for key paths in filters and orders. */
  references?: Record<string, string>;
}

export interface LarderOptions {
  /** The address of Larder. */
  url: string | URL;
  /** IndexedDB in browsers, else memory, if absent. */
  store?: MemoryStore;
  /** The name of the store in IndexedDB: `larder`. */
  name?: string;
  /** What devices are registered as: `web`. */
  platform?: string;
  schema?: Record<string, TypeSchema>;
  fetch?: typeof fetch;
  /** The time in milliseconds. */
  clock?: () => number;
  /** Milliseconds until a request without a response counts as failed: 15,000. */
  timeout?: number;
  /** Changes in a page: 1,000. */
  pageSize?: number;
  /** Milliseconds between polls where no stream can be opened: 5,000. */
  poll?: number;
  /** The shortest and the longest pause between attempts to open a stream, in milliseconds: [200, 30,000]. */
  reconnect?: [shortest: number, longest: number];
}

export interface Profile {
  device: string;
  userId: string | null;
  email: string | null;
  signedIn: boolean;
}

export interface Following {
  types: string[];
  /** In Larder's filter language. */
  filter?: string;
  args?: any[] | Record<string, any>;
}

export interface Query<Item = Entity> {
  type: string;
  /** In Larder's filter language, or a function. */
  filter?: string | ((entity: Item) => boolean);
  /** The values of `?`, in order, or of `:name`. */
  args?: any[] | Record<string, any>;
  /** `"-year,title"`, or a list. The key breaks ties. */
  order?: string | string[];
  limit?: number;
  offset?: number;
}

/** A batch update: `deletes`, `from` and `old` index the old list, `index`, `to` and `new` the new one. */
export interface Diff {
  oldCount: number;
  count: number;
  deletes: number[];
  inserts: {index: number; id: string}[];
  moves: {from: number; to: number; id: string}[];
  updates: {old: number; new: number; id: string}[];
}

/** A response of `…/diff`. */
export type ListDiff =
  | {kind: "full"; etag: string; count: number; items: Entity[]; cursor: string}
  | (Diff & {kind: "diff"; from?: string; etag: string; entities: Record<string, Entity>; cursor: string});

export interface ReadResult<Data = any> {
  data: Data;
  errors?: any[];
  /** Paths whose values are the last good ones. */
  stale?: any[];
  /** Where it came from: a new response, the kept one confirmed, or the kept one without a connection. */
  from: "network" | "notModified" | "offline";
  /** When the response came, in milliseconds. */
  at: number;
}

/** What a mutation is expected to change, shown until its outcome. */
export interface Optimistic {
  op: "merge" | "create" | "delete";
  type: string;
  /** A temporary id (`newId`) for `create`. */
  id: string;
  fields?: Record<string, any>;
}

/** An operation of `POST /v1/entities`. */
export interface WriteOperation {
  op: "insert" | "replace" | "insertOrUpdate" | "update" | "updateOrInsert" | "findOrInsert" | "delete";
  type: string;
  id?: string | number;
  filter?: string;
  args?: any[] | Record<string, any>;
  all?: true;
  data?: Record<string, any>;
  ifMatch?: string;
}

export interface SubmitOptions {
  /** `lazy` if absent: of the mutations of one operation for the same object the latest is sent. `steady`: each, in order. */
  mode?: "lazy" | "steady";
  /** What it is about, as `Type:id`. */
  object?: string;
  /** What else it mentions, as `Type:id`. */
  refs?: string[];
  optimistic?: Optimistic[];
}

export interface OutboxItem {
  key: string;
  /** `$write` for writes. */
  operation: string;
  /** `waiting`: no response yet; `enqueued`: accepted by Larder; `parked`: waits for `retry` or `discard`. */
  state: "waiting" | "enqueued" | "parked";
  mode: "lazy" | "steady" | "force";
  reason?: string;
}

export interface Outcome {
  key: string;
  operation: string;
  /** Larder's state, `refused` if it never took the item, or `unknown` if its device was lost. */
  state:
    | "applied" | "rejected" | "superseded" | "annihilated" | "expired" | "cancelled" | "discarded" | "refused" | "unknown";
  reason?: string;
  problem?: Problem;
  response?: any;
  /** The key of the item that went in its place. */
  supersededBy?: string;
}

/** An operation as `larder generate typescript` writes it, with the types of its variables and its data. */
export interface Operation<Variables, Data> {
  readonly name: string;
  readonly kind: "query" | "mutation" | "subscription";
  readonly types?: (variables: Variables) => Data;
  /** Which entity answers it, for `withLookups` of `lookup.js`. */
  readonly lookup?: object;
}

export type Subject =
  | {operation: string | Operation<any, any>; variables?: Record<string, any>}
  | {collection: string}
  | {changes: {types?: string[]; since?: string}};

export interface LiveEvent<Data = any> {
  /** `message` of a query, `next` of a subscription, `list` and `diff` of a list, `change` of changes, … */
  event: string;
  data: Data;
  id?: string;
  from: "stream" | "polling";
}

export interface LiveOptions {
  signal?: AbortSignal;
  /** Called whenever a stream has been opened: changes from then on come by it. */
  onOpen?: () => void;
}

/** What is uploaded: a Blob, bytes, or an object with a size and slices. */
export type Source = Blob | Uint8Array | {size: number; slice(start: number, end: number): Promise<Uint8Array> | Uint8Array | Blob};

export interface UploadOptions {
  /** 5 MiB, the least. */
  partBytes?: number;
  /** The size up to which a file is sent as a whole: 1 MiB. */
  wholeBytesMax?: number;
  /** The media type; that of a Blob if absent. */
  type?: string;
  /** Kept with the upload, to find its content again. */
  note?: any;
  signal?: AbortSignal;
  onProgress?: (done: number, size: number) => void;
}

export class Files {
  /** Uploads that are not complete. */
  unfinished(): {bucket: string; key: string; size: number; note?: any}[];
  /** Sends the parts that are missing. `{user}` in the key stands for the user's id. */
  upload(bucket: string, key: string, source: Source, options?: UploadOptions): Promise<{done: boolean; sent: number; error?: LarderError}>;
  abandon(bucket: string, key: string): Promise<void>;
  download(bucket: string, key: string, options?: {signal?: AbortSignal}): Promise<{blob: Blob; type: string | null; etag: string | null}>;
  delete(bucket: string, key: string): Promise<void>;
}

/** What cannot write. */
export type Reader = Pick<Larder, "get" | "list" | "count" | "observe" | "read" | "kept" | "live" | "listDiff">;

/** A client of Larder with its own store. See README.md. */
export class Larder {
  private constructor(options: LarderOptions);
  /** Opens the store. Nothing is sent. */
  static open(options: LarderOptions): Promise<Larder>;

  /** The active profile; null if there is none. */
  readonly profile: Profile | null;
  readonly files: Files;
  /** The reading half, for code that is not to write. */
  readonly reader: Reader;

  /**
   * Activates the profile without a user; registers the device if there is none. Nothing if one is active. With
   * `access`, `invalid_argument` if the store's device can write.
   */
  register(options?: {access?: "read"}): Promise<{device: string}>;
  signUp(email: string, password: string): Promise<{userId: string}>;
  signIn(email: string, password: string): Promise<{userId: string}>;
  /** Ends the session at once, also offline. `sent` is false if the server is told later. */
  signOut(options?: {forget?: boolean}): Promise<{sent: boolean}>;
  /** Stores the push service's token and ties it to the user; null ends that. `sent` is false if it is sent later. */
  registerPush(pushToken: string | null): Promise<{sent: boolean}>;

  /** Declares a part of the data that the replica holds. The same name with other arguments replaces the former. */
  follow(name: string, following: Following): Promise<void>;
  unfollow(name: string): Promise<void>;
  /** Pulls changes until the replica is complete. `reset`: a part was read again from its beginning. */
  sync(): Promise<{applied: number; reset: boolean}>;

  /** An entity as the app sees it: the replica with what waits in the outbox. */
  get<Item = Entity>(type: string, id: string): Item | null;
  list<Item = Entity>(query: Query<Item>): Item[];
  count<Item = Entity>(query: Query<Item>): number;
  state(): Record<string, Record<string, Entity>>;
  /** A new temporary id. */
  newId(): string;
  /** The results of a query now and after each change, with the batch update that leads to them. */
  observe<Item = Entity>(query: Query<Item>, options?: {signal?: AbortSignal}): AsyncGenerator<{items: Item[]; diff: Diff}, void, void>;

  /** A query of the operations folder, answered from its kept response without a connection. */
  read<Variables, Data>(operation: Operation<Variables, Data>, variables: Variables, options?: {signal?: AbortSignal}): Promise<ReadResult<Data>>;
  read<Data = any>(operation: string, variables?: Record<string, any>, options?: {signal?: AbortSignal}): Promise<ReadResult<Data>>;
  /** The kept response of a query, without a request. */
  kept<Variables, Data>(operation: Operation<Variables, Data>, variables: Variables): ReadResult<Data> | null;
  kept<Data = any>(operation: string, variables?: Record<string, any>): ReadResult<Data> | null;
  /** The batch update to a list of Larder; null if nothing changed. `path` is that of the list. */
  listDiff(path: string, base?: {from?: string; have?: [id: string, rev: string][]}): Promise<ListDiff | null>;
  /** The events of a subject, over all interruptions, until the caller stops or the subject cannot go on. */
  live<Variables, Data>(
    subject: {operation: Operation<Variables, Data>; variables: Variables}, options?: LiveOptions,
  ): AsyncGenerator<LiveEvent<{data: Data; errors?: any[]}>, void, void>;
  live<Data = any>(subject: Subject, options?: LiveOptions): AsyncGenerator<LiveEvent<Data>, void, void>;

  /** Stores a mutation, durable before it resolves, and shows its optimistic update. */
  submit<Variables>(operation: Operation<Variables, any>, variables: Variables, options?: SubmitOptions): Promise<{key: string}>;
  submit(operation: string, variables?: Record<string, any>, options?: SubmitOptions): Promise<{key: string}>;
  /** The same for writes to local types; `direct` for local fields of your API's types. */
  write(operations: WriteOperation[], options?: {mode?: "lazy" | "steady"; direct?: boolean}): Promise<{key: string}>;
  /** Sends a mutation now, ahead of all others. */
  force<Variables, Data>(operation: Operation<Variables, Data>, variables: Variables, options?: Omit<SubmitOptions, "mode">): Promise<{
    key: string;
    state: string;
    response: {data: Data; errors?: any[]};
  }>;
  force<Data = any>(operation: string, variables?: Record<string, any>, options?: Omit<SubmitOptions, "mode">): Promise<{
    key: string;
    state: string;
    response: {data: Data; errors?: any[]};
  }>;
  /** Sends what waits, until one item has no answer (`error`). */
  send(): Promise<{sent: number; left: number; error?: LarderError}>;
  outbox(): OutboxItem[];
  /** Of each item that ended, once, in the order of submission; the latest 1,000. */
  outcomes(): Outcome[];
  forgetOutcomes(keys: string[]): Promise<void>;
  /** Of a parked item. */
  retry(key: string): Promise<void>;
  discard(key: string): Promise<void>;

  /** Calls back after changes; returns a function that ends it. */
  onChange(listener: () => void): () => void;
  /** Sends and syncs by itself from now on. Of several tabs one does so. */
  start(options?: {onError?: (error: unknown) => void}): void;
  stop(): void;
  close(): Promise<void>;
}

/** The batch update from one list to another. */
export function diff<Item>(before: Item[], after: Item[], id?: (item: Item) => string, same?: (left: Item, right: Item) => boolean): Diff;
/** The list that a batch update leads to. */
export function applyDiff<Item>(before: Item[], diff: Diff, entity: (id: string) => Item): Item[];

export const version: string;
