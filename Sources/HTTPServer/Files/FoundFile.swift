import HTTPWire
import Transport

/// The result of looking up a path below a folder.
enum FoundFile: Sendable {
  /// A file and its variants.
  struct Variants: Sendable {
    /// The file's name, without folders.
    let name: String
    let plain: OpenFile
    /// `x.gz` next to `x`, unless it is older and so a variant of an earlier version.
    let compressed: OpenFile?

    /// Whether the server should compress it.
    var isCompressible: Bool {
      compressed == nil && plain.byteCount <= StaticFiles.compressibleBytesMax
        && CompressibleTypes.contains(ContentTypes.type(of: name))
    }
  }

  case file(Variants)
  case folder
  case nothing

  /// Opens the file at a path. Blocks.
  static func find(_ names: [String], below folder: String) -> FoundFile {
    guard let name = names.last else { return .nothing }
    do throws(SystemError) {
      let plain = try OpenFile(names, below: folder)
      let compressed = try? OpenFile(names.dropLast() + ["\(name).gz"], below: folder)
      let isFresh = compressed.map { $0.modifiedSeconds >= plain.modifiedSeconds } ?? false
      return .file(
        Variants(name: name, plain: plain, compressed: isFresh ? compressed : nil))
    } catch {
      return error.isFolder ? .folder : .nothing
    }
  }
}

extension SystemError {
  /// EISDIR.
  fileprivate var isFolder: Bool { code == 21 }
}

/// One representation of a file: plain or precompressed.
struct FileVariant {
  let file: OpenFile
  /// The tag for evaluating conditions: without the suffix of a coding, as in requests.
  let tag: EntityTag
  /// The tag in the response. Strong: a rewritten file has another time or inode.
  let sentTag: EntityTag
  let modified: HTTPDate
  let isCompressed: Bool

  init(plain file: OpenFile) {
    self.file = file
    tag = EntityTag(Self.opaque(file))
    sentTag = tag
    modified = HTTPDate(secondsSince1970: file.modifiedSeconds)
    isCompressed = false
  }

  /// The tag covers both files: each can be rewritten without the other.
  init(compressed file: OpenFile, of plain: OpenFile) {
    self.file = file
    tag = EntityTag("\(Self.opaque(plain)).\(Self.opaque(file))")
    sentTag = tag.coded(.gzip)
    modified = HTTPDate(secondsSince1970: plain.modifiedSeconds)
    isCompressed = true
  }

  private static func opaque(_ file: OpenFile) -> String {
    let parts = [
      UInt64(bitPattern: file.modifiedSeconds), UInt64(bitPattern: file.modifiedNanoseconds),
      UInt64(file.byteCount), file.inode,
    ]
    return parts.map { String($0, radix: 36) }.joined(separator: ".")
  }
}

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
