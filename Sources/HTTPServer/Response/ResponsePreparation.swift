import HTTPTypes
import HTTPWire
import Transport

/// Chooses the content coding of a handler's response, and runs the slow parts off the loop.
struct ResponsePreparation {
  let limits: ServerLimits
  let pool: BlockingPool

  /// - Parameter encoder: the loop's own, for bodies that are compressed on the loop.
  func prepare(
    _ response: ServerResponse, for request: ServerRequest, encoder: GzipEncoder.Pool
  ) async -> PreparedResponse {
    var prepared = PreparedResponse(
      status: response.status.code, fields: response.fields, body: .none)
    switch response.body {
    case .none, .webSocket:
      break
    case .bytes(let bytes):
      prepared.body = .bytes(bytes)
    case .stream(let length, let write):
      prepared.body = .stream(length: length, write: write)
    case .file(let file, let range):
      prepared.body = await body(of: file, range, isWanted: request.method != .head)
    }
    if response.isCompressible {
      await negotiate(&prepared, for: request, encoder: encoder)
    }
    return prepared
  }

  /// Reads small ranges into memory: for them a short copy is cheaper than `sendfile`.
  private func body(
    of file: OpenFile, _ range: Range<Int>, isWanted: Bool
  ) async -> PreparedResponse.Body {
    guard isWanted, range.count < limits.sendfileBytesMin else { return .file(file, range) }
    let bytes = await pool.run { try? file.read(range.count, from: range.lowerBound) }
    guard let bytes, bytes.count == range.count else { return .file(file, range) }
    return .bytes(bytes)
  }

  private func negotiate(
    _ prepared: inout PreparedResponse, for request: ServerRequest, encoder: GzipEncoder.Pool
  ) async {
    guard !prepared.fields.contains(.contentEncoding), isCompressibleType(prepared) else { return }
    Self.addVary(&prepared.fields)
    if prepared.status == 304 {
      return Self.keepTagOfClient(&prepared.fields, request)
    }
    guard case .bytes(let bytes) = prepared.body, bytes.count >= limits.compressionBytesMin,
      prepared.status != 206, !hasNoTransform(prepared.fields),
      let accepted = request.head.fields.joined("accept-encoding"),
      AcceptEncoding(accepted).preferred == .gzip,
      let encoded = await encode(bytes, encoder: encoder)
    else { return }
    prepared.body = .bytes(encoded)
    prepared.fields[.contentEncoding] = "gzip"
    if let tag = prepared.fields[.eTag].flatMap({ EntityTag(parsing: $0) }) {
      prepared.fields[.eTag] = tag.coded(.gzip).text
    }
  }

  private func encode(_ bytes: [UInt8], encoder: GzipEncoder.Pool) async -> [UInt8]? {
    if bytes.count <= limits.compressionOnLoopBytesMax { return encoder.encode(bytes) }
    return await pool.run { GzipEncoder()?.encode(bytes) }
  }

  private func isCompressibleType(_ prepared: PreparedResponse) -> Bool {
    guard prepared.status != 304 else { return true }
    let type = prepared.fields.first { $0.name == .contentType }?.value
    return type.map(CompressibleTypes.contains) ?? false
  }

  private func hasNoTransform(_ fields: HTTPFields) -> Bool {
    fields[.cacheControl].map { TokenList($0).contains("no-transform") } ?? false
  }

  private static func addVary(_ fields: inout HTTPFields) {
    guard fields.contains(.vary), let vary = fields[.vary] else {
      fields[.vary] = "Accept-Encoding"
      return
    }
    let names = TokenList(vary)
    if names.contains("accept-encoding") || names.contains("*") { return }
    fields[.vary] = vary + ", Accept-Encoding"
  }

  /// Sets the tag of a 304 to that of the variant the client has.
  private static func keepTagOfClient(_ fields: inout HTTPFields, _ request: ServerRequest) {
    guard let tag = fields[.eTag].flatMap({ EntityTag(parsing: $0) }),
      let listed = request.head.fields.joined("if-none-match").flatMap({ EntityTagList($0) }),
      case .tags(let tags) = listed
    else { return }
    let coded = tag.coded(.gzip)
    if tags.contains(where: coded.weaklyMatches), !tags.contains(where: tag.weaklyMatches) {
      fields[.eTag] = coded.text
    }
  }
}

/// A response whose coding is chosen and whose bytes are available, except for streams and files.
struct PreparedResponse: Sendable {
  enum Body: Sendable {
    case none
    case bytes([UInt8])
    case stream(length: Int?, write: @Sendable (inout ResponseWriter) async throws -> Void)
    case file(OpenFile, Range<Int>)
  }

  var status: Int
  var fields: HTTPFields
  var body: Body

  /// Bytes of content, if known in advance.
  var length: Int? {
    switch body {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .stream(let length, _): length
    case .file(_, let range): range.count
    }
  }

  var isStreamed: Bool {
    if case .stream = body { return true }
    return false
  }
}
