package import Model
import Synchronization

/// Which entities lie under what the queue of which device is expected to do.
///
/// In memory, so that reads by all others need not ask: a device without overlays costs them one
/// look-up, a caller without a device nothing. Told of each commit before whoever wrote it resumes;
/// so a device that was told that its change is taken finds it here.
package final class OverlaidEntities: Sendable {
  private struct State {
    var devices: [String: Set<EntityKey>] = [:]
    /// How often the overlays of devices came, went or became others, in slots that devices share.
    /// A device that shares its slot looks once too often, never too seldom; and however many devices
    /// there were, this takes no more room.
    var versions = [UInt64](repeating: 0, count: slotsMax)
  }

  private static let slotsMax = 4_096

  private let state = Mutex(State())
  private let isUsed = Atomic(false)

  /// - Parameter laid: what the store holds.
  package init(_ laid: [CommitReport.Overlay] = []) {
    note(laid)
  }

  package func note(_ report: CommitReport) {
    guard isUsed.load(ordering: .relaxed) || !report.overlays.isEmpty else { return }
    note(report.overlays)
    noteChanges(report.changes)
  }

  /// Nil where there are none.
  func entities(of device: String) -> Set<EntityKey>? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    return state.withLock { $0.devices[device] }
  }

  /// Another number once an overlay of the device has come, gone or become another.
  func version(of device: String) -> UInt64 {
    guard isUsed.load(ordering: .acquiring) else { return 0 }
    return state.withLock { $0.versions[Self.slot(of: device)] }
  }

  private func note(_ overlays: [CommitReport.Overlay]) {
    guard !overlays.isEmpty else { return }
    state.withLock { state in
      for overlay in overlays {
        state.versions[Self.slot(of: overlay.device)] &+= 1
        if overlay.isLaid {
          state.devices[overlay.device, default: []].insert(overlay.key)
        } else {
          state.devices[overlay.device]?.remove(overlay.key)
          if state.devices[overlay.device]?.isEmpty == true { state.devices[overlay.device] = nil }
        }
      }
    }
    isUsed.store(true, ordering: .releasing)
  }

  /// One more change over an entity that lies under overlays already.
  private func noteChanges(_ changes: [CommitReport.Change]) {
    guard changes.contains(where: { $0.scope.kind == .device }) else { return }
    state.withLock { state in
      for change in changes where change.scope.kind == .device {
        guard state.devices[change.scope.subject]?.contains(change.key) == true else { continue }
        state.versions[Self.slot(of: change.scope.subject)] &+= 1
      }
    }
  }

  private static func slot(of device: String) -> Int {
    Int(UInt(bitPattern: device.hashValue) % UInt(slotsMax))
  }
}
