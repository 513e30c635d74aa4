/// How the service stops: not ready at once, closing its listeners after `delay`, gone at
/// `deadline` after that.
package struct DrainSettings: Sendable {
  package var delay = Duration.zero
  package var deadline = Duration.seconds(8)
  /// How long an idle connection stays open meanwhile: a request may be on its way.
  package var idle = Duration.seconds(1)
}
