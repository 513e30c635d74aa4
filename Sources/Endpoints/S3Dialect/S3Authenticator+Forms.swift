import Cryptography
import Gateway
import HTTPWire
import Model
import S3Wire

extension S3Authenticator {
  /// Authenticates a form by its policy and the policy's signature: AWS Signature Version 4, or
  /// Version 2, which form libraries still use.
  func authenticate(_ form: S3Form) async throws(S3Fault) -> S3FormGrant {
    guard let text = form["policy"] else {
      throw S3Fault(.accessDenied, "The form has no policy; upload forms must be signed.")
    }
    let (found, region) = try await signer(of: form, policy: text)
    let policy = try S3FormPolicy(text)
    try policy.check(
      form.fields + (form["bucket"] == nil ? [("bucket", form.bucket.text)] : []), at: today)
    if let bucket = form["bucket"], bucket != form.bucket.text {
      throw S3Fault(.accessDenied, "The form's bucket field names another bucket.")
    }
    return S3FormGrant(
      request: S3Request(
        grant: found.grant, payload: .unsigned, region: region, chunks: nil),
      byteCounts: policy.byteCounts)
  }

  /// The credential that signed the policy, and the region of the signature.
  private func signer(
    of form: S3Form, policy: String
  ) async throws(S3Fault) -> (S3Credential, region: String) {
    if form["x-amz-algorithm"] == nil, let id = form["awsaccesskeyid"] {
      guard let signature = form["signature"] else { throw Self.missing("signature") }
      let found = try await credential(id)
      let key = SymmetricKey(data: Array(found.secret.utf8))
      guard let code = Base64.decode(signature),
        HMAC<Insecure.SHA1>.isValidAuthenticationCode(
          code, authenticating: Array(policy.utf8), using: key)
      else { throw Self.otherSignature }
      return (found, Self.regionWithoutScope)
    }
    guard let algorithm = form["x-amz-algorithm"] else { throw Self.missing("x-amz-algorithm") }
    guard algorithm == SignatureAlgorithm.name else {
      throw S3Fault(.invalidArgument, "x-amz-algorithm must be \(SignatureAlgorithm.name).")
    }
    guard let signature = form["x-amz-signature"] else { throw Self.missing("x-amz-signature") }
    guard let credential = form["x-amz-credential"].flatMap({ SignatureCredential($0) }) else {
      throw Self.missing("x-amz-credential")
    }
    guard let time = form["x-amz-date"].flatMap({ SignatureTime($0) }) else {
      throw Self.missing("x-amz-date")
    }
    try check(credential.scope)
    guard time.day == credential.scope.day else {
      throw S3Fault(.invalidArgument, "The credential's date does not match x-amz-date.")
    }
    let found = try await self.credential(credential.accessKey)
    let key = SignatureKey(secret: found.secret, scope: credential.scope)
    guard key.isSignature(signature, of: policy) else { throw Self.otherSignature }
    return (found, credential.scope.region)
  }

  private static let regionWithoutScope = "us-east-1"

  private static func missing(_ name: String) -> S3Fault {
    S3Fault(
      .invalidArgument, "The form has a policy, but its field \(name) is missing or malformed.")
  }

  private static let otherSignature = S3Fault(
    .signatureDoesNotMatch, "The signature of the form's policy does not match the access key.")
}
