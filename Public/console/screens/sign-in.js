import {el, put} from "../core/dom.js";
import {session, signIn} from "../core/session.js";
import {Problem} from "../core/http.js";

export const title = "Sign in";

export function show({main, again}) {
  const hasEnded = sessionStorage.getItem("ended");
  sessionStorage.removeItem("ended");
  if (session.isOff) {
    main.append(
      el(
        "div",
        {class: "sign-in sheet stack"},
        el("h1", {tabindex: -1}, "The console is off"),
        el(
          "p",
          {},
          "This service has no admin token, so no operator can sign in. Set one of 32 characters or more and start it again:",
        ),
        el("pre", {}, "LARDER_ADMIN_TOKEN=$(openssl rand -hex 24) larder serve"),
        el("p", {}, "or, in larder.yaml, ", el("code", {}, "admin: {token: …}"), "."),
        el("p", {}, el("a", {href: "#/docs"}, "API reference")),
      ),
    );
    return;
  }
  const password = el("input", {
    type: "password",
    name: "password",
    id: "password",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
    "aria-describedby": "sign-in-fault",
  });
  const fault = el("p", {id: "sign-in-fault", class: "bad", role: "alert"});
  const send = el("button", {type: "submit", class: "primary"}, "Sign in");
  async function submit(event) {
    event.preventDefault();
    send.disabled = true;
    put(fault);
    password.removeAttribute("aria-invalid");
    try {
      await signIn(password.value);
      form.reset();
      await again();
    } catch (error) {
      const text =
        error instanceof Problem && error.code === "invalid_credentials"
          ? "This is neither the admin token nor a viewer's."
          : error.message;
      put(fault, text);
      password.setAttribute("aria-invalid", "true");
      password.select();
    } finally {
      send.disabled = false;
    }
  }
  const form = el(
    "form",
    {class: "stack", onsubmit: submit},
    // Password managers store a password with a name.
    el(
      "label",
      {},
      el("span", {}, "Service"),
      el("input", {type: "text", name: "username", autocomplete: "username", value: location.host, readonly: true}),
    ),
    el("label", {}, el("span", {}, "Admin or viewer token"), password),
    fault,
    send,
  );
  main.append(
    el(
      "div",
      {class: "sign-in sheet stack"},
      el("h1", {tabindex: -1}, "Sign in"),
      hasEnded ? el("p", {class: "warn", role: "status"}, "Your session has ended.") : null,
      form,
      el(
        "p",
        {class: "soft small"},
        "The token of the settings (",
        el("code", {}, "admin.token"),
        ") becomes a session cookie that scripts cannot read. A session without requests ends after half an hour.",
      ),
      el(
        "p",
        {class: "small"},
        el("a", {href: "#/docs"}, "API reference"),
        " · ",
        el("a", {href: "/openapi.json"}, "openapi.json"),
      ),
    ),
  );
  password.focus();
}
