/// How long a query's result may be served, and to whom: the `@cache` directive over the settings'
/// defaults.
package struct CachePolicy: Hashable, Sendable {
  package enum Sharing: Hashable, Sendable {
    /// One copy for everybody, fetched without the caller's credential.
    case `public`
    /// A copy a user whenever the caller's credential is forwarded.
    case user
    /// A copy for each value of the named claim, fetched with the caller's token and shown to all
    /// verified callers whose token has that value.
    case claim(String)
  }

  /// What becomes of fields that upstream answered with an error.
  package enum ErrorPolicy: String, Hashable, Sendable {
    /// The whole answer fails.
    case fail = "FAIL"
    /// The fields are null, as upstream said.
    case partial = "PARTIAL"
    /// Last-good values inside ``CachePolicy/staleIfError`` take their place and are listed.
    case fill = "FILL"
  }

  package var maxAge: Duration
  package var staleWhileRevalidate: Duration
  package var staleIfError: Duration
  package var sharing: Sharing
  package var onError: ErrorPolicy
  package var tags: [String]

  package init(
    maxAge: Duration = .zero,
    staleWhileRevalidate: Duration = .zero,
    staleIfError: Duration = .zero,
    sharing: Sharing = .user,
    onError: ErrorPolicy = .fill,
    tags: [String] = []
  ) {
    self.maxAge = maxAge
    self.staleWhileRevalidate = staleWhileRevalidate
    self.staleIfError = staleIfError
    self.sharing = sharing
    self.onError = onError
    self.tags = tags
  }
}
