import Model
import Synchronization

/// Small objects that were read, kept in memory for those who read them next.
///
/// Only for a store that nobody else writes to: every write drops the object before it begins and
/// again when it is over. A read that was under way meanwhile keeps nothing, since it may have seen
/// what was before.
package final class SmallFiles: Sendable {
  /// Larger ones are sent by the kernel as cheaply.
  package static let contentBytesMax = 16 * 1024
  /// Roughly what an object takes beside its content.
  private static let overheadBytes = 1024
  /// Writes are counted by so many groups of addresses.
  private static let groupCount = 256

  /// Says what had been written when a read began.
  struct Ticket: Sendable {
    fileprivate let writes: Int
  }

  private struct State {
    var files: [ObjectAddress: SmallFile] = [:]
    var bytes = 0
    var writes = [Int](repeating: 0, count: groupCount)
  }

  private let bytesMax: Int
  private let state = Mutex(State())

  /// - Parameter bytesMax: of all of them; past it they are dropped and gather anew.
  package init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  func ticket(for address: ObjectAddress) -> Ticket {
    state.withLock { Ticket(writes: $0.writes[Self.group(of: address)]) }
  }

  func find(_ address: ObjectAddress) -> SmallFile? {
    state.withLock { $0.files[address] }
  }

  /// - Returns: nil where the object has been written since the ticket, or is too large.
  func keep(
    _ metadata: ObjectMetadata, _ content: [UInt8], at address: ObjectAddress, since ticket: Ticket
  ) -> SmallFile? {
    guard content.count <= Self.contentBytesMax else { return nil }
    return state.withLock { state in
      guard state.writes[Self.group(of: address)] == ticket.writes else { return nil }
      let file = SmallFile(metadata: metadata, content: content)
      let cost = content.count + Self.overheadBytes
      if state.bytes + cost > bytesMax {
        for dropped in state.files.values { dropped.expire() }
        state.files = [:]
        state.bytes = 0
      }
      if let before = state.files.updateValue(file, forKey: address) {
        before.expire()
        state.bytes -= before.content.count + Self.overheadBytes
      }
      state.bytes += cost
      return file
    }
  }

  /// The object is written or removed, or has just been.
  func forget(_ address: ObjectAddress) {
    state.withLock { state in
      state.writes[Self.group(of: address)] += 1
      guard let file = state.files.removeValue(forKey: address) else { return }
      file.expire()
      state.bytes -= file.content.count + Self.overheadBytes
    }
  }

  private static func group(of address: ObjectAddress) -> Int {
    Int(bitPattern: address.hashValue.magnitude % UInt(groupCount))
  }
}
