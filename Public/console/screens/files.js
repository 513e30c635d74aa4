import { el, put } from "../core/dom.js";
import { bytes, counted, number } from "../core/format.js";
import { address, ask, get, post, Problem, problem, segment, send, upload } from "../core/http.js";
import { block, button, confirmed, dialog, empty, facts, field, head, load, pages, run, since, table, tabs, tag, toast, verbatim, writeButton } from "../core/parts.js";
import { canWrite } from "../core/session.js";

export const title = "Files";

const previewBytesMax = 8 * 1024 * 1024;
const previewCharactersMax = 20000;
const pageSize = 100;

const pathOf = (bucket, key) => `/v1/files/${segment(bucket)}/${key.split("/").map(segment).join("/")}`;
const linkOf = (bucket, prefix = "") => address(`#/files/${segment(bucket)}`, { prefix });

async function content(bucket, key, signal, headers = {}) {
  const response = await send("GET", pathOf(bucket, key), { signal, headers, timeout: 0 });
  if (!response.ok) throw await problem(response);
  return response;
}

async function save(bucket, key) {
  const blob = await (await content(bucket, key)).blob();
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: key.split("/").at(-1) || "file" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

/// Shows an image or the beginning of a text; of anything else its type alone.
async function preview(bucket, object) {
  const place = el("div", { class: "preview stack" });
  const stop = new AbortController();
  let url;
  load(place, async () => {
    if (object.Size > previewBytesMax) return empty("Too large to show here", `It has ${bytes(object.Size)}.`);
    const response = await content(bucket, object.Key, stop.signal);
    const type = response.headers.get("Content-Type") ?? "";
    const about = facts([["Type", type], ["Size", `${bytes(object.Size)} (${number(object.Size)})`], ["Changed", since(object.LastModified)], ["ETag", el("code", {}, object.ETag)]]);
    const blob = await response.blob();
    if (/^image\//.test(type)) {
      url = URL.createObjectURL(blob);
      return [about, el("img", { src: url, alt: `Preview of ${object.Key}` })];
    }
    if (/^text\/|json|xml|javascript|yaml/.test(type) || blob.size < 65536 && !/[\0-\x08]/.test(await blob.slice(0, 4096).text())) {
      const text = await blob.slice(0, 4 * previewCharactersMax).text();
      return [about, verbatim(text.length > previewCharactersMax ? `${text.slice(0, previewCharactersMax)}\n…` : text, "Content")];
    }
    return [about, el("p", { class: "soft" }, "This type has no preview.")];
  }, stop.signal);
  await dialog(object.Key, (close) => [place, el("div", { class: "row end" }, button("Download", (event) => run(event.target, () => save(bucket, object.Key))), button("Close", () => close()))], "wide");
  stop.abort();
  if (url) URL.revokeObjectURL(url);
}

async function share(bucket, key) {
  const { url, expiresAt } = await post(`${pathOf(bucket, key)}/presign`, { method: "GET", expiresIn: 900 });
  await dialog("A link for 15 minutes", (close) => [el("p", {}, "Everyone who has it can read the file until it expires", expiresAt ? ` (${new Date(expiresAt).toLocaleTimeString()})` : "", "."), block(new URL(url, location.href).href, "Link"), el("div", { class: "row end" }, button("Close", () => close()))]);
}

/// A form that uploads files below a prefix, one after the other.
function uploads(bucket, prefix, signal, done) {
  if (!canWrite()) return null;
  const picked = el("input", { type: "file", multiple: true });
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Upload" });
  const state = el("p", { class: "soft small", role: "status" });
  const progress = el("div", { class: "stack tight", hidden: true }, bar, state);
  const pressed = el("button", { type: "submit", class: "primary" }, "Upload");
  return el("form", { class: "sheet stack", onsubmit: async (event) => {
    event.preventDefault();
    const files = [...picked.files];
    if (!files.length) { picked.focus(); return; }
    pressed.disabled = true;
    progress.hidden = false;
    let count = 0;
    for (const file of files) {
      state.textContent = `${file.name} (${bytes(file.size)})`;
      bar.value = 0;
      try {
        await upload(pathOf(bucket, prefix + file.name), file, { "Content-Type": file.type || "application/octet-stream" }, (part) => { bar.value = part; }, signal);
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
  } }, el("div", { class: "filters" }, field(`Upload to ${bucket}/${prefix}`, picked, null, "grow"), pressed), progress);
}

function objects(bucket, prefix, signal, main) {
  const place = el("div", { class: "stack" });
  const parts = prefix.split("/").filter(Boolean);
  const again = () => load(place, async () => { const list = listing(); await list.start(); return list.place; }, signal);
  main.append(el("nav", { "aria-label": "Path" }, el("ol", { class: "crumbs small" }, el("li", {}, el("a", { href: "#/files" }, "Files")),
    el("li", {}, parts.length ? el("a", { href: linkOf(bucket) }, bucket) : bucket),
    parts.map((part, index) => el("li", {}, index === parts.length - 1 ? part : el("a", { href: linkOf(bucket, `${parts.slice(0, index + 1).join("/")}/`) }, part))))),
  head(prefix ? `${bucket}/${prefix}` : bucket), uploads(bucket, prefix, signal, again), place);
  const listing = () => pages(async (after) => {
    const found = await get(address(`/v1/files/${segment(bucket)}`, { prefix, delimiter: "/", "max-keys": pageSize, "continuation-token": after }), { signal });
    return { items: [...found.CommonPrefixes.map((one) => ({ folder: one.Prefix })), ...found.Contents], next: found.NextContinuationToken };
  }, (items) => el("div", { class: "sheet flush" }, table(`Files of ${bucket}`, [
    { label: "Name", isHead: true, cell: (one) => one.folder ? el("a", { href: linkOf(bucket, one.folder) }, one.folder.slice(prefix.length)) : el("button", { type: "button", class: "plain", onclick: () => preview(bucket, one) }, one.Key.slice(prefix.length) || one.Key) },
    { label: "Size", isNumber: true, cell: (one) => one.folder ? "" : bytes(one.Size) },
    { label: "Changed", cell: (one) => one.folder ? "" : since(one.LastModified) },
    { label: "", cell: (one) => one.folder ? "" : el("div", { class: "row end" }, button("Download", (event) => run(event.target, () => save(bucket, one.Key)), "small"),
      writeButton("Link", (event) => run(event.target, () => share(bucket, one.Key)), "small"),
      writeButton("Delete", async (event) => {
        if (!await confirmed(`Delete ${one.Key}?`, "The file is removed at once and cannot be brought back.", "Delete")) return;
        await run(event.target, async () => { await ask("DELETE", pathOf(bucket, one.Key)); toast("Deleted."); again(); });
      }, "small danger")) },
  ], items)), el("div", { class: "sheet" }, empty(prefix ? "Nothing here" : "The bucket is empty", canWrite() ? "Upload files with the form above, or with any S3 client." : null)), signal);
  again();
}

function buckets(signal, again) {
  const place = el("div");
  const name = el("input", { type: "text", autocomplete: "off", minlength: 3, maxlength: 63, pattern: "[a-z0-9][a-z0-9.\\-]+[a-z0-9]", required: true });
  const make = canWrite() ? el("form", { class: "filters", onsubmit: (event) => {
    event.preventDefault();
    run(event.submitter, async () => { await ask("PUT", `/v1/files/${segment(name.value)}`); toast(`Bucket ${name.value} is made.`); again(); });
  } }, field("New bucket", name, "3 to 63 small letters, digits, - and ."), el("button", { type: "submit" }, "Make")) : null;
  load(place, async () => {
    const { Buckets: items } = await get("/v1/files", { signal });
    return items.length ? el("div", { class: "sheet flush" }, table("Buckets", [
      { label: "Bucket", isHead: true, cell: (one) => el("a", { href: linkOf(one.Name) }, one.Name) },
      { label: "Files", isNumber: true, cell: (one) => number(one.Objects) }, { label: "Size", isNumber: true, cell: (one) => bytes(one.Bytes) },
      { label: "Made", cell: (one) => since(one.CreationDate) },
      { label: "", cell: (one) => one.Objects ? "" : el("div", { class: "row end" }, writeButton("Delete", async (event) => {
        if (!await confirmed(`Delete the bucket ${one.Name}?`, "It is made again at the next start if the settings name it.", "Delete")) return;
        await run(event.target, async () => { await ask("DELETE", `/v1/files/${segment(one.Name)}`); toast("Deleted."); again(); });
      }, "small danger")) },
    ], items)) : el("div", { class: "sheet" }, empty("No buckets", "Name some in the settings (files.buckets), or make one here."));
  }, signal);
  return [make, place];
}

function keys(signal, again) {
  const place = el("div");
  const issue = writeButton("Issue a key", async () => {
    const user = el("input", { type: "text", autocomplete: "off" }), named = el("input", { type: "text", autocomplete: "off" }), reads = el("input", { type: "checkbox" });
    const made = await dialog("Issue an S3 access key", (close) => el("form", { class: "stack", onsubmit: (event) => {
      event.preventDefault();
      const list = named.value.split(",").map((one) => one.trim()).filter(Boolean);
      run(event.submitter, async () => close(await post("/v1/admin/s3/keys", { ...user.value.trim() ? { userId: user.value.trim() } : {}, ...list.length ? { buckets: list } : {}, ...reads.checked ? { readOnly: true } : {} })));
    } }, field("User id", user, "Without one the key is the operator's."), field("Buckets", named, "With commas between; without any, all."),
    el("label", { class: "inline" }, reads, el("span", {}, "Only reads")), el("div", { class: "row end" }, button("Cancel", () => close()), el("button", { type: "submit", class: "primary" }, "Issue"))));
    if (!made) return;
    await dialog("The new key", (close) => [el("p", {}, "The secret is shown only now."), block(Object.entries(made).map(([member, value]) => `${member}: ${value}`).join("\n"), "Access key"), el("div", { class: "row end" }, button("Close", () => close()))]);
    again();
  });
  load(place, async () => {
    const { keys: items } = await get("/v1/admin/s3/keys", { signal });
    return items.length ? el("div", { class: "sheet flush" }, table("S3 access keys", [
      { label: "Key", isHead: true, cell: (one) => el("code", {}, one.accessKeyId) }, { label: "User", cell: (one) => one.userId ?? "the operator" },
      { label: "Buckets", cell: (one) => one.buckets?.join(", ") || "all" }, { label: "Access", cell: (one) => one.revokedAt ? tag("revoked", "bad") : one.readOnly ? "reads" : "reads and writes" },
      { label: "", cell: (one) => one.revokedAt ? "" : el("div", { class: "row end" }, writeButton("Revoke", async (event) => {
        if (!await confirmed("Revoke this key?", "Requests that are signed with it are refused at once.", "Revoke")) return;
        await run(event.target, async () => { await ask("DELETE", `/v1/admin/s3/keys/${segment(one.accessKeyId)}`); toast("Revoked."); again(); });
      }, "small danger")) },
    ], items)) : el("div", { class: "sheet" }, empty("No access keys", "With one, S3 clients reach the same files at /s3."));
  }, signal);
  return [issue ? el("div", { class: "row" }, issue) : null, place];
}

export function show({ main, parts, query, signal, again }) {
  if (parts[0] !== undefined) { objects(parts[0], query.get("prefix") ?? "", signal, main); return; }
  main.append(head("Files", "Buckets of this service; S3 clients reach them at /s3."), el("div", {}, tabs("Files", [["Buckets", () => buckets(signal, again)], ["S3 access keys", () => keys(signal, again)]])));
}
