/**
 * The error of every failed call. Decide by `code`; show your own text.
 *
 * Codes of the library are listed with the classes below; every other code is that of a problem of Larder
 * (docs/problems.md).
 */
export class LarderError extends Error {
  /** Of the response, if there was one. @type {number | undefined} */
  status;
  /** @type {any} */
  problem;
  /** Seconds. @type {number | undefined} */
  retryAfter;

  /**
   * @param {string} code
   * @param {string} message
   * @param {{cause?: unknown, status?: number, problem?: object, retryAfter?: number}} [details]
   */
  constructor(code, message, {cause, ...details} = {}) {
    super(message, cause === undefined ? undefined : {cause});
    this.name = new.target.name;
    this.code = code;
    Object.assign(this, details);
  }
}

/** `offline`: no connection, no response, or one cut off. `unsent` is true if the request surely never left. */
export class OfflineError extends LarderError {
  /** Whether there was a response that is not Larder's: of a network that wants a sign-in, or of a proxy. */
  isForeign = false;

  constructor(message, cause, unsent = false) {
    super("offline", message, {cause});
    this.unsent = unsent;
  }
}

/** `unavailable`: 429, 502, 503 or 504; try again later. `problem.code` says why, `retryAfter` is in seconds. */
export class UnavailableError extends LarderError {}

/** A response that refuses the request; `code` is that of its `problem`. */
export class ProblemError extends LarderError {}

/** `signed_out`: no profile is active, or its user has to sign in again. */
export class SignedOutError extends LarderError {
  constructor(message = "No profile is active. Call register, signUp or signIn.") {
    super("signed_out", message);
  }
}

/** `storage_full`, `store_damaged` (no complete copy can be read), `store_in_use` or `store_closed`. */
export class StorageError extends LarderError {}

/** `unknown_key`, `invalid_filter`, `invalid_argument` or `unsupported`: a call that cannot be carried out. */
export class UsageError extends LarderError {}
