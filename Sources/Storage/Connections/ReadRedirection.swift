import GRDB
import Synchronization

/// Reads that do not run on a reader's own connection.
protocol RedirectedReads: Sendable {
  /// - Parameter deadline: nil for no limit.
  func read<Output: Sendable>(
    within deadline: QueryDeadline?, _ body: @escaping @Sendable (Database) throws -> Output
  ) async throws(StorageError) -> Output
}

/// Where the reads of a task run instead of on the readers' connections.
final class ReadRedirection: Sendable {
  @TaskLocal static var target: (any RedirectedReads)?

  private let isUsed = Atomic(false)

  /// Sets whether any task's reads can be redirected: as long as not, readers do not look.
  func use(_ isUsed: Bool) { self.isUsed.store(isUsed, ordering: .releasing) }

  var isOff: Bool { !isUsed.load(ordering: .acquiring) }

  /// The target of this task's reads; nil for the readers' own connections.
  var current: (any RedirectedReads)? { isOff ? nil : Self.target }
}
