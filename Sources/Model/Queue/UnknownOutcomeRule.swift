/// What follows an attempt that was sent and not answered.
package enum UnknownOutcomeRule: Hashable, Sendable {
  /// Sending it twice does no more than once: the same body goes again under the same key.
  case sendAgain
  /// A query of this name tells whether it took effect.
  case verify(operation: String)
  /// Nobody can tell but the client.
  case park
}
