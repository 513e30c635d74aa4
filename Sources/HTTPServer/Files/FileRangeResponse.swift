package import HTTPTypes
package import HTTPWire
package import Transport

/// Response to a request for ranges of a file or of content in memory (RFC 9110 14.2).
struct FileRangeResponse: Sendable {
  let content: RangedContent
  let tag: EntityTag
  let modified: HTTPDate
  /// The fields of the response with the whole file.
  let fields: HTTPFields
  let limits: StaticFiles.RangeLimits
  let pool: BlockingPool

  /// Responds to a `Range` that applies: only for GET, and only if `If-Range` holds. Returns `nil` if the
  /// whole file must be sent.
  func respond(to request: ServerRequest) -> ServerResponse? {
    guard request.method == .get, let value = request.head["range"],
      let set = ByteRangeSet(value)
    else { return nil }
    if let condition = request.head["if-range"] {
      let holds = RangeCondition(condition.text, now: request.date)?.holds(
        tag: tag, modified: modified)
      guard holds == true else { return nil }
    }
    let outcome = set.resolve(
      length: content.byteCount, partsMax: limits.partsMax, disorderMax: limits.disorderMax)
    switch outcome {
    case .ignore:
      return nil
    case .part(let range):
      var fields = fields
      fields[.contentRange] = contentRange(range)
      return ServerResponse(status: .partialContent, fields: fields, body: content.body(range))
    case .parts(let ranges):
      return multipart(ranges)
    case .unsatisfiable:
      return ServerResponse(
        status: .rangeNotSatisfiable,
        fields: [.contentRange: "bytes */\(content.byteCount)", .cacheControl: "no-store"])
    }
  }

  /// Makes a `multipart/byteranges` response (RFC 9110 14.6) whose parts are read from the file while
  /// the client reads them.
  private func multipart(_ ranges: [Range<Int>]) -> ServerResponse {
    // Content cannot contain it by accident, and the authors of files do not know their inodes.
    let boundary = "part-\(tag.opaque.prefix(60))"
    let type = fields[.contentType] ?? "application/octet-stream"
    let heads = ranges.map { range in
      "\r\n--\(boundary)\r\nContent-Type: \(type)\r\nContent-Range: \(contentRange(range))\r\n\r\n"
    }
    let end = "\r\n--\(boundary)--\r\n"
    let length =
      zip(heads, ranges).reduce(end.utf8.count) { $0 + $1.0.utf8.count + $1.1.count }
    var fields = fields
    fields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
    let parts = Array(zip(heads, ranges))
    return ServerResponse(
      status: .partialContent, fields: fields,
      body: .stream(length: length) { writer in
        for (head, range) in parts {
          try await writer.write(head)
          try await write(range, to: &writer)
        }
        try await writer.write(end)
      })
  }

  /// Bytes read at a time.
  private static let pieceBytes = 64 * 1024

  private func write(_ range: Range<Int>, to writer: inout ResponseWriter) async throws {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = min(Self.pieceBytes, range.upperBound - offset)
      let piece = try await content.read(offset..<(offset + count), on: pool)
      try await writer.write(piece)
      // A file that has become shorter cuts the response short: its length is already announced.
      guard piece.count == count else { return }
      offset += count
    }
  }

  private func contentRange(_ range: Range<Int>) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.byteCount)"
  }
}

/// Content that ranges are read from: a file, or bytes in memory.
package enum RangedContent: Sendable {
  case file(OpenFile)
  case bytes([UInt8])

  var byteCount: Int {
    switch self {
    case .file(let file): file.byteCount
    case .bytes(let bytes): bytes.count
    }
  }

  /// Returns a range of the content as the body of a response.
  func body(_ range: Range<Int>) -> ResponseBody {
    switch self {
    case .file(let file): .file(file, range)
    case .bytes(let bytes): .bytes(Array(bytes[range]))
    }
  }

  /// Reads a range of the content.
  ///
  /// - Returns: fewer bytes than requested if a file has become shorter.
  func read(_ range: Range<Int>, on pool: BlockingPool) async throws -> [UInt8] {
    switch self {
    case .file(let file):
      try await pool.run { () throws(SystemError) -> [UInt8] in
        try file.read(range.count, from: range.lowerBound)
      }
    case .bytes(let bytes): Array(bytes[range])
    }
  }
}

/// Responses with open files or content in memory: whole, or the ranges that a request asks for.
package struct OpenedFiles: Sendable {
  private let pool: BlockingPool
  private let ranges: StaticFiles.RangeLimits

  package init(pool: BlockingPool, ranges: StaticFiles.RangeLimits) {
    self.pool = pool
    self.ranges = ranges
  }

  /// Makes the response to a request.
  ///
  /// - Parameters:
  ///   - tag: the strong tag of the whole file, for `If-Range`.
  ///   - fields: the fields of the response with the whole file.
  package func answer(
    _ request: ServerRequest, _ content: RangedContent, tag: EntityTag, modified: HTTPDate,
    fields: HTTPFields
  ) -> ServerResponse {
    let ranged = FileRangeResponse(
      content: content, tag: tag, modified: modified, fields: fields, limits: ranges, pool: pool)
    return ranged.respond(to: request)
      ?? ServerResponse(fields: fields, body: content.body(0..<content.byteCount))
  }
}
