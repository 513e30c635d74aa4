import Gateway
import HTTPWire
import Model
import S3Wire

/// The parts of a request that its signature depends on.
struct S3SignedRequest: Sendable {
  let method: String
  /// As sent, percent-encoded.
  let path: String
  let query: QueryString
  /// All fields in order, names in lower case.
  let fields: [CanonicalRequest.Field]
  /// The host that a trusted proxy reports as requested by the client, if it differs from `Host`.
  let forwardedHost: String?
  let hasContent: Bool
  /// Whether the path begins with the S3 interface's base path `/s3`; otherwise it begins with the
  /// bucket, or with the key if the host names the bucket.
  let isBelowBasePath: Bool
  /// For the log.
  let id: String

  /// The first value of a field, by its name in lower case.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The paths and hosts that the client may have signed.
  ///
  /// Some clients treat the part before the bucket as part of the host (s3cmd), or omit it (s3fs,
  /// and clients of a proxy that adds the prefix), and sign the remaining path. That is
  /// unambiguous, because `s3` is not a valid bucket name. At the root it could be the beginning of
  /// a key, and a signature for one key must not be valid for another.
  var places: [(path: String, host: String)] {
    let hosts = [field("host") ?? ""] + [forwardedHost].compactMap { $0 }
    var places = hosts.map { (path, $0) }
    if isBelowBasePath, path.hasPrefix("\(Self.basePath)/") {
      let rest = String(path.dropFirst(Self.basePath.count))
      places += hosts.map { (rest, $0 + Self.basePath) } + hosts.map { (rest, $0) }
    }
    return places
  }

  private static let basePath = "/s3"

  /// The values of the signed fields; an absent field counts as empty.
  ///
  /// - Parameter host: replaces the value of `Host`.
  func signed(_ names: [String], host: String) -> [CanonicalRequest.Field] {
    names.flatMap { name in
      if name == "host" { return [CanonicalRequest.Field(name, host)] }
      let values = fields.filter { $0.name == name }
      return values.isEmpty ? [CanonicalRequest.Field(name, "")] : values
    }
  }
}

/// An authenticated or unsigned request: its rights, and how to verify its content.
struct S3Request: Sendable {
  let grant: S3Grant
  let payload: PayloadHash
  /// The signature's region; nil for an unsigned request.
  let region: String?
  /// The verifier of signed chunks.
  let chunks: ChunkSignatures?

  var isSigned: Bool { region != nil }
}

extension S3Grant {
  /// Checks the access key's restrictions; the bucket's rules check the caller afterwards.
  func admit(to action: FileAction, _ bucket: BucketName) throws(S3Fault) {
    guard reaches(bucket) else {
      throw S3Fault(.accessDenied, "The access key does not allow this bucket.")
    }
    guard action == .read || !isReadOnly else {
      throw S3Fault(
        .accessDenied,
        caller.isAdmin || caller.user != nil
          ? "The access key is read-only."
          : "The request is not signed; writes must be signed.")
    }
  }
}
