import HTTPWire
import S3Wire

/// Signatures of the S3 dialect, in the field and in the query: a parsed one is unchanged after it was
/// written and parsed again, and any path and query has one canonical form.
enum S3SignatureTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    if let authorization = SignatureAuthorization(text) {
      Finding.require(
        SignatureAuthorization(authorization.text) == authorization,
        "a signature changes: \(authorization.text)")
      claim(authorization.credential, text)
    }
    if let credential = SignatureCredential(text) { claim(credential, text) }
    if let time = SignatureTime(text) {
      Finding.require(SignatureTime(time.date).text == time.text, "a time changes: \(time.text)")
    }
    if let payload = PayloadHash(text) {
      Finding.require(payload.text == text, "a payload's hash changes: \(text)")
    }
    if let path = S3Encoding.canonicalPath(text) {
      Finding.require(S3Encoding.canonicalPath(path) == path, "a path has two forms: \(path)")
    }
    query(Array(input)[...])
  }

  private static func claim(_ credential: SignatureCredential, _ text: String) {
    Finding.require(
      SignatureCredential(credential.text) == credential, "a credential changes: \(text)")
    let key = SignatureKey(secret: "secret", scope: credential.scope)
    _ = key.isSignature(text, of: text)
  }

  private static func query(_ bytes: ArraySlice<UInt8>) {
    guard let query = try? QueryString(bytes) else { return }
    let canonical = S3Encoding.canonicalQuery(query.parameters)
    let again = (try? QueryString(canonical)).map { S3Encoding.canonicalQuery($0.parameters) }
    // A query without parameters is written as an empty text, and so is a parameter without name and value.
    Finding.require(again == canonical || canonical == "=", "a query has two forms: \(canonical)")
    guard let presigned = try? PresignedQuery(query) else { return }
    Finding.require(
      PresignedQuery.lifetimeSeconds.contains(presigned.lifetimeSeconds), "a lifetime")
    let end = presigned.time.date.secondsSince1970 + presigned.lifetimeSeconds
    Finding.require(end > presigned.time.date.secondsSince1970, "an address without an end")
    let written = (try? QueryString(presigned.text(with: []))).flatMap { try? PresignedQuery($0) }
    Finding.require(written == presigned, "a presigned query changes: \(query.text)")
  }
}
