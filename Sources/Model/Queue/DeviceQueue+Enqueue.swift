extension DeviceQueue {
  /// What becomes of an arriving mutation: appended, put in the place of one it replaces, or
  /// annihilated with the create it deletes.
  ///
  /// - Parameters:
  ///   - arriving: as ``Mutation/init`` makes it; its `expires` no later than the policy allows.
  ///   - known: the device's temporary ids that are resolved, of those it mentions.
  package func enqueuing(
    _ arriving: Mutation, known: [TemporaryID: EntityKey] = [:], at now: Timestamp,
    policy: QueuePolicy
  ) throws(EnqueueRefusal) -> EnqueueDecision {
    EnqueueDecision(changes: QueueChanges(inserted: [arriving]), mutation: arriving)
  }

  /// Arms a forced one again whose key came again (``KeyReuse/arm``).
  ///
  /// - Parameters:
  ///   - sequence: the store's next, for one that expired: it goes behind what came since.
  ///   - known: the device's temporary ids that are resolved, of those it mentions.
  package func arming(
    _ mutation: Mutation, sequence: Int64, known: [TemporaryID: EntityKey] = [:],
    at now: Timestamp, policy: QueuePolicy
  ) -> QueueChanges {
    QueueChanges()
  }
}
