import Cryptography
import LosslessJSON
import Model
import Push
import Storage

/// Makes what the outbox takes: the receivers cut into batches of the sender's size, each with a key
/// of its own.
struct NotificationMaker: Sendable {
  let userIDsMax: Int
  let surroundings: PushEnvironment
  let makeID: @Sendable () -> String

  /// - Parameters:
  ///   - origin: who asks; keys are each one's own.
  ///   - content: what another notification under the same key would differ in.
  func arrival(
    of message: PushMessage, to userIDs: [String], origin: String, key: String, content: String
  ) throws(Failure) -> NotificationArrival {
    guard let fingerprint = PayloadFingerprint(SHA256.hash(data: Array(content.utf8)).map(\.self))
    else { throw Failure(.internal, "The notification cannot be told from others.") }
    let now = surroundings.now
    let starts = stride(from: 0, to: userIDs.count, by: userIDsMax)
    return NotificationArrival(
      id: "n_\(makeID())", origin: origin, key: key, fingerprint: fingerprint,
      message: message.json.bytes,
      batches: starts.map { start in
        let ids = userIDs[start..<min(start + userIDsMax, userIDs.count)]
        return NotificationArrival.Batch(
          key: surroundings.makeUUID(), userIDs: Self.json(ids), count: ids.count)
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
