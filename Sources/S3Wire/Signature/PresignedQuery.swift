package import HTTPWire

/// The signature in the query of a presigned URL, which authorises its holder to make one request for a
/// limited time.
package struct PresignedQuery: Hashable, Sendable {
  /// The allowed lifetimes of a presigned URL.
  package static let lifetimeSeconds: ClosedRange<Int64> = 1...604_800
  package static let signatureName = "X-Amz-Signature"

  /// An error in the parameters of a presigned query.
  package enum Fault: Error, Sendable, Hashable {
    /// A parameter is missing, repeated or malformed.
    case malformed(String)
    case unknownAlgorithm
    /// The credential's day is not that of `X-Amz-Date`.
    case otherDay
  }

  package var credential: SignatureCredential
  package var time: SignatureTime
  package var lifetimeSeconds: Int64
  /// The signed names in lower case, sorted; at least `host`.
  package var signedFields: [String]
  package var sessionToken: String?
  package var signature: String

  /// - Parameter signature: empty until it is computed.
  package init(
    credential: SignatureCredential, time: SignatureTime, lifetimeSeconds: Int64,
    signedFields: [String] = ["host"], sessionToken: String? = nil, signature: String = ""
  ) {
    self.credential = credential
    self.time = time
    self.lifetimeSeconds = lifetimeSeconds
    self.signedFields = signedFields
    self.sessionToken = sessionToken
    self.signature = signature
  }

  /// Reads a query.
  ///
  /// - Returns: nil if it has no parameter of a signature.
  package init?(_ query: QueryString) throws(Fault) {
    guard query["X-Amz-Algorithm"] != nil || query[Self.signatureName] != nil else {
      return nil
    }
    func only(_ name: String) throws(Fault) -> String {
      let values = query.values(name)
      guard values.count == 1, !values[0].isEmpty else { throw .malformed(name) }
      return values[0]
    }
    guard try only("X-Amz-Algorithm") == SignatureAlgorithm.name else { throw .unknownAlgorithm }
    guard let credential = SignatureCredential(try only("X-Amz-Credential")) else {
      throw .malformed("X-Amz-Credential")
    }
    guard let time = SignatureTime(try only("X-Amz-Date")) else { throw .malformed("X-Amz-Date") }
    guard let seconds = Int64(try only("X-Amz-Expires")), Self.lifetimeSeconds.contains(seconds)
    else { throw .malformed("X-Amz-Expires") }
    guard let names = SignatureAuthorization.names(Substring(try only("X-Amz-SignedHeaders")))
    else {
      throw .malformed("X-Amz-SignedHeaders")
    }
    guard time.day == credential.scope.day else { throw .otherDay }
    let signature = try only(Self.signatureName)
    guard signature.utf8.count == 64 else { throw .malformed(Self.signatureName) }
    self.init(
      credential: credential, time: time, lifetimeSeconds: seconds, signedFields: names,
      sessionToken: query["X-Amz-Security-Token"], signature: signature)
  }

  /// The parameters signed with the request's own: all except the signature.
  package var parameters: [QueryString.Parameter] {
    var parameters = [
      QueryString.Parameter(name: "X-Amz-Algorithm", value: SignatureAlgorithm.name),
      QueryString.Parameter(name: "X-Amz-Credential", value: credential.text),
      QueryString.Parameter(name: "X-Amz-Date", value: time.text),
      QueryString.Parameter(name: "X-Amz-Expires", value: String(lifetimeSeconds)),
    ]
    if let sessionToken {
      parameters.append(QueryString.Parameter(name: "X-Amz-Security-Token", value: sessionToken))
    }
    parameters.append(
      QueryString.Parameter(
        name: "X-Amz-SignedHeaders", value: signedFields.joined(separator: ";")))
    return parameters
  }

  /// The text that the signature is computed over. By default the content is not signed.
  ///
  /// - Parameters:
  ///   - query: the request's own parameters. Those of the signature in it are replaced.
  ///   - fields: the fields of ``signedFields``.
  package func stringToSign(
    method: String, path: String, query: [QueryString.Parameter],
    fields: [CanonicalRequest.Field], payload: PayloadHash = .unsigned
  ) -> String {
    let names = Set(parameters.map(\.name)).union([Self.signatureName])
    return CanonicalRequest(
      method: method, path: path, query: query.filter { !names.contains($0.name) } + parameters,
      fields: fields, payload: payload
    ).stringToSign(at: time, scope: credential.scope)
  }

  /// The query of a presigned URL, with the signature last.
  package func text(with query: [QueryString.Parameter]) -> String {
    S3Encoding.canonicalQuery(query + parameters) + "&\(Self.signatureName)=\(signature)"
  }
}
