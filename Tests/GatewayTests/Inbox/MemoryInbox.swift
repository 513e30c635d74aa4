import Gateway
import Synchronization
import TestSupport

/// The inbox of a cluster in memory, as its protocol promises it.
final class MemoryInbox: MutationInbox {
  struct State {
    var rows: [InboxRow] = []
    var last: Int64 = 0
    var hasLeader = false
    /// Whether calls fail.
    var isAway = false
    /// Whether entries stay although they are removed.
    var keepsRows = false
    /// Whether the node has applied what the log has.
    var isCaughtUp = true
    var additions = 0
  }

  let state = Mutex(State())

  var hasLeader: Bool { state.withLock { $0.hasLeader } }
  var rows: [InboxRow] { state.withLock { $0.rows } }

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  private func reached<Value>(_ body: (inout State) -> Value) throws(InboxOutage) -> Value {
    let value = state.withLock { $0.isAway ? nil : body(&$0) }
    guard let value else { throw InboxOutage(cause: "away") }
    return value
  }

  func add(
    device: String, key: String, body: [UInt8]
  ) async throws(InboxOutage) -> InboxAddition {
    try reached { state in
      if let known = state.rows.first(where: { $0.device == device && $0.key == key }) {
        return InboxAddition(number: known.number, isNew: false)
      }
      state.additions += 1
      // Numbers can be missing.
      state.last += 2
      state.rows.append(
        InboxRow(number: state.last, device: device, key: key, body: body, age: .zero))
      return InboxAddition(number: state.last, isNew: true)
    }
  }

  func entries(after number: Int64, limit: Int) async throws(InboxOutage) -> [InboxRow] {
    try reached { Array($0.rows.filter { $0.number > number }.prefix(limit)) }
  }

  func entries(of device: String) async throws(InboxOutage) -> [InboxRow] {
    try reached { $0.rows.filter { $0.device == device } }
  }

  func remove(_ numbers: [Int64]) async throws(InboxOutage) {
    try reached { state in
      if !state.keepsRows { state.rows.removeAll { numbers.contains($0.number) } }
    }
  }

  func wait(after number: Int64, atMost limit: Duration) async { await pauseBetweenLooks() }

  func catchUp(within limit: Duration) async throws(InboxOutage) -> Bool {
    try reached { $0.isCaughtUp }
  }
}
