import {el, put} from "../core/dom.js";
import {counted} from "../core/format.js";
import {address, ask, get, segment} from "../core/http.js";
import {indented, parsed} from "../core/json.js";
import {
  button,
  dialog,
  empty,
  facts,
  failure,
  field,
  head,
  listed,
  load,
  pages,
  since,
  table,
  tag,
  toast,
  verbatim,
  writeButton,
} from "../core/parts.js";

export const title = "Push";

const kinds = {queued: "", sent: "good", invalid: "warn", failed: "bad"};
const shownUsersMax = 200;

const counts = (one) =>
  Object.entries(one.counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([state, count]) => [tag(`${count} ${state}`, kinds[state] ?? ""), " "]);

async function details(one, signal) {
  const place = el("div");
  load(
    place,
    async () => {
      const found = await get(`/v1/push/notifications/${segment(one.id)}`, {signal});
      const users = Object.entries(found.states ?? {});
      return el(
        "div",
        {class: "stack"},
        facts([
          ["Id", el("code", {}, found.id)],
          ["Chat", found.chatId],
          ["From", found.origin],
          ["Heading", found.heading],
          ["Text", found.text],
          ["Made", since(found.createdAt)],
          ["Settled", found.settledAt ? since(found.settledAt) : "not yet"],
          ["Reasons", found.reasons?.length ? el("span", {class: "bad"}, found.reasons.join("; ")) : null],
        ]),
        found.data ? verbatim(indented(JSON.stringify(found.data)), "Data") : null,
        table(
          "States",
          [
            {label: "User", isHead: true, cell: ([user]) => el("code", {}, user)},
            {label: "State", cell: ([, state]) => tag(state, kinds[state] ?? "")},
          ],
          users.slice(0, shownUsersMax),
        ),
        users.length > shownUsersMax
          ? el("p", {class: "soft small"}, counted(users.length - shownUsersMax, "more user"))
          : null,
      );
    },
    signal,
  );
  await dialog(
    "Notification",
    (close) => [
      place,
      el(
        "div",
        {class: "row end"},
        button("Close", () => close()),
      ),
    ],
    "wide",
  );
}

async function compose() {
  const key = crypto.randomUUID?.() ?? `console-${Date.now()}-${Math.random()}`;
  const users = el("textarea", {rows: 2, required: true}),
    chat = el("input", {type: "text", maxlength: 255, required: true, value: "console"});
  const heading = el("input", {type: "text", maxlength: 255}),
    text = el("textarea", {rows: 3, maxlength: 2000, required: true}),
    data = el("textarea", {rows: 2, spellcheck: "false", placeholder: '{"screen": "inbox"}'});
  return dialog("Send a notification", (close) => {
    const fault = el("div", {role: "alert"});
    return el(
      "form",
      {
        class: "stack",
        onsubmit: async (event) => {
          event.preventDefault();
          const pressed = event.submitter;
          const value = data.value.trim() ? parsed(data.value) : undefined;
          if (data.value.trim() && (typeof value !== "object" || value === null)) {
            put(fault, el("p", {class: "bad"}, "Data must be a JSON object."));
            return;
          }
          pressed.disabled = true;
          try {
            const body = {
              chatId: chat.value.trim(),
              userIds: users.value.split(/[\s,]+/).filter(Boolean),
              text: text.value,
              ...(heading.value ? {heading: heading.value} : {}),
              ...(value ? {data: value} : {}),
            };
            await ask("POST", "/v1/push/notifications", {json: body, headers: {"Idempotency-Key": key}});
            close(true);
            toast("The notification is queued.");
          } catch (error) {
            put(fault, failure(error));
            pressed.disabled = false;
          }
        },
      },
      field("User ids", users, "With commas or spaces between."),
      field("Chat id", chat),
      field("Heading", heading),
      field("Text", text),
      field("Data", data, "Optional: JSON for the app."),
      fault,
      el(
        "div",
        {class: "row end"},
        button("Cancel", () => close(false)),
        el("button", {type: "submit", class: "primary"}, "Send"),
      ),
    );
  });
}

export function show({main, signal, again}) {
  const place = el("div", {class: "stack"});
  main.append(
    head(
      "Push",
      "The outbox, newest first.",
      writeButton(
        "Send a notification",
        async () => {
          if (await compose()) again();
        },
        "primary",
      ),
    ),
    place,
  );
  const list = pages(
    (after) => get(address("/v1/admin/push/notifications", {after, limit: 50}), {signal}),
    (items) =>
      el(
        "div",
        {class: "sheet flush"},
        table(
          "Notifications",
          [
            {
              label: "Text",
              isHead: true,
              kind: "wide",
              cell: (one) =>
                el(
                  "button",
                  {type: "button", class: "plain", onclick: () => details(one, signal)},
                  el("span", {class: "clip"}, one.heading ? `${one.heading}: ${one.text}` : one.text),
                ),
            },
            {label: "States", cell: counts},
            {label: "From", cell: (one) => one.origin},
            {label: "Chat", cell: (one) => el("span", {class: "clip"}, one.chatId ?? "")},
            {label: "Made", cell: (one) => since(one.createdAt)},
          ],
          items,
        ),
      ),
    el(
      "div",
      {class: "sheet"},
      empty("The outbox is empty", "Notifications that users, rules or you send show here, whatever the sender."),
    ),
    signal,
  );
  listed(list, signal, place);
}
