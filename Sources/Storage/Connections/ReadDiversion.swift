import GRDB
import Synchronization

/// Performs reads elsewhere than on a connection that only reads.
protocol ReadDiversion: Sendable {
  /// - Parameter deadline: nil for a read whose cost is bounded.
  func read<Output: Sendable>(
    within deadline: QueryDeadline?, _ body: @escaping @Sendable (Database) throws -> Output
  ) async throws(StorageError) -> Output
}

/// Whether any reads are diverted: asking each task would cost every read.
final class ReadDiversions: Sendable {
  /// Diverts the reads of one task.
  @TaskLocal static var current: (any ReadDiversion)?

  private let areUsed = Atomic(false)

  var isUsed: Bool { areUsed.load(ordering: .acquiring) }

  func set(isUsed: Bool) { areUsed.store(isUsed, ordering: .releasing) }

  /// Nil for a task whose reads are not diverted.
  var ofTask: (any ReadDiversion)? { isUsed ? Self.current : nil }
}
