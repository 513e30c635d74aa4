import HTTPTypes
import HTTPWire
import Transport

/// Answers a request for ranges of a file, or of content in memory (RFC 9110 14.2).
struct FileRangeResponse: Sendable {
  let content: RangedContent
  let tag: EntityTag
  let modified: HTTPDate
  /// Of the whole file's answer.
  let fields: HTTPFields
  let limits: StaticFiles.RangeLimits
  let pool: BlockingPool

  /// The answer to a `Range` that counts: GET only, and only if `If-Range` holds. `nil` where the
  /// file is to be sent whole.
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

  /// The parts one after the other as `multipart/byteranges` (RFC 9110 14.6), read from the file
  /// as the client takes them.
  private func multipart(_ ranges: [Range<Int>]) -> ServerResponse {
    // No content holds it but by design, and whoever writes files does not know their inodes.
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
      // A file that has become shorter cuts the answer short: its length is told already.
      guard piece.count == count else { return }
      offset += count
    }
  }

  private func contentRange(_ range: Range<Int>) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.byteCount)"
  }
}
