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
  /// For the log.
  package let id: String

  package init(
    method: String, path: String, query: QueryString, fields: [CanonicalRequest.Field],
    forwardedHost: String?, hasContent: Bool, id: String
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.forwardedHost = forwardedHost
    self.hasContent = hasContent
    self.id = id
  }

  /// The first value of a field, its name given in lower case.
  func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The values of the fields that are signed; one that is not there counts as empty.
  ///
  /// - Parameter host: in place of `Host`.
  func signed(_ names: [String], host: String?) -> [CanonicalRequest.Field] {
    names.flatMap { name in
      if name == "host", let host { return [CanonicalRequest.Field(name, host)] }
      let values = fields.filter { $0.name == name }
      return values.isEmpty ? [CanonicalRequest.Field(name, "")] : values
    }
  }
}
