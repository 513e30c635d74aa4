import HTTPTypes
import HTTPWire
import Transport

/// Decides how a handler's answer is coded, and has the slow parts done off the loop.
struct ResponsePreparation {
  let limits: ServerLimits
  let pool: BlockingPool

  /// - Parameter encoder: the loop's own, for bodies that are compressed at once.
  func prepare(
    _ response: ServerResponse, for request: ServerRequest, encoder: GzipEncoder.Pool
  ) async -> PreparedResponse {
    var prepared = PreparedResponse(
      status: response.status.code, fields: response.fields, body: .none)
    switch response.body {
    case .none:
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

  /// Small stretches are read here: a short copy is cheaper than `sendfile` for them.
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

  /// A 304 names the tag of the variant that the client has.
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
