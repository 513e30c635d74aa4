import Synchronization

@testable import Standby

/// Shared objects in memory, whose calls can fail before or after their effect.
final class MemoryObjects: SharedObjects {
  enum Fault {
    case lostRequest
    case lostResponse
  }

  private struct State {
    var fixed: [String: [UInt8]] = [:]
    var registers: [String: (bytes: [UInt8], version: Int)] = [:]
    var versions = 0
    /// Calls that change something: the faults of the next ones; nil for none.
    var faults: [Fault?] = []
    var isAway = false
    var changes = 0
    var ignoresConditions = false
  }

  private let state = Mutex(State())
  let place = "memory"

  // MARK: Faults

  func fail(_ faults: [Fault?]) { state.withLock { $0.faults = faults } }

  func set(isAway: Bool) { state.withLock { $0.isAway = isAway } }

  func ignoreConditions() { state.withLock { $0.ignoresConditions = true } }

  var names: [String] { state.withLock { $0.fixed.keys.sorted() } }

  /// The number of calls that could change something.
  var changes: Int { state.withLock { $0.changes } }

  func overwrite(_ name: String, _ bytes: [UInt8]?) { state.withLock { $0.fixed[name] = bytes } }

  func fixed(_ name: String) -> [UInt8]? { state.withLock { $0.fixed[name] } }

  // MARK: Calls

  func read(_ name: String) async throws(StandbyError) -> [UInt8]? {
    try reach()
    return state.withLock { $0.fixed[name] }
  }

  func make(_ name: String, _ bytes: [UInt8]) async throws(StandbyError) -> Bool {
    try change { state in
      guard state.fixed[name] == nil || state.ignoresConditions else { return false }
      state.fixed[name] = bytes
      return true
    }
  }

  func remove(_ name: String) async throws(StandbyError) {
    try change { $0.fixed[name] = nil }
  }

  func register(_ name: String) async throws(StandbyError) -> RegisterState? {
    try reach()
    return state.withLock { state in
      state.registers[name].map { RegisterState(bytes: $0.bytes, version: "\($0.version)") }
    }
  }

  func replace(
    _ name: String, with bytes: [UInt8], after version: String?
  ) async throws(StandbyError) -> String? {
    try change { state in
      let present = state.registers[name].map { "\($0.version)" }
      guard present == version || state.ignoresConditions else { return nil }
      state.versions += 1
      state.registers[name] = (bytes, state.versions)
      return "\(state.versions)"
    }
  }

  private func reach() throws(StandbyError) {
    if state.withLock({ $0.isAway }) { throw .unavailable("away") }
  }

  private func change<Value>(_ body: (inout State) -> Value) throws(StandbyError) -> Value {
    try reach()
    let value = state.withLock { state -> Value? in
      state.changes += 1
      let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
      if fault == .lostRequest { return nil }
      let value = body(&state)
      return fault == .lostResponse ? nil : value
    }
    guard let value else { throw .unavailable("lost") }
    return value
  }
}
