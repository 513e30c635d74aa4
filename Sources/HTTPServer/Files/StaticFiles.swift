import HTTPTypes
import HTTPWire
package import Transport

/// Serves the files below a folder, with validators and single ranges.
///
/// No path leads out of the folder: it is decoded once, and a segment that is empty, starts with a
/// dot, or has a slash, backslash or NUL in it names nothing. Files are opened off the loop.
package struct StaticFiles: Sendable {
  /// Bytes up to which a text file is read whole and may be compressed.
  private static let compressibleBytesMax = 1024 * 1024

  private let root: String
  private let cacheControl: String
  private let pool: BlockingPool
  private let problemRenderer: any ProblemRenderer

  /// - Parameters:
  ///   - root: the folder, without a slash at its end.
  ///   - cacheControl: what clients are told about keeping copies.
  package init(
    root: String, pool: BlockingPool, cacheControl: String = "no-cache",
    problemRenderer: any ProblemRenderer = PlainProblemRenderer()
  ) {
    self.root = root
    self.pool = pool
    self.cacheControl = cacheControl
    self.problemRenderer = problemRenderer
  }

  /// Answers with a file.
  ///
  /// - Parameter path: below the root, decoded, without a slash at its start; empty, or with a
  ///   slash at its end, for a folder's `index.html`.
  package func respond(to request: ServerRequest, path: String) async -> ServerResponse {
    guard let relative = Self.resolve(path) else { return notFound(request) }
    let full = root + "/" + relative
    let opened = await pool.run { Opened(path: full) }
    switch opened {
    case .file(let file): return await answer(request, file, named: relative)
    case .folder: return redirectToFolder(request)
    case .nothing: return notFound(request)
    }
  }

  private enum Opened: Sendable {
    case file(OpenFile)
    case folder
    case nothing

    init(path: String) {
      do throws(SystemError) {
        self = .file(try OpenFile(path: path))
      } catch {
        self = error.isFolder ? .folder : .nothing
      }
    }
  }

  /// The path below the root; `nil` for one that names nothing.
  static func resolve(_ path: String) -> String? {
    var segments = path.split(separator: "/", omittingEmptySubsequences: false)
    if segments.last == "" { segments[segments.count - 1] = "index.html" }
    for segment in segments {
      guard let first = segment.first, first != "." else { return nil }
      guard !segment.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\\") }) else {
        return nil
      }
    }
    return segments.joined(separator: "/")
  }

  private func answer(
    _ request: ServerRequest, _ file: OpenFile, named name: String
  ) async -> ServerResponse {
    let tag = Self.tag(of: file)
    let modified = HTTPDate(secondsSince1970: file.modifiedSeconds)
    let fields: HTTPFields = [
      .eTag: tag.text, .lastModified: modified.text, .cacheControl: cacheControl,
      .contentType: ContentTypes.type(of: name), .acceptRanges: "bytes",
    ]
    let isRead = request.method == .get || request.method == .head
    switch request.preconditions.judge(isRead: isRead, tag: tag, modified: modified) {
    case .notModified:
      return ServerResponse(
        status: .notModified,
        fields: [.eTag: tag.text, .cacheControl: cacheControl, .lastModified: modified.text],
        isCompressible: isCompressible(file, name))
    case .failed:
      return ServerResponse(status: .preconditionFailed, fields: [.cacheControl: "no-store"])
    case .proceed:
      break
    }
    if let ranged = range(request, file, tag, modified, fields) { return ranged }
    return await whole(request, file, fields, isCompressible: isCompressible(file, name))
  }

  private func whole(
    _ request: ServerRequest, _ file: OpenFile, _ fields: HTTPFields, isCompressible: Bool
  ) async -> ServerResponse {
    guard isCompressible else {
      return ServerResponse(fields: fields, body: .file(file, 0..<file.byteCount))
    }
    guard let bytes = await pool.run({ try? file.read(file.byteCount, from: 0) }) else {
      return .problem(.unexpected, requestID: request.id, renderer: problemRenderer)
    }
    return ServerResponse(fields: fields, body: .bytes(bytes), isCompressible: true)
  }

  /// The answer to a `Range` that counts (RFC 9110 14.2): GET only, and only if `If-Range` holds.
  private func range(
    _ request: ServerRequest, _ file: OpenFile, _ tag: EntityTag, _ modified: HTTPDate,
    _ fields: HTTPFields
  ) -> ServerResponse? {
    guard request.method == .get, let value = request.head["range"],
      let set = ByteRangeSet(value)
    else { return nil }
    if let condition = request.head["if-range"] {
      let holds = RangeCondition(condition.text, now: request.date)?.holds(
        tag: tag, modified: modified)
      guard holds == true else { return nil }
    }
    var fields = fields
    switch set.resolve(length: file.byteCount) {
    case .ignore:
      return nil
    case .part(let range):
      fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.byteCount)"
      return ServerResponse(status: .partialContent, fields: fields, body: .file(file, range))
    case .unsatisfiable:
      return ServerResponse(
        status: .rangeNotSatisfiable,
        fields: [.contentRange: "bytes */\(file.byteCount)", .cacheControl: "no-store"])
    }
  }

  private func isCompressible(_ file: OpenFile, _ name: String) -> Bool {
    file.byteCount <= Self.compressibleBytesMax
      && CompressibleTypes.contains(ContentTypes.type(of: name))
  }

  /// Strong: a file that is written anew has another time or inode.
  private static func tag(of file: OpenFile) -> EntityTag {
    let parts = [
      UInt64(bitPattern: file.modifiedSeconds), UInt64(bitPattern: file.modifiedNanoseconds),
      UInt64(file.byteCount), file.inode,
    ]
    return EntityTag(parts.map { String($0, radix: 36) }.joined(separator: "."))
  }

  /// Links in a folder's page are relative to the folder, so its path must end in a slash.
  private func redirectToFolder(_ request: ServerRequest) -> ServerResponse {
    ServerResponse(
      status: .permanentRedirect,
      fields: [.location: request.path + "/", .cacheControl: cacheControl])
  }

  private func notFound(_ request: ServerRequest) -> ServerResponse {
    .problem(.notFound, requestID: request.id, renderer: problemRenderer)
  }
}

extension SystemError {
  /// EISDIR.
  fileprivate var isFolder: Bool { code == 21 }
}
