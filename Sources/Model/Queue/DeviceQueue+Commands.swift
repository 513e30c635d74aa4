extension DeviceQueue {
  /// Takes back what was never sent.
  package func cancelling(_ id: MutationID) throws(CommandRefusal) -> QueueChanges {
    throw .notHeld
  }

  /// Lets a parked one go again, or ends the wait of one that backs off.
  package func retrying(
    _ id: MutationID, at now: Timestamp, policy: QueuePolicy
  ) throws(CommandRefusal) -> QueueChanges {
    throw .notHeld
  }

  /// Gives up a parked one.
  package func discarding(_ id: MutationID) throws(CommandRefusal) -> QueueChanges {
    throw .notHeld
  }

  package func pausing() -> QueueChanges { QueueChanges() }

  package func resuming() -> QueueChanges { QueueChanges() }

  /// The device presented a valid token: what waited for one goes again.
  package func authenticated(at now: Timestamp) -> QueueChanges { QueueChanges() }

  /// Ends debounce and back-off; a time that upstream named stays.
  package func flushing(at now: Timestamp) -> QueueChanges { QueueChanges() }

  /// The device's user signed out.
  package func signingOut(_ policy: SignOutPolicy) -> QueueChanges { QueueChanges() }
}
