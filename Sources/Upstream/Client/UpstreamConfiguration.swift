package import HTTPClient
package import Model

/// How subscriptions are opened.
package enum SubscriptionChoice: Hashable, Sendable {
  /// By WebSocket, in the subprotocol that upstream chooses; with AppSync in AppSync's own protocol.
  case automatic
  /// By WebSocket and `graphql-transport-ws` alone.
  case transportWS
  /// By WebSocket and the older `graphql-ws` alone. With AppSync: with the credential in the URL's
  /// query, for endpoints that do not read it from the subprotocol.
  case legacyWS
  /// By an event stream for each subscription.
  case eventStream
  /// Not at all.
  case off
}

/// Settings of an upstream.
package struct UpstreamConfiguration: Sendable {
  package struct Header: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package var name: UpstreamName
  package var url: String
  package var dialect: Dialect
  /// The service's own headers, sent with every call without a user's credential.
  package var headers: [Header]
  /// The dialect's secret: Hasura's admin secret, AppSync's API key, a bearer token for others.
  package var secret: String?
  package var timeout: Duration
  package var documents: DocumentSending
  package var subscriptions: SubscriptionChoice
  /// Where subscriptions are opened; derived from `url` if nil. With `http` for `ws`, `https` for
  /// `wss`.
  package var webSocketURL: HTTPURL?
  package var responseBytesMax: Int
  /// Maximum nesting depth of a response, in open objects and lists.
  package var responseDepthMax: Int

  /// A larger response indicates a mistake in the operation.
  package static let responseBytesDefault = 16 << 20
  /// Operations reach at most 60 levels; custom scalars can contain documents of any depth.
  package static let responseDepthDefault = 512
  /// SQLite reads JSON of 1,000 levels.
  package static let responseDepthCeiling = 900

  package init(
    name: UpstreamName = .sole, url: String, dialect: Dialect = .plain, headers: [Header] = [],
    secret: String? = nil, timeout: Duration = .seconds(10),
    documents: DocumentSending = .text, subscriptions: SubscriptionChoice = .automatic,
    webSocketURL: HTTPURL? = nil,
    responseBytesMax: Int = responseBytesDefault, responseDepthMax: Int = responseDepthDefault
  ) {
    self.name = name
    self.url = url
    self.dialect = dialect
    self.headers = headers
    self.secret = secret
    self.timeout = timeout
    self.documents = documents
    self.subscriptions = subscriptions
    self.webSocketURL = webSocketURL
    self.responseBytesMax = responseBytesMax
    self.responseDepthMax = responseDepthMax
  }

  /// Whether calls without a user's credential have rights of the service's own.
  package var hasServiceCredentials: Bool { secret != nil || !headers.isEmpty }
}

/// The parameters of one call in addition to operation and variables.
package struct UpstreamCall: Sendable {
  /// The caller's headers to forward, already filtered to the configured names.
  package var forwarded: [UpstreamConfiguration.Header]
  /// Whether a forwarded header is a credential, so that the service's own are omitted.
  package var carriesUserCredential: Bool
  /// A mutation's random idempotency key, the same for every attempt.
  package var idempotencyKey: String?
  /// The call's total timeout; the upstream's timeout if nil.
  package var timeout: Duration?

  package init(
    forwarded: [UpstreamConfiguration.Header] = [], carriesUserCredential: Bool = false,
    idempotencyKey: String? = nil, timeout: Duration? = nil
  ) {
    self.forwarded = forwarded
    self.carriesUserCredential = carriesUserCredential
    self.idempotencyKey = idempotencyKey
    self.timeout = timeout
  }
}
