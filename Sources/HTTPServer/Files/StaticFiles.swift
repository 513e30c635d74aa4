import HTTPTypes
import HTTPWire
package import Transport

/// Server of the files below a folder, with validators, ranges and precompressed variants.
///
/// No path leads out of the folder: it is decoded once, and a segment that is empty, starts with a
/// dot, or contains a slash, backslash or NUL is not found; the file is then opened step by step, and
/// links are followed only below the folder (``OpenFile/init(_:below:)``). Files are opened off the loop.
package struct StaticFiles: Sendable {
  /// Limits on the ranges of one request.
  package struct RangeLimits: Sendable, Equatable {
    package var partsMax = ByteRangeSet.partsMax
    /// The limit on ranges that overlap, and on ranges out of order.
    package var disorderMax = ByteRangeSet.disorderMax

    package init() {}
  }

  /// The size up to which a text file is read whole and can be compressed.
  static let compressibleBytesMax = 1024 * 1024

  private let root: String
  private let cacheControl: String
  /// Fields added to every response, by name.
  private let pageFields: [(name: String, value: String)]
  /// Fields that take the place of those, by the name of a folder in the root.
  private let fieldsBelow: [String: [(name: String, value: String)]]
  private let ranges: RangeLimits
  private let pool: BlockingPool

  /// - Parameters:
  ///   - root: the folder, without a slash at its end.
  ///   - cacheControl: the `Cache-Control` of every file.
  ///   - pageFields: fields added to every response.
  ///   - fieldsBelow: fields of the responses below a folder in the root; they replace `pageFields` of the
  ///     same name.
  package init(
    root: String, pool: BlockingPool, cacheControl: String = "no-cache",
    ranges: RangeLimits = RangeLimits(), pageFields: [(name: String, value: String)] = [],
    fieldsBelow: [String: [(name: String, value: String)]] = [:]
  ) {
    self.pageFields = pageFields
    self.fieldsBelow = fieldsBelow
    self.root = root
    self.pool = pool
    self.cacheControl = cacheControl
    self.ranges = ranges
  }

  /// Responds with a file.
  ///
  /// - Parameter path: below the root, decoded, without a leading slash; empty, or with a trailing
  ///   slash, for a folder's `index.html`.
  package func respond(to request: ServerRequest, path: String) async -> ServerResponse {
    var response = await found(by: request, path: path)
    let folder = path.split(separator: "/", maxSplits: 1).first.map(String.init) ?? ""
    for field in pageFields + (fieldsBelow[folder] ?? []) {
      if let name = HTTPField.Name(field.name) { response.fields[name] = field.value }
    }
    return response
  }

  private func found(by request: ServerRequest, path: String) async -> ServerResponse {
    guard !Self.hasEncodedSlash(request.head.path), let names = Self.resolve(path) else {
      return notFound(request)
    }
    let root = root
    switch await pool.run({ FoundFile.find(names, below: root) }) {
    case .file(let file): return await response(to: request, file)
    case .folder: return redirectToFolder(request)
    case .nothing: return notFound(request)
    }
  }

  /// Returns the names of a path below the root; `nil` for an invalid path.
  static func resolve(_ path: String) -> [String]? {
    var segments = path.split(separator: "/", omittingEmptySubsequences: false)
    if segments.last == "" { segments[segments.count - 1] = "index.html" }
    for segment in segments {
      guard let first = segment.first, first != "." else { return nil }
      guard !segment.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\\") }) else {
        return nil
      }
    }
    return segments.map(String.init)
  }

  /// Returns whether a path has an encoded slash (RFC 3986 2.2): no file name contains one.
  static func hasEncodedSlash(_ path: ArraySlice<UInt8>) -> Bool {
    path.indices.dropLast(2).contains { index in
      path[index] == UInt8(ascii: "%") && path[index + 1] == UInt8(ascii: "2")
        && path[index + 2] | 0x20 == UInt8(ascii: "f")
    }
  }

  private func response(to request: ServerRequest, _ found: FoundFile.Variants) async
    -> ServerResponse
  {
    let chosen = Self.choose(found, for: request)
    var fields: HTTPFields = [
      .eTag: chosen.sentTag.text, .lastModified: chosen.modified.text,
      .cacheControl: cacheControl,
    ]
    if found.compressed != nil { fields[.vary] = "Accept-Encoding" }
    let isRead = request.method == .get || request.method == .head
    let judgement = request.preconditions.judge(
      isRead: isRead, tag: chosen.tag, modified: chosen.modified)
    switch judgement {
    case .notModified:
      return ServerResponse(
        status: .notModified, fields: fields, isCompressible: found.isCompressible)
    case .failed:
      return ServerResponse(status: .preconditionFailed, fields: [.cacheControl: "no-store"])
    case .proceed:
      break
    }
    fields[.contentType] = ContentTypes.type(of: found.name)
    fields[.acceptRanges] = "bytes"
    if chosen.isCompressed { fields[.contentEncoding] = "gzip" }
    let ranges = FileRangeResponse(
      content: .file(chosen.file), tag: chosen.sentTag, modified: chosen.modified, fields: fields,
      limits: self.ranges, pool: pool)
    if let ranged = ranges.respond(to: request) { return ranged }
    return await whole(request, chosen.file, fields, isCompressible: found.isCompressible)
  }

  /// Chooses the precompressed variant if the client accepts it. A range refers to the plain file,
  /// unless `If-Range` names the variant: a resumed download must not change its coding.
  private static func choose(
    _ found: FoundFile.Variants, for request: ServerRequest
  ) -> FileVariant {
    let plain = FileVariant(plain: found.plain)
    guard let compressed = found.compressed.map({ FileVariant(compressed: $0, of: found.plain) })
    else { return plain }
    if request.head["range"] != nil {
      let condition = request.head["if-range"].flatMap {
        RangeCondition($0.text, now: request.date)
      }
      guard case .tag(let tag) = condition, compressed.sentTag.stronglyMatches(tag) else {
        return plain
      }
      return compressed
    }
    guard let accepted = request.head.fields.joined("accept-encoding"),
      AcceptEncoding(accepted).preferred == .gzip
    else { return plain }
    return compressed
  }

  private func whole(
    _ request: ServerRequest, _ file: OpenFile, _ fields: HTTPFields, isCompressible: Bool
  ) async -> ServerResponse {
    guard isCompressible else {
      return ServerResponse(fields: fields, body: .file(file, 0..<file.byteCount))
    }
    guard let bytes = await pool.run({ try? file.read(file.byteCount, from: 0) }) else {
      return .problem(.unexpected, for: request)
    }
    return ServerResponse(fields: fields, body: .bytes(bytes), isCompressible: true)
  }

  /// Links in a folder's page are relative to the folder, so its path must end in a slash.
  private func redirectToFolder(_ request: ServerRequest) -> ServerResponse {
    ServerResponse(
      status: .permanentRedirect,
      fields: [.location: request.path + "/", .cacheControl: cacheControl])
  }

  private func notFound(_ request: ServerRequest) -> ServerResponse {
    .problem(.notFound, for: request)
  }
}
