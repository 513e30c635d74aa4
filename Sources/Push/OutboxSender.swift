/// The sender that sends nothing: a notification is kept where it was stored and is shown there.
/// For development, and for teams whose own service reads the outbox.
package struct OutboxSender: PushSender {
  package static let name = "outbox"

  package init() {}

  package var name: String { Self.name }
  /// Nothing is gained by smaller ones.
  package var userIDsMax: Int { 2_000 }

  package func send(_ batch: PushBatch) async throws(PushFault) -> PushReceipt {
    PushReceipt(remoteID: nil)
  }

  package func register(_ device: PushDevice) async throws(PushFault) -> String? { nil }

  package func unregister(_ device: PushDevice, remoteID: String?) async throws(PushFault) {}
}
