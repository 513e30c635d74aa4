/// The limits of an upstream's live side: time, sizes and numbers.
package struct SubscriptionLimits: Sendable {
  // MARK: Connections

  /// From the start of an attempt to connect to the end of the handshake.
  package var openingTimeout = Duration.seconds(15)
  /// From `connection_init` to its acknowledgement.
  package var acknowledgementTimeout = Duration.seconds(15)
  /// From `start` to AppSync's `start_ack`.
  package var startTimeout = Duration.seconds(15)
  /// How long a `pong` can confirm that a subscription has arrived, in `graphql-transport-ws`; without
  /// one the subscription counts as established after that time.
  package var confirmationTimeout = Duration.seconds(2)
  /// Silence after which a `ping` is sent, and how long the server can take to say anything.
  package var pingInterval = Duration.seconds(30)
  package var pongTimeout = Duration.seconds(15)
  /// Maximum silence of a server that has sent a heartbeat.
  package var keepAliveTimeout = Duration.seconds(90)
  /// AppSync's maximum silence, unless the acknowledgement says another.
  package var appSyncTimeout = Duration.seconds(300)
  /// Bounds of what an acknowledgement can say.
  package static let appSyncTimeoutRange = Duration.seconds(10)...Duration.seconds(3600)
  /// When an AppSync connection is replaced: the service closes it after 24 hours.
  package var appSyncLifetime = Duration.seconds(23 * 3600)
  /// How long a connection without subscriptions is kept.
  package var idleTimeout = Duration.seconds(5)
  /// A newer credential that is refused this soon after it replaced another one is not replaced in turn.
  package var replacementInterval = Duration.seconds(30)

  // MARK: Back-off

  /// The first delay before a reconnection is a random part of this time; the bound doubles with each
  /// failure.
  package var reconnectFirst = Duration.seconds(1)
  package var reconnectMax = Duration.seconds(60)
  /// The shortest delay, whatever the random number.
  package static let reconnectMin = Duration.milliseconds(50)
  /// How often a subscription is started before it fails, when upstream does not confirm it or is
  /// overloaded.
  package var startAttemptsMax = 5

  // MARK: Sizes

  /// Maximum size of one message or event.
  package var messageBytesMax = 16 << 20
  /// Maximum number of messages in one second that carry no event.
  package var controlMessagesMax = 1_000
  /// Maximum number of messages that wait to be sent on a connection.
  package var outgoingMax = 4_096
  /// Events of one subscription that wait for their reader; beyond them the connection is not read.
  package var eventsMax = 256
  package var eventBytesMax = 16 << 20
  /// Connections to one upstream; where callers' credentials are forwarded, each caller has one.
  package var connectionsMax = 4_096
  package var subscriptionsPerConnectionMax = 1_000
  /// Consecutive events that cannot be used, after which a subscription fails.
  package var unusableEventsMax = 10

  package init() {}

  /// The limits for one kind of server.
  package init(_ dialect: Dialect) {
    if dialect == .appsync { subscriptionsPerConnectionMax = 100 }
  }
}
