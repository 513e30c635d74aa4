package import HTTPWire
package import S3Wire

/// A request as far as its signature goes.
package struct S3SignedRequest: Sendable {
  package let method: String
  /// As it was sent, percent-encoded.
  package let path: String
  package let query: QueryString
  /// All fields, in their order, names in lower case.
  package let fields: [CanonicalRequest.Field]
  /// What the client may have asked for as host beside what `Host` says, where a proxy in front
  /// tells.
  package let forwardedHost: String?
  package let hasContent: Bool
  /// The path begins with that of the dialect, `/s3`; else with the bucket, or with the key where
  /// the host names the bucket.
  package let isBelowBasePath: Bool
  /// For the log.
  package let id: String

  package init(
    method: String, path: String, query: QueryString, fields: [CanonicalRequest.Field],
    forwardedHost: String?, hasContent: Bool, isBelowBasePath: Bool, id: String
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.forwardedHost = forwardedHost
    self.hasContent = hasContent
    self.isBelowBasePath = isBelowBasePath
    self.id = id
  }

  /// The first value of a field, its name given in lower case.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// What may have been signed as path and host.
  ///
  /// Some clients take what is in front of the bucket for a part of the host (s3cmd), or leave it out
  /// (s3fs, and whatever a proxy gives the prefix to), and sign the path after it. Nothing else can be
  /// meant by that: `s3` is no bucket's name. At the root it may be the beginning of a key, and a
  /// signature for one key must not be good for another.
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

  /// The values of the fields that are signed; one that is not there counts as empty.
  ///
  /// - Parameter host: in place of `Host`.
  func signed(_ names: [String], host: String) -> [CanonicalRequest.Field] {
    names.flatMap { name in
      if name == "host" { return [CanonicalRequest.Field(name, host)] }
      let values = fields.filter { $0.name == name }
      return values.isEmpty ? [CanonicalRequest.Field(name, "")] : values
    }
  }
}
