/// Media types by file name extension.
enum ContentTypes {
  static func type(of path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return "application/octet-stream" }
    return byExtension[name[name.index(after: dot)...].lowercased()] ?? "application/octet-stream"
  }

  private static let byExtension = [
    "avif": "image/avif", "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8",
    "gif": "image/gif", "graphql": "application/graphql; charset=utf-8", "gz": "application/gzip",
    "html": "text/html; charset=utf-8", "ico": "image/x-icon", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "js": "text/javascript; charset=utf-8", "json": "application/json",
    "map": "application/json", "md": "text/markdown; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8", "mp4": "video/mp4", "otf": "font/otf",
    "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
    "ttf": "font/ttf", "txt": "text/plain; charset=utf-8", "wasm": "application/wasm",
    "webm": "video/webm", "webmanifest": "application/manifest+json", "webp": "image/webp",
    "woff": "font/woff", "woff2": "font/woff2", "xml": "application/xml", "zip": "application/zip",
  ]
}
