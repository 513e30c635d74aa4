/// How far the wall clock is believed.
package struct ClockSettings: Sendable {
  /// How long a jump of it must hold until anything expires by it.
  package var trust = Duration.seconds(3_600)
}
