package import Gateway
import HTTPWire
package import Logging
package import Model
import S3Wire

/// Authenticates signed requests (AWS Signature Version 4, in header fields or in the query) and
/// verifies their integrity.
package struct S3Authenticator: Sendable {
  /// Maximum clock difference to the client, as in S3.
  private static let skewSecondsMax: Int64 = 900

  private let keys: S3Keys
  /// The only accepted region of signatures; nil for any.
  private let region: String?
  private let clock: WallClock
  private let logger: Logger

  package init(keys: S3Keys, region: String? = nil, clock: WallClock, logger: Logger) {
    self.keys = keys
    self.region = region
    self.clock = clock
    self.logger = logger
  }

  /// The signature of a request, from header fields or from the query.
  private struct Claim {
    let credential: SignatureCredential
    let time: SignatureTime
    let signedFields: [String]
    let signature: String
    let payload: PayloadHash
  }

  func authenticate(_ request: S3SignedRequest) async throws(S3Fault) -> S3Request {
    guard let claim = try claim(of: request) else {
      return S3Request(grant: .anonymous, payload: .unsigned, region: nil, chunks: nil)
    }
    let scope = claim.credential.scope
    try check(scope)
    let found = try await credential(claim.credential.accessKey)
    let key = SignatureKey(secret: found.secret, scope: scope)
    try verify(claim, of: request, key: key)
    if case .sha256 = claim.payload, !request.hasContent, claim.payload != .empty {
      throw S3Fault(
        .contentSHA256Mismatch,
        "The request has no content, but x-amz-content-sha256 is not that of empty content.")
    }
    let isChainSigned =
      claim.payload == .signedChunks || claim.payload == .signedChunksAndTrailer
    return S3Request(
      grant: found.grant, payload: claim.payload, region: scope.region,
      chunks: isChainSigned
        ? ChunkSignatures(key: key, time: claim.time, seed: claim.signature) : nil)
  }

  /// - Throws: if a signature is for another service or region.
  func check(_ scope: SignatureScope) throws(S3Fault) {
    guard scope.service == "s3", region.map({ $0 == scope.region }) ?? true else {
      throw S3Fault(
        .authorizationHeaderMalformed,
        "The credential is for service \(scope.service) in \(scope.region), but must be for s3"
          + (region.map { " in \($0)" } ?? "") + ".")
    }
  }

  func credential(_ id: String) async throws(S3Fault) -> S3Credential {
    let found = try await S3Fault.translating { () async throws(Failure) in
      try await keys.credential(id)
    }
    guard let found else {
      throw S3Fault(.invalidAccessKeyID, "The access key does not exist.")
    }
    return found
  }

  var today: HTTPDate { HTTPDate(secondsSince1970: now) }

  // MARK: Reading the signature

  private func claim(of request: S3SignedRequest) throws(S3Fault) -> Claim? {
    if let text = request.field("authorization") {
      guard request.query[PresignedQuery.signatureName] == nil else {
        throw S3Fault(
          .invalidArgument,
          "The request is signed both in Authorization and in the query; use only one.")
      }
      return try claim(of: request, authorization: text)
    }
    if request.query["Signature"] != nil, request.query["AWSAccessKeyId"] != nil {
      throw Self.otherAlgorithm
    }
    return try presignedClaim(of: request)
  }

  private func claim(
    of request: S3SignedRequest, authorization text: String
  ) throws(S3Fault) -> Claim {
    guard text.hasPrefix(SignatureAlgorithm.name) else { throw Self.otherAlgorithm }
    guard let authorization = SignatureAuthorization(text) else {
      throw S3Fault(.authorizationHeaderMalformed, "The Authorization field is malformed.")
    }
    guard let hash = request.field("x-amz-content-sha256") else {
      throw S3Fault(.invalidRequest, "The field x-amz-content-sha256 is missing.")
    }
    guard let payload = PayloadHash(hash) else {
      throw S3Fault(
        .invalidArgument,
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, one of S3's STREAMING- names, or a "
          + "SHA-256 in lower-case hexadecimal.")
    }
    guard let time = time(of: request) else {
      throw S3Fault(.accessDenied, "A signed request must have a valid Date or x-amz-date.")
    }
    let scope = authorization.credential.scope
    guard time.day == scope.day else {
      throw S3Fault(
        .authorizationHeaderMalformed, "The credential's date does not match the request's date.")
    }
    guard (time.date.secondsSince1970 - now).magnitude <= Self.skewSecondsMax else {
      throw S3Fault(
        .requestTimeTooSkewed,
        "The difference between the request's time and the server's is too large.")
    }
    return Claim(
      credential: authorization.credential, time: time,
      signedFields: authorization.signedFields, signature: authorization.signature,
      payload: payload)
  }

  private func presignedClaim(of request: S3SignedRequest) throws(S3Fault) -> Claim? {
    let presigned: PresignedQuery?
    do throws(PresignedQuery.Fault) {
      presigned = try PresignedQuery(request.query)
    } catch {
      switch error {
      case .malformed(let name):
        throw S3Fault(
          .authorizationQueryParametersError, "\(name) is missing or malformed.")
      case .unknownAlgorithm: throw Self.otherAlgorithm
      case .otherDay:
        throw S3Fault(
          .authorizationQueryParametersError, "The credential's date does not match X-Amz-Date.")
      }
    }
    guard let presigned else { return nil }
    let begins = presigned.time.date.secondsSince1970
    guard begins <= now + Self.skewSecondsMax else {
      throw S3Fault(.accessDenied, "The request is not valid yet.")
    }
    guard now <= begins + presigned.lifetimeSeconds else {
      throw S3Fault(.accessDenied, "Request has expired")
    }
    // A client that presigns content states its hash in a signed field.
    let hash =
      request.field("x-amz-content-sha256") ?? request.query["X-Amz-Content-Sha256"]
    return Claim(
      credential: presigned.credential, time: presigned.time,
      signedFields: presigned.signedFields, signature: presigned.signature,
      payload: hash.flatMap { PayloadHash($0) } ?? .unsigned)
  }

  private var now: Int64 { clock.now().milliseconds / 1000 }

  private func time(of request: S3SignedRequest) -> SignatureTime? {
    if let text = request.field("x-amz-date") { return SignatureTime(text) }
    guard var text = request.field("date") else { return nil }
    if let time = SignatureTime(text) { return time }
    // Mail's zone forms that mean GMT (RFC 5322 section 3.3); boto3 sends the first.
    for zone in [" -0000", " +0000"] where text.hasSuffix(zone) {
      text = text.dropLast(zone.count) + " GMT"
    }
    return HTTPDate(text, now: HTTPDate(secondsSince1970: now)).map { SignatureTime($0) }
  }

  private static let otherAlgorithm = S3Fault(
    .invalidRequest, "Requests must be signed with \(SignatureAlgorithm.name).")

  /// Signed fields that contain the client's secrets.
  private static let secretFields = [
    "x-amz-security-token:", "x-amz-server-side-encryption-customer-key:", "cookie:",
  ]

  private static func withoutSecrets(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      secretFields.first(where: line.hasPrefix).map { "\($0)…" } ?? String(line)
    }.joined(separator: "\n")
  }

  // MARK: Verifying the signature

  private func verify(
    _ claim: Claim, of request: S3SignedRequest, key: SignatureKey
  ) throws(S3Fault) {
    guard claim.signedFields.contains("host") else {
      throw S3Fault(.accessDenied, "The Host field must be signed.")
    }
    // Unsigned fields could come from anyone, and these change what a request does.
    let unsigned = request.fields.first {
      $0.name.hasPrefix("x-amz-") && !claim.signedFields.contains($0.name)
    }
    if let unsigned {
      throw S3Fault(.accessDenied, "The field \(unsigned.name) must be signed.")
    }
    var refused: CanonicalRequest?
    for (path, host) in request.places {
      guard let path = S3Encoding.canonicalPath(path) else {
        throw S3Fault(.invalidArgument, "The path is not well-formed percent-encoded UTF-8.")
      }
      let canonical = CanonicalRequest(
        method: request.method, path: path,
        query: request.query.parameters.filter { $0.name != PresignedQuery.signatureName },
        fields: request.signed(claim.signedFields, host: host), payload: claim.payload)
      let text = canonical.stringToSign(at: claim.time, scope: key.scope)
      if key.isSignature(claim.signature, of: text) { return }
      refused = refused ?? canonical
    }
    logger.debug(
      "invalid request signature",
      metadata: [
        "request_id": "\(request.id)", "access_key": "\(claim.credential.accessKey)",
        "canonical_request": "\(Self.withoutSecrets(refused?.text ?? ""))",
      ])
    throw S3Fault(
      .signatureDoesNotMatch,
      "The request signature does not match the access key. See the service's log at level "
        + "debug for the expected canonical request.")
  }
}
