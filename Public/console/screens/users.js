import {el} from "../core/dom.js";
import {counted} from "../core/format.js";
import {address, ask, get, post, Problem, segment} from "../core/http.js";
import {confirmed, empty, field, head, load, pages, run, since, table, tag, toast, writeButton} from "../core/parts.js";

export const title = "Users";

export function show({main, query, signal, go, again}) {
  const email = el("input", {type: "search", autocomplete: "off", value: query.get("email") ?? ""});
  const place = el("div", {class: "stack"});
  const replace = writeButton("Replace signing keys", async () => {
    if (
      !(await confirmed(
        "Replace the keys that sign access tokens?",
        "All access tokens become invalid at once. Clients get new ones with their refresh tokens.",
        "Replace",
      ))
    )
      return;
    await run(replace, async () => {
      await post("/v1/admin/signing-keys/replace");
      toast("A new key signs access tokens.");
    });
  });
  main.append(
    head("Users", "Accounts that Larder keeps itself.", replace),
    el(
      "form",
      {
        class: "filters",
        onsubmit: (event) => {
          event.preventDefault();
          go(address("#/users", {email: email.value.trim()}));
        },
      },
      field("E-mail contains", email),
      el("button", {type: "submit"}, "Search"),
    ),
    place,
  );
  const end = (one) =>
    writeButton(
      "End sessions",
      async (event) => {
        if (
          !(await confirmed(
            `End the sessions of ${one.email}?`,
            "Every device of this user has to sign in again. Access tokens run out by themselves, after a quarter of an hour at most.",
            "End sessions",
          ))
        )
          return;
        await run(event.target, async () => {
          const {ended} = await post(`/v1/admin/users/${segment(one.id)}/sign-out`);
          toast(`Ended: ${counted(ended, "session")}.`);
          again();
        });
      },
      "small",
    );
  const disable = (one) =>
    writeButton(
      "Disable",
      async (event) => {
        const text =
          "All of its tokens and devices are refused from now on, and its streams end. Nothing is deleted: queued mutations wait until the account is enabled.";
        if (!(await confirmed(`Disable the account ${one.email}?`, text, "Disable"))) return;
        await run(event.target, async () => {
          await post(`/v1/admin/users/${segment(one.id)}/disable`);
          toast("Disabled.");
          again();
        });
      },
      "small",
    );
  const enable = (one) =>
    writeButton(
      "Enable",
      async (event) => {
        await run(event.target, async () => {
          await post(`/v1/admin/users/${segment(one.id)}/enable`);
          toast("Enabled.");
          again();
        });
      },
      "small",
    );
  const remove = (one) =>
    writeButton(
      "Delete",
      async (event) => {
        const text =
          "Its sessions end at once, and access tokens within a quarter of an hour. The devices of the user stay.";
        if (!(await confirmed(`Delete the account ${one.email}?`, text, "Delete"))) return;
        await run(event.target, async () => {
          await ask("DELETE", `/v1/admin/users/${segment(one.id)}`);
          toast("Deleted.");
          again();
        });
      },
      "small danger",
    );
  const list = pages(
    (after) => get(address("/v1/admin/users", {email: query.get("email"), after}), {signal}),
    (items) =>
      el(
        "div",
        {class: "sheet flush"},
        table(
          "Users",
          [
            {
              label: "E-mail",
              isHead: true,
              cell: (one) => [
                el("span", {class: "clip"}, one.email),
                one.disabled ? tag("disabled", "warn") : null,
                el("div", {class: "soft small"}, el("code", {}, one.id)),
              ],
            },
            {label: "Created", cell: (one) => since(one.createdAt)},
            {label: "Sessions", isNumber: true, cell: (one) => String(one.sessions)},
            {label: "Last used", cell: (one) => since(one.lastUsedAt)},
            {
              label: "",
              cell: (one) =>
                el(
                  "div",
                  {class: "row end"},
                  el(
                    "a",
                    {class: "button small", href: address("#/devices", {tab: "devices", user: one.id})},
                    "Devices",
                  ),
                  one.sessions ? end(one) : null,
                  one.disabled ? enable(one) : disable(one),
                  remove(one),
                ),
            },
          ],
          items,
        ),
      ),
    el(
      "div",
      {class: "sheet"},
      empty(
        query.get("email") ? "No user found" : "No users yet",
        query.get("email") ? "No account has this in its address." : "Accounts are made with POST /v1/auth/sign-up.",
      ),
    ),
    signal,
  );
  load(
    place,
    async () => {
      try {
        await list.start();
        return list.place;
      } catch (error) {
        if (error instanceof Problem && error.status === 404)
          return el("div", {class: "sheet"}, empty("No accounts here", error.message));
        throw error;
      }
    },
    signal,
  );
}
