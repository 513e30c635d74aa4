/// One upstream: where it is and how it is spoken to.
package struct UpstreamSettings: Sendable {
  package struct Header: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package var name: String
  package var url: String
  package var dialect: Dialect
  /// Sent with every call that carries no user's credential: the service's own.
  package var headers: [Header]
  /// The dialect's secret: Hasura's admin secret, AppSync's API key, a bearer token for others.
  package var secret: String?
  package var timeout: Duration
  package var answerBytesMax: Int
  /// How deep a response may nest: objects and lists open at once.
  package var answerDepthMax: Int

  /// A larger answer is a mistake in the operation rather than data.
  package static let answerBytesDefault = 16 << 20
  /// Operations reach 60 levels at most; custom scalars may hold documents of any depth.
  package static let answerDepthDefault = 512
  /// SQLite reads JSON of 1,000 levels.
  package static let answerDepthCeiling = 900

  package init(
    name: String = "default", url: String, dialect: Dialect = .plain, headers: [Header] = [],
    secret: String? = nil, timeout: Duration = .seconds(10),
    answerBytesMax: Int = answerBytesDefault, answerDepthMax: Int = answerDepthDefault
  ) {
    self.name = name
    self.url = url
    self.dialect = dialect
    self.headers = headers
    self.secret = secret
    self.timeout = timeout
    self.answerBytesMax = answerBytesMax
    self.answerDepthMax = answerDepthMax
  }

  /// Whether a call without a user's credential goes out with rights of the service's own.
  package var hasServiceCredentials: Bool { secret != nil || !headers.isEmpty }
}
