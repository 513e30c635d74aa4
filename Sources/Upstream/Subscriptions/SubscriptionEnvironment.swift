import HTTPClient
import HTTPTypes

/// What the connections of one upstream share.
struct SubscriptionEnvironment: Sendable {
  let settings: UpstreamConfiguration
  /// The GraphQL endpoint.
  let url: HTTPURL
  let limits: SubscriptionLimits
  let sockets: any WebSocketOpening
  let streams: any EventStreamOpening
  let reader: UpstreamResponseReader
  let meters: SubscriptionMeters
  let uptime: @Sendable () -> Duration
  let random: @Sendable () -> Double
  let sleep: @Sendable (Duration) async throws -> Void

  var isEventStream: Bool { SubscriptionDialect.offered(settings) == [.eventStream] }

  /// The host of the GraphQL endpoint, which AppSync's authorization names.
  var host: String { url.origin.authority }

  /// The handshake with a credential. AppSync reads it in the subprotocol or in the URL, other servers
  /// in the same headers as requests have, or in `connection_init`.
  func offer(_ headers: CallHeaders) -> WebSocketOffer {
    var target = settings.webSocketURL ?? url
    var subprotocols = SubscriptionDialect.offered(settings).compactMap(\.subprotocol)
    var fields = HTTPFields()
    if settings.dialect == .appsync {
      if settings.webSocketURL == nil { target = url.appSyncRealTime }
      let authorization = AppSyncAuthorization(host: host, headers: headers)
      if settings.subscriptions == .legacyWS {
        target = target.adding(query: authorization.query)
      } else {
        subprotocols.append(authorization.subprotocol)
      }
    } else {
      fields = headers.fields
    }
    return WebSocketOffer(
      url: target, fields: fields, subprotocols: subprotocols,
      messageBytesMax: limits.messageBytesMax, timeout: limits.openingTimeout)
  }

  /// The request of an event stream. It is not repeated by the HTTP client, only by its session.
  func request(_ request: SubscriptionRequest, _ headers: CallHeaders) -> HTTPClientRequest {
    var fields = headers.fields
    fields[.contentType] = "application/json"
    fields[.accept] = "text/event-stream"
    // Event streams are not decoded.
    fields[.acceptEncoding] = "identity"
    return HTTPClientRequest(
      method: .post, url: url, fields: fields, body: request.payload, isSafeToRepeat: false)
  }
}
