/// How the service stops: not ready at once, closing its listeners after `delay`, gone at
/// `deadline` after that.
package struct DrainSettings: Sendable {
  package var delay = Duration.zero
  package var deadline = Duration.seconds(8)
  /// For connections that have begun when listening ends, and are not made yet.
  package var handshakes = Duration.milliseconds(300)
  /// How long an idle connection stays open meanwhile: a request may be on its way.
  package var idle = Duration.seconds(1)
}
