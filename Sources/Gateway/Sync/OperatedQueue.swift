package import LosslessJSON
import Model
import SyncScheduler

/// A device's queue as operators see it.
package struct OperatedQueue: Sendable {
  package let device: String
  let status: QueueStatus
  /// The numbers of parked mutations by reason.
  let reasons: [SettleReason: Int]

  /// `{"device","pending","parked","state"}`, with `parkedReasons` where any are parked.
  package var json: JSONValue {
    var members = [JSONMember("device", .string(device))] + (status.json.members ?? [])
    if !reasons.isEmpty {
      let counts = reasons.sorted { $0.key.rawValue < $1.key.rawValue }
      members.append(
        JSONMember(
          "parkedReasons",
          .object(counts.map { JSONMember($0.key.rawValue, .number(JSONNumber($0.value))) })))
    }
    return .object(members)
  }
}
