import {el} from "../core/dom.js";
import {bytes, counted, number} from "../core/format.js";
import {address, ask, get, segment, upload} from "../core/http.js";
import {
  button,
  confirmed,
  empty,
  field,
  head,
  listed,
  load,
  pages,
  run,
  since,
  table,
  tabs,
  toast,
  writeButton,
} from "../core/parts.js";
import {canWrite} from "../core/session.js";
import {keys} from "../files/keys.js";
import {pathOf, preview, save, share} from "../files/object.js";

export const title = "Files";

const pageSize = 100;

const linkOf = (bucket, prefix = "") => address(`#/files/${segment(bucket)}`, {prefix});

/** A form that uploads files below a prefix, one after the other. */
function uploads(bucket, prefix, signal, done) {
  if (!canWrite()) return null;
  const picked = el("input", {type: "file", multiple: true});
  const bar = el("progress", {max: 1, value: 0, "aria-label": "Upload"});
  const state = el("p", {class: "soft small", role: "status"});
  const progress = el("div", {class: "stack tight", hidden: true}, bar, state);
  const pressed = el("button", {type: "submit", class: "primary"}, "Upload");
  return el(
    "form",
    {
      class: "sheet stack",
      onsubmit: async (event) => {
        event.preventDefault();
        const files = [...picked.files];
        if (!files.length) {
          picked.focus();
          return;
        }
        pressed.disabled = true;
        progress.hidden = false;
        let count = 0;
        for (const file of files) {
          state.textContent = `${file.name} (${bytes(file.size)})`;
          bar.value = 0;
          try {
            await upload(
              pathOf(bucket, prefix + file.name),
              file,
              {"Content-Type": file.type || "application/octet-stream"},
              (part) => {
                bar.value = part;
              },
              signal,
            );
            count += 1;
          } catch (error) {
            if (signal.aborted) return;
            toast(`${file.name}: ${error.message}`, true);
          }
        }
        pressed.disabled = false;
        progress.hidden = true;
        event.target.reset();
        if (count) toast(`Uploaded: ${counted(count, "file")}.`);
        done();
      },
    },
    el("div", {class: "filters"}, field(`Upload to ${bucket}/${prefix}`, picked, null, "grow"), pressed),
    progress,
  );
}

function objects(bucket, prefix, signal, main) {
  const place = el("div", {class: "stack"});
  const parts = prefix.split("/").filter(Boolean);
  const again = () => listed(listing(), signal, place);
  main.append(
    el(
      "nav",
      {"aria-label": "Path"},
      el(
        "ol",
        {class: "crumbs small"},
        el("li", {}, el("a", {href: "#/files"}, "Files")),
        el("li", {}, parts.length ? el("a", {href: linkOf(bucket)}, bucket) : bucket),
        parts.map((part, index) =>
          el(
            "li",
            {},
            index === parts.length - 1
              ? part
              : el("a", {href: linkOf(bucket, `${parts.slice(0, index + 1).join("/")}/`)}, part),
          ),
        ),
      ),
    ),
    head(prefix ? `${bucket}/${prefix}` : bucket),
    uploads(bucket, prefix, signal, again),
    place,
  );
  const listing = () =>
    pages(
      async (after) => {
        const found = await get(
          address(`/v1/files/${segment(bucket)}`, {
            prefix,
            delimiter: "/",
            "max-keys": pageSize,
            "continuation-token": after,
          }),
          {signal},
        );
        return {
          items: [...found.CommonPrefixes.map((one) => ({folder: one.Prefix})), ...found.Contents],
          next: found.NextContinuationToken,
        };
      },
      (items) =>
        el(
          "div",
          {class: "sheet flush"},
          table(
            `Files of ${bucket}`,
            [
              {
                label: "Name",
                isHead: true,
                cell: (one) =>
                  one.folder
                    ? el("a", {href: linkOf(bucket, one.folder)}, one.folder.slice(prefix.length))
                    : el(
                        "button",
                        {type: "button", class: "plain", onclick: () => preview(bucket, one)},
                        one.Key.slice(prefix.length) || one.Key,
                      ),
              },
              {label: "Size", isNumber: true, cell: (one) => (one.folder ? "" : bytes(one.Size))},
              {label: "Changed", cell: (one) => (one.folder ? "" : since(one.LastModified))},
              {
                label: "",
                cell: (one) =>
                  one.folder
                    ? ""
                    : el(
                        "div",
                        {class: "row end"},
                        button("Download", (event) => run(event.target, () => save(bucket, one.Key)), "small"),
                        writeButton("Link", (event) => run(event.target, () => share(bucket, one.Key)), "small"),
                        writeButton(
                          "Delete",
                          async (event) => {
                            if (
                              !(await confirmed(
                                `Delete ${one.Key}?`,
                                "The file is removed at once and cannot be brought back.",
                                "Delete",
                              ))
                            )
                              return;
                            await run(event.target, async () => {
                              await ask("DELETE", pathOf(bucket, one.Key));
                              toast("Deleted.");
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
        ),
      el(
        "div",
        {class: "sheet"},
        empty(
          prefix ? "Nothing here" : "The bucket is empty",
          canWrite() ? "Upload files with the form above, or with any S3 client." : null,
        ),
      ),
      signal,
    );
  again();
}

function buckets(signal, again) {
  const place = el("div");
  const name = el("input", {
    type: "text",
    autocomplete: "off",
    minlength: 3,
    maxlength: 63,
    pattern: "[a-z0-9][a-z0-9.\\-]+[a-z0-9]",
    required: true,
  });
  const make = canWrite()
    ? el(
        "form",
        {
          class: "filters",
          onsubmit: (event) => {
            event.preventDefault();
            run(event.submitter, async () => {
              await ask("PUT", `/v1/files/${segment(name.value)}`);
              toast(`Bucket ${name.value} is made.`);
              again();
            });
          },
        },
        field("New bucket", name, "3 to 63 small letters, digits, - and ."),
        el("button", {type: "submit"}, "Make"),
      )
    : null;
  load(
    place,
    async () => {
      const {Buckets: items} = await get("/v1/files", {signal});
      return items.length
        ? el(
            "div",
            {class: "sheet flush"},
            table(
              "Buckets",
              [
                {label: "Bucket", isHead: true, cell: (one) => el("a", {href: linkOf(one.Name)}, one.Name)},
                {label: "Files", isNumber: true, cell: (one) => number(one.Objects)},
                {label: "Size", isNumber: true, cell: (one) => bytes(one.Bytes)},
                {label: "Made", cell: (one) => since(one.CreationDate)},
                {
                  label: "",
                  cell: (one) =>
                    one.Objects
                      ? ""
                      : el(
                          "div",
                          {class: "row end"},
                          writeButton(
                            "Delete",
                            async (event) => {
                              if (
                                !(await confirmed(
                                  `Delete the bucket ${one.Name}?`,
                                  "It is made again at the next start if the settings name it.",
                                  "Delete",
                                ))
                              )
                                return;
                              await run(event.target, async () => {
                                await ask("DELETE", `/v1/files/${segment(one.Name)}`);
                                toast("Deleted.");
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
        : el(
            "div",
            {class: "sheet"},
            empty("No buckets", "Name some in the settings (files.buckets), or make one here."),
          );
    },
    signal,
  );
  return [make, place];
}

export function show({main, parts, query, signal, again}) {
  if (parts[0] !== undefined) {
    objects(parts[0], query.get("prefix") ?? "", signal, main);
    return;
  }
  main.append(
    head("Files", "Buckets of this service; S3 clients reach them at /s3."),
    el(
      "div",
      {},
      tabs("Files", [
        ["Buckets", () => buckets(signal, again)],
        ["S3 access keys", () => keys(signal, again)],
      ]),
    ),
  );
}
