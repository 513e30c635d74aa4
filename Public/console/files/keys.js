// S3 access keys: issued, listed and revoked.

import {el} from "../core/dom.js";
import {ask, get, post, segment} from "../core/http.js";
import {
  block,
  button,
  confirmed,
  dialog,
  empty,
  field,
  load,
  run,
  table,
  tag,
  toast,
  writeButton,
} from "../core/parts.js";

export function keys(signal, again) {
  const place = el("div");
  const issue = writeButton("Issue a key", async () => {
    const user = el("input", {type: "text", autocomplete: "off"}),
      named = el("input", {type: "text", autocomplete: "off"}),
      reads = el("input", {type: "checkbox"});
    const made = await dialog("Issue an S3 access key", (close) =>
      el(
        "form",
        {
          class: "stack",
          onsubmit: (event) => {
            event.preventDefault();
            const list = named.value
              .split(",")
              .map((one) => one.trim())
              .filter(Boolean);
            run(event.submitter, async () =>
              close(
                await post("/v1/admin/s3/keys", {
                  ...(user.value.trim() ? {userId: user.value.trim()} : {}),
                  ...(list.length ? {buckets: list} : {}),
                  ...(reads.checked ? {readOnly: true} : {}),
                }),
              ),
            );
          },
        },
        field("User id", user, "Without one the key is the operator's."),
        field("Buckets", named, "With commas between; without any, all."),
        el("label", {class: "inline"}, reads, el("span", {}, "Only reads")),
        el(
          "div",
          {class: "row end"},
          button("Cancel", () => close()),
          el("button", {type: "submit", class: "primary"}, "Issue"),
        ),
      ),
    );
    if (!made) return;
    await dialog("The new key", (close) => [
      el("p", {}, "The secret is shown only now."),
      block(
        Object.entries(made)
          .map(([member, value]) => `${member}: ${value}`)
          .join("\n"),
        "Access key",
      ),
      el(
        "div",
        {class: "row end"},
        button("Close", () => close()),
      ),
    ]);
    again();
  });
  load(
    place,
    async () => {
      const {keys: items} = await get("/v1/admin/s3/keys", {signal});
      return items.length
        ? el(
            "div",
            {class: "sheet flush"},
            table(
              "S3 access keys",
              [
                {label: "Key", isHead: true, cell: (one) => el("code", {}, one.accessKeyId)},
                {label: "User", cell: (one) => one.userId ?? "the operator"},
                {label: "Buckets", cell: (one) => one.buckets?.join(", ") || "all"},
                {
                  label: "Access",
                  cell: (one) => (one.revokedAt ? tag("revoked", "bad") : one.readOnly ? "reads" : "reads and writes"),
                },
                {
                  label: "",
                  cell: (one) =>
                    one.revokedAt
                      ? ""
                      : el(
                          "div",
                          {class: "row end"},
                          writeButton(
                            "Revoke",
                            async (event) => {
                              if (
                                !(await confirmed(
                                  "Revoke this key?",
                                  "Requests that are signed with it are refused at once.",
                                  "Revoke",
                                ))
                              )
                                return;
                              await run(event.target, async () => {
                                await ask("DELETE", `/v1/admin/s3/keys/${segment(one.accessKeyId)}`);
                                toast("Revoked.");
                                again();
                              });
                            },
                            "small danger",
                          ),
                        ),
                },
              ],
              items,
            ),
          )
        : el("div", {class: "sheet"}, empty("No access keys", "With one, S3 clients reach the same files at /s3."));
    },
    signal,
  );
  return [issue ? el("div", {class: "row"}, issue) : null, place];
}
