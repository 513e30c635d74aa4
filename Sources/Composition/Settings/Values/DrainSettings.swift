/// How the service stops: not ready at once, closing its listeners after `delay`, gone at
/// `deadline` after that.
package struct DrainSettings: Sendable {
  package var delay = Duration.zero
  package var deadline = Duration.seconds(8)
}
