import Gateway
import HTTPWire
import S3Wire

@testable import Endpoints

/// A request as signed and sent by a client, which tests alter.
struct SignedCase {
  static let region = "eu-west-1"

  var method = "PUT"
  var path = "/s3/pics/a%20b"
  /// Decoded.
  var query = [QueryString.Parameter(name: "tagging", value: "")]
  /// All sent fields, names in lower case.
  var fields = [
    CanonicalRequest.Field("host", "files.example"),
    CanonicalRequest.Field("content-type", "text/plain"),
    CanonicalRequest.Field("x-amz-meta-colour", "green"),
  ]
  var forwardedHost: String?
  var hasContent = true
  var isBelowBasePath = true

  /// The value of a sent field.
  subscript(field: String) -> String? {
    get { fields.first { $0.name == field }?.value }
    set {
      fields.removeAll { $0.name == field }
      if let newValue { fields.append(CanonicalRequest.Field(field, newValue)) }
    }
  }

  subscript(parameter name: String) -> String? {
    get { query.first { $0.name == name }?.value }
    set {
      query.removeAll { $0.name == name }
      if let newValue { query.append(QueryString.Parameter(name: name, value: newValue)) }
    }
  }

  /// Signs in header fields.
  ///
  /// - Parameters:
  ///   - unsigned: fields that are sent but not signed.
  ///   - scope: the credential's scope; derived from the time if nil.
  ///   - as: path and host as signed, if they differ from the sent ones.
  mutating func sign(
    by key: S3Keys.Issued, at seconds: Int64, payload: PayloadHash = PayloadHash(of: [1]),
    unsigned: Set<String> = ["content-type"], scope: SignatureScope? = nil,
    as place: (path: String, host: String)? = nil
  ) {
    let time = SignatureTime(HTTPDate(secondsSince1970: seconds))
    let scope = scope ?? SignatureScope(day: time.day, region: Self.region)
    self["x-amz-content-sha256"] = payload.text
    self["x-amz-date"] = time.text
    var signed = fields.filter { !unsigned.contains($0.name) }
    if let place, let index = signed.firstIndex(where: { $0.name == "host" }) {
      signed[index].value = place.host
    }
    let canonical = CanonicalRequest(
      method: method, path: place?.path ?? path, query: query, fields: signed, payload: payload)
    self["authorization"] =
      SignatureAuthorization(
        credential: SignatureCredential(accessKey: key.key.id, scope: scope),
        signedFields: canonical.signedFields,
        signature: SignatureKey(secret: key.secret, scope: scope).sign(
          canonical.stringToSign(at: time, scope: scope))
      ).text
  }

  /// Signs `Host` only, in the query.
  mutating func presign(
    by key: S3Keys.Issued, at seconds: Int64, lifetimeSeconds: Int64,
    scope: SignatureScope? = nil
  ) {
    let time = SignatureTime(HTTPDate(secondsSince1970: seconds))
    let scope = scope ?? SignatureScope(day: time.day, region: Self.region)
    fields.removeAll { $0.name.hasPrefix("x-amz-") }
    var presigned = PresignedQuery(
      credential: SignatureCredential(accessKey: key.key.id, scope: scope), time: time,
      lifetimeSeconds: lifetimeSeconds)
    presigned.signature = SignatureKey(secret: key.secret, scope: scope).sign(
      presigned.stringToSign(
        method: method, path: path, query: query,
        fields: fields.filter { $0.name == "host" }))
    query += presigned.parameters
    self[parameter: PresignedQuery.signatureName] = presigned.signature
  }

  var request: S3SignedRequest {
    var query = QueryString()
    query.parameters = self.query
    return S3SignedRequest(
      method: method, path: path, query: query, fields: fields, forwardedHost: forwardedHost,
      hasContent: hasContent, isBelowBasePath: isBelowBasePath, id: "the-request")
  }
}
