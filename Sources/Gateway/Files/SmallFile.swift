package import Model
import Synchronization

/// A small object with its content in memory, right until it is written or removed.
package final class SmallFile: Sendable {
  package let metadata: ObjectMetadata
  package let content: [UInt8]
  private let current = Atomic(true)

  init(metadata: ObjectMetadata, content: [UInt8]) {
    self.metadata = metadata
    self.content = content
  }

  /// Whether it is still what a read would give. Once false, always false.
  package var isCurrent: Bool { current.load(ordering: .acquiring) }

  func expire() { current.store(false, ordering: .releasing) }
}
