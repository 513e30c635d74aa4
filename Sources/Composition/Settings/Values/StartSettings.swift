/// How the service starts.
package struct StartSettings: Sendable {
  /// How long it waits for a data folder that another process holds, as one does that still drains.
  package var lockWait = Duration.seconds(15)
}
