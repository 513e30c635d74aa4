extension DeviceQueue {
  /// What the passing of time ends: forced ones never sent by their deadline expire, items past
  /// their `expires` are parked, answers too late count as lost.
  package func lapses(
    at now: Timestamp, policy: QueuePolicy, using random: inout some RandomNumberGenerator
  ) -> QueueChanges {
    QueueChanges()
  }

  /// What a start of the server makes of what was stored: in flight under another boot is sent and
  /// not answered; waits beyond the longest there is are cut, lest a clock set back stall them.
  package func recovering(
    boot: String, at now: Timestamp, policy: QueuePolicy,
    using random: inout some RandomNumberGenerator
  ) -> QueueChanges {
    QueueChanges()
  }
}
