// The operator's session: a cookie that scripts cannot read, and the CSRF token that requests carry.

import {ask, get, Problem, setCSRF} from "./http.js";

const path = "/v1/admin/session";

/** Who is signed in: `role` is "admin", "viewer", or null. */
export const session = {role: null, expiresAt: null, isOff: false};

export const canWrite = () => session.role === "admin";

function begin(found) {
  session.role = found.role;
  session.expiresAt = found.expiresAt;
  setCSRF(found.csrfToken ?? null);
}

function end() {
  session.role = null;
  setCSRF(null);
}

/** Asks whether the browser has a session. Throws only if the service does not respond. */
export async function resume() {
  try {
    begin(await get(path));
  } catch (error) {
    if (!(error instanceof Problem) || error.isOffline) throw error;
    session.isOff = error.status === 404;
    end();
  }
  return session.role !== null;
}

export async function signIn(token) {
  begin(await ask("POST", path, {json: {token}}));
}

export async function signOut() {
  try {
    await ask("DELETE", path);
  } finally {
    end();
  }
}

export const forget = end;
