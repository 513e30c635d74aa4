/// Who brings notifications to devices.
///
/// Everything may be asked again: a batch under its key, a device by its token.
package protocol PushSender: Sendable {
  /// As in settings. What another sender was told of a device says nothing to this one.
  var name: String { get }
  /// Ids of one batch at most.
  var userIDsMax: Int { get }

  func send(_ batch: PushBatch) async throws(PushFault) -> PushReceipt

  /// Ties a device to its user, and from any other user that it was tied to.
  ///
  /// - Returns: the sender's own name of the device, for ``unregister(_:remoteID:)``; nil where it
  ///   has none.
  func register(_ device: PushDevice) async throws(PushFault) -> String?

  /// The user is not reached on the device any more. A device that is not known is no fault.
  func unregister(_ device: PushDevice, remoteID: String?) async throws(PushFault)
}
