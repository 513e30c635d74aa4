package import Model
import Synchronization

/// In-memory cache of small objects.
///
/// Only for a store that no other service writes to: every write removes the object here before it
/// begins and after it ends. A read in progress in the meantime caches nothing, since it may have
/// read the old content.
package final class SmallFiles: Sendable {
  /// The size limit; larger objects are sent by the kernel as cheaply.
  static let contentBytesMax = 16 * 1024
  /// Approximate memory per object in addition to its content.
  private static let overheadBytes = 1024
  /// The number of groups of addresses that writes are counted by.
  private static let groupCount = 256

  /// The number of writes when a read began.
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

  /// - Parameter bytesMax: the cache's size; beyond it the cache is emptied.
  package init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  func ticket(for address: ObjectAddress) -> Ticket {
    state.withLock { Ticket(writes: $0.writes[Self.group(of: address)]) }
  }

  func find(_ address: ObjectAddress) -> SmallFile? {
    state.withLock { $0.files[address] }
  }

  /// - Returns: nil if the object was written since the ticket was made, or is too large.
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

  /// Removes an object that is about to be written or removed, or has just been.
  func forget(_ address: ObjectAddress) {
    state.withLock { state in
      state.writes[Self.group(of: address)] += 1
      guard let file = state.files.removeValue(forKey: address) else { return }
      file.expire()
      state.bytes -= file.content.count + Self.overheadBytes
    }
  }

  /// Removes all objects, because the log has changed some.
  package func forgetAll() {
    state.withLock { state in
      for index in state.writes.indices { state.writes[index] += 1 }
      for file in state.files.values { file.expire() }
      state.files = [:]
      state.bytes = 0
    }
  }

  private static func group(of address: ObjectAddress) -> Int {
    Int(bitPattern: address.hashValue.magnitude % UInt(groupCount))
  }
}

/// A small object cached in memory, valid until it is written or removed.
package final class SmallFile: Sendable {
  package let metadata: ObjectMetadata
  package let content: [UInt8]
  private let current = Atomic(true)

  init(metadata: ObjectMetadata, content: [UInt8]) {
    self.metadata = metadata
    self.content = content
  }

  /// Whether the content is still current. Once false, always false.
  package var isCurrent: Bool { current.load(ordering: .acquiring) }

  func expire() { current.store(false, ordering: .releasing) }
}
