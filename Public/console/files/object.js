// One object: its content, a preview, and a link for others.

import {el} from "../core/dom.js";
import {bytes, number} from "../core/format.js";
import {post, problem, segment, send} from "../core/http.js";
import {block, button, dialog, empty, facts, load, run, since, verbatim} from "../core/parts.js";

const previewBytesMax = 8 * 1024 * 1024;
const previewCharactersMax = 20000;

/** The path of an object; slashes in its key are not encoded. */
export const pathOf = (bucket, key) => `/v1/files/${segment(bucket)}/${key.split("/").map(segment).join("/")}`;

async function content(bucket, key, signal, headers = {}) {
  const response = await send("GET", pathOf(bucket, key), {signal, headers, timeout: 0});
  if (!response.ok) throw await problem(response);
  return response;
}

/** Downloads an object: a link to it would be the request of an anonymous caller. */
export async function save(bucket, key) {
  const blob = await (await content(bucket, key)).blob();
  const url = URL.createObjectURL(blob);
  const link = el("a", {href: url, download: key.split("/").at(-1) || "file"});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

/** Shows an image or the beginning of a text; of anything else its type alone. */
export async function preview(bucket, object) {
  const place = el("div", {class: "preview stack"});
  const stop = new AbortController();
  let url;
  load(
    place,
    async () => {
      if (object.Size > previewBytesMax) return empty("Too large to show here", `It has ${bytes(object.Size)}.`);
      const response = await content(bucket, object.Key, stop.signal);
      const type = response.headers.get("Content-Type") ?? "";
      const about = facts([
        ["Type", type],
        ["Size", `${bytes(object.Size)} (${number(object.Size)})`],
        ["Changed", since(object.LastModified)],
        ["ETag", el("code", {}, object.ETag)],
      ]);
      const blob = await response.blob();
      if (/^image\//.test(type)) {
        url = URL.createObjectURL(blob);
        return [about, el("img", {src: url, alt: `Preview of ${object.Key}`})];
      }
      if (
        /^text\/|json|xml|javascript|yaml/.test(type) ||
        (blob.size < 65536 && !/[\0-\x08]/.test(await blob.slice(0, 4096).text()))
      ) {
        const text = await blob.slice(0, 4 * previewCharactersMax).text();
        return [
          about,
          verbatim(text.length > previewCharactersMax ? `${text.slice(0, previewCharactersMax)}\n…` : text, "Content"),
        ];
      }
      return [about, el("p", {class: "soft"}, "This type has no preview.")];
    },
    stop.signal,
  );
  await dialog(
    object.Key,
    (close) => [
      place,
      el(
        "div",
        {class: "row end"},
        button("Download", (event) => run(event.target, () => save(bucket, object.Key))),
        button("Close", () => close()),
      ),
    ],
    "wide",
  );
  stop.abort();
  if (url) URL.revokeObjectURL(url);
}

/** Makes a link that works without credentials. */
export async function share(bucket, key) {
  const {url, expiresAt} = await post(`${pathOf(bucket, key)}/presign`, {method: "GET", expiresIn: 900});
  await dialog("A link for 15 minutes", (close) => [
    el(
      "p",
      {},
      "Everyone who has it can read the file until it expires",
      expiresAt ? ` (${new Date(expiresAt).toLocaleTimeString()})` : "",
      ".",
    ),
    block(new URL(url, location.href).href, "Link"),
    el(
      "div",
      {class: "row end"},
      button("Close", () => close()),
    ),
  ]);
}
