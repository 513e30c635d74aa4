/// Whose key signed, and for what: `AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request`.
package struct SignatureCredential: Hashable, Sendable {
  package var accessKey: String
  package var scope: SignatureScope

  package init(accessKey: String, scope: SignatureScope) {
    self.accessKey = accessKey
    self.scope = scope
  }

  /// Reads ``text``.
  package init?(_ text: some StringProtocol) {
    guard let slash = text.firstIndex(of: "/"), slash > text.startIndex,
      let scope = SignatureScope(text[text.index(after: slash)...])
    else { return nil }
    self.init(accessKey: String(text[..<slash]), scope: scope)
  }

  package var text: String { "\(accessKey)/\(scope.text)" }
}
