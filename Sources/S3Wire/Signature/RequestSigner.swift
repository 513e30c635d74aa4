package import HTTPWire

/// A signer of requests with one access key.
package struct RequestSigner: Sendable {
  package let accessKey: String
  private let secretKey: String
  private let sessionToken: String?

  package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }

  /// The fields to add to a request so that it is signed, `Authorization` last.
  ///
  /// - Parameters:
  ///   - path: encoded, as it is sent.
  ///   - query: decoded.
  ///   - host: the value of `Host`.
  ///   - fields: the request's own fields to sign. Omit fields that a proxy can change.
  package func fields(
    method: String, path: String, query: [QueryString.Parameter], host: String,
    fields: [CanonicalRequest.Field], payload: PayloadHash, at time: SignatureTime,
    region: String, service: String = "s3"
  ) -> [CanonicalRequest.Field] {
    var added = [
      CanonicalRequest.Field("x-amz-content-sha256", payload.text),
      CanonicalRequest.Field("x-amz-date", time.text),
    ]
    if let sessionToken {
      added.append(CanonicalRequest.Field("x-amz-security-token", sessionToken))
    }
    let scope = SignatureScope(day: time.day, region: region, service: service)
    let request = CanonicalRequest(
      method: method, path: path, query: query,
      fields: fields + added + [CanonicalRequest.Field("host", host)], payload: payload)
    let authorization = SignatureAuthorization(
      credential: SignatureCredential(accessKey: accessKey, scope: scope),
      signedFields: request.signedFields,
      signature: SignatureKey(secret: secretKey, scope: scope).sign(
        request.stringToSign(at: time, scope: scope)))
    added.append(CanonicalRequest.Field("authorization", authorization.text))
    return added
  }

  /// The query of a presigned URL, with the request's own parameters.
  package func presignedQuery(
    method: String, path: String, query: [QueryString.Parameter] = [], host: String,
    at time: SignatureTime, lifetimeSeconds: Int64, region: String, service: String = "s3"
  ) -> String {
    let scope = SignatureScope(day: time.day, region: region, service: service)
    var presigned = PresignedQuery(
      credential: SignatureCredential(accessKey: accessKey, scope: scope), time: time,
      lifetimeSeconds: lifetimeSeconds, sessionToken: sessionToken)
    presigned.signature = SignatureKey(secret: secretKey, scope: scope).sign(
      presigned.stringToSign(
        method: method, path: path, query: query, fields: [CanonicalRequest.Field("host", host)]))
    return presigned.text(with: query)
  }
}
