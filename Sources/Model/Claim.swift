/// One claim of a verified token that operations share responses by (`@cache(scope: CLAIM)`).
package struct Claim: Hashable, Sendable {
  package let name: String
  /// Who says so: the same value of another issuer is another group of callers.
  package let issuer: String
  /// Canonical JSON, so that the text `"5"` and the number `5` are two values.
  package let value: String

  package init(name: String, issuer: String, value: String) {
    self.name = name
    self.issuer = issuer
    self.value = value
  }

  /// One text for all three, in which none runs into the next.
  var subject: String {
    [issuer, name, value].map { "\($0.utf8.count):\($0)" }.joined()
  }
}
