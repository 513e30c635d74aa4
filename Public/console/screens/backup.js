import {el} from "../core/dom.js";
import {bytes} from "../core/format.js";
import {get, post} from "../core/http.js";
import {block, empty, field, head, load, run, since, table, tag, toast} from "../core/parts.js";
import {canWrite} from "../core/session.js";

export const title = "Backup";

export function show({main, signal}) {
  const place = el("div", {class: "stack"});
  const name = el("input", {type: "text", autocomplete: "off", placeholder: "before-the-upgrade"});
  const pressed = el("button", {type: "submit", class: "primary"}, "Back up now");
  const fill = () =>
    load(
      place,
      async () => {
        const {items} = await get("/v1/admin/backups", {signal});
        return items.length
          ? el(
              "div",
              {class: "sheet flush"},
              table(
                "Backups",
                [
                  {
                    label: "Backup",
                    isHead: true,
                    cell: (one) => [one.name, one.encrypted ? [" ", tag("encrypted", "good")] : null],
                  },
                  {label: "File", cell: (one) => el("code", {}, one.file)},
                  {label: "Size", isNumber: true, cell: (one) => bytes(one.bytes)},
                  {label: "Written", cell: (one) => since(one.writtenAt)},
                ],
                items,
              ),
            )
          : el(
              "div",
              {class: "sheet"},
              empty(
                "No backups in the data folder",
                "A backup is a copy of the database; keep the key and the files beside it.",
              ),
            );
      },
      signal,
      {isQuiet: true},
    );
  main.append(
    head(
      "Backup",
      "Copies of the database in the folder backups of the data folder. The key and the files are not in them.",
    ),
    canWrite()
      ? el(
          "form",
          {
            class: "filters",
            onsubmit: (event) => {
              event.preventDefault();
              run(pressed, async () => {
                const made = await post("/v1/admin/backup", name.value.trim() ? {name: name.value.trim()} : {}, {
                  timeout: 600000,
                });
                toast(`Written: ${made.file}`);
                name.value = "";
                fill();
              });
            },
          },
          field("Name", name, "Optional."),
          pressed,
        )
      : null,
    place,
    el(
      "section",
      {class: "sheet", "aria-label": "From a terminal"},
      block(
        "larder backup --to films-backup.sqlite\ncp data/larder.key films-backup.key",
        "From a terminal, the key too",
      ),
    ),
  );
  fill();
}
