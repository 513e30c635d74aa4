import Gateway
import HTTPServer
import HTTPTypes
import Model

/// Reading of the digests that a request's content is verified with: `Content-MD5` (RFC 1864),
/// `x-amz-checksum-…`, `Digest` (RFC 3230) and `Content-Digest` (RFC 9530).
enum FileDigests {
  static func read(_ request: ServerRequest) throws(Failure) -> [ContentDigest] {
    var digests: [ContentDigest] = []
    if let text = request.field("content-md5") {
      digests.append(try digest(.md5, text, field: "Content-MD5"))
    }
    for field in request.fields where S3Digests.isDigest(field.name.canonicalName) {
      let name = field.name.canonicalName
      guard let algorithm = S3Digests.algorithm(name) else {
        throw Failure(
          .malformedRequest, "The algorithm of a digest is unknown.",
          details: [
            Failure.Detail(
              place: .parameter(name),
              detail: "must be one of \(S3Digests.names.joined(separator: ", "))")
          ])
      }
      digests.append(try digest(algorithm, field.value, field: name))
    }
    for field in ["digest", "content-digest"] {
      for member in (request.field(field) ?? "").split(separator: ",") {
        guard let (algorithm, text) = try named(member, field: field) else { continue }
        digests.append(try digest(algorithm, text, field: field))
      }
    }
    return digests
  }

  /// Whether a request has any digest, valid or not.
  static func areStated(in request: ServerRequest) -> Bool {
    request.fields.contains { field in
      let name = field.name.canonicalName
      return ["content-md5", "content-digest", "digest"].contains(name) || S3Digests.isDigest(name)
    }
  }

  /// Reads one `name=value`; nil for an unknown algorithm, which is not an error.
  private static func named(
    _ member: Substring, field: String
  ) throws(Failure) -> (ContentDigest.Algorithm, String)? {
    let parts = member.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
    guard parts.count == 2 else { throw malformed(field) }
    let algorithm: ContentDigest.Algorithm
    switch parts[0].lowercased() {
    case "sha-256": algorithm = .sha256
    case "md5": algorithm = .md5
    case "sha": algorithm = .sha1
    default: return nil
    }
    // RFC 9530 writes a byte sequence between colons.
    return (algorithm, field == "digest" ? parts[1] : parts[1].filter { $0 != ":" })
  }

  private static func digest(
    _ algorithm: ContentDigest.Algorithm, _ text: String, field: String
  ) throws(Failure) -> ContentDigest {
    guard let bytes = Base64.decode(text), let digest = ContentDigest(algorithm, bytes) else {
      throw malformed(field)
    }
    return digest
  }

  private static func malformed(_ field: String) -> Failure {
    Failure(
      .malformedRequest, "A digest is malformed.",
      details: [
        Failure.Detail(place: .parameter(field), detail: "must be the digest in base64")
      ])
  }
}

extension ServerRequest {
  /// The request's content as an upload.
  func upload() throws(Failure) -> UploadContent {
    upload(digests: try FileDigests.read(self))
  }

  /// - Parameter digests: those to verify the content with.
  func upload(digests: [ContentDigest]) -> UploadContent {
    let body = body
    return UploadContent(
      byteCount: body.length, digests: digests,
      next: { () async throws(FileStoreError) in
        var iterator = body.makeAsyncIterator()
        do throws(BodyReadError) {
          return try await iterator.next()
        } catch {
          switch error {
          case .tooLarge(let bytesMax): throw .tooLarge(bytesMax: bytesMax)
          case .refused: throw .refused(.framing)
          case .incomplete: throw .incomplete
          case .disconnected, .cancelled: throw .disconnected
          }
        }
      })
  }
}
