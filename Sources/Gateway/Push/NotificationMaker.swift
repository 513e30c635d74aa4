import Cryptography
import LosslessJSON
import Model
import Storage

/// Builds the outbox entry of a notification: the receivers split into batches of the sender's
/// size, each with its own key.
struct NotificationMaker: Sendable {
  let userIDsMax: Int
  let environment: PushEnvironment
  let makeID: @Sendable () -> String

  /// - Parameters:
  ///   - origin: the sender of the notification, which idempotency keys are scoped to.
  ///   - content: the canonical request; a replay with other content is refused.
  func arrival(
    of message: PushMessage, to userIDs: [String], origin: String, key: String, content: String
  ) throws(Failure) -> NewNotification {
    guard let fingerprint = PayloadFingerprint(SHA256.hash(data: Array(content.utf8)).map(\.self))
    else { throw Failure(.internal, "The notification's fingerprint could not be computed.") }
    let now = environment.now
    let starts = stride(from: 0, to: userIDs.count, by: userIDsMax)
    return NewNotification(
      id: "n_\(makeID())", origin: origin, key: key, fingerprint: fingerprint,
      message: message.json.bytes,
      batches: starts.map { start in
        let ids = userIDs[start..<min(start + userIDsMax, userIDs.count)]
        return NewNotification.Batch(
          key: environment.makeUUID(), userIDs: Self.json(ids), count: ids.count)
      }, created: now, expires: now.advanced(by: DeliveryPolicy.lifetime))
  }

  private static func json(_ userIDs: ArraySlice<String>) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for id in userIDs { writer.string(id) }
    writer.endArray()
    return writer.bytes
  }
}
