/// How the service starts.
package struct StartSettings: Sendable {
  /// How long it waits for a data folder that another process holds, as one does that still drains.
  package var lockWait = Duration.seconds(15)
  /// What to do with a key other than the one that the database's secrets are sealed with.
  package var otherKey = OtherKey.refuse

  /// Whether to start on a full disk, and serve reads alone until there is room.
  package var degraded = Degraded.allow

  package enum Degraded: String, CaseIterable, Sendable {
    case allow
    case refuse
  }

  package enum OtherKey: String, CaseIterable, Sendable {
    case refuse
    /// Gives those secrets up.
    case accept
  }
}
