extension DeviceQueue {
  /// What may go now, and when to look again.
  ///
  /// Deadlines that have passed are not acted on here: ask for ``lapses(at:policy:using:)`` first.
  package func outlook(at now: Timestamp, policy: QueuePolicy) -> DeviceOutlook {
    .idle
  }

  /// Takes one for sending: commit it before the first byte leaves.
  ///
  /// Nil where it may not go (any more): ask for the outlook again.
  package func claiming(
    _ id: MutationID, boot: String, at now: Timestamp, policy: QueuePolicy
  ) -> QueueChanges? {
    nil
  }
}
