import GRDB
import Model

/// One eviction pass over the whole store, performed in steps between other writes.
///
/// Synchronisation: the writer's serial queue, like all of ``WriterMemory``. The pass lives in memory only:
/// a restart or a lost transaction ends it, and the next pass starts from the beginning.
final class EvictionPass {
  /// The next work of the pass. A phase ends after all its rows.
  enum Phase: Equatable {
    /// Removes results that no window serves; marks the others.
    case results(after: Int64)
    /// Marks everything reachable from results.
    case tracing
    /// Adds up unmarked entities by age.
    case census(table: Int, after: Int64)
    /// Removes unmarked entities that are old enough.
    case sweep(table: Int, after: Int64)
    /// Removes tombstones older than their age limit.
    case tombstones(after: TombstoneSweep.Place)
    /// Removes invalidations older than all results.
    case invalidations(after: InvalidationSweep.Place)
    case finished
  }

  let database: Database
  let memory: WriterMemory
  let catalogue: TypeCatalogue
  let tables: [EvictionTable]
  let tablesByType: [String: EvictionTable]
  /// Types that clients write: their entities cannot be fetched again.
  let localTypes: Set<Int64>
  /// The start of the pass; all its steps compute ages from it.
  let now: Timestamp
  /// No call below this can still write.
  let horizon: Int64
  var phase = Phase.results(after: 0)
  /// Nil if no entity has to be evicted.
  var marks: ReachabilityMarks?
  /// References of the row read last whose rows are not marked yet.
  var unresolved: [EntityKey] = []
  /// Entities with unmarked private rows, and the scope of the private row marked last.
  var widening: [(table: EvictionTable, key: String, after: Int64)] = []
  var ages = EvictionAges()
  var cut = EvictionCut(oldest: 0, allowance: 0)
  /// The lowest call number of the results that stay.
  var oldestCall: Int64
  /// See ``EvictionPolicy/keepLocal``.
  var keepLocal: [String: Duration] = [:]
  var work = EvictionWork()
  var report = EvictionReport()

  init(
    _ database: Database, _ memory: WriterMemory, _ catalogue: TypeCatalogue, now: Timestamp,
    isOverBudget: Bool
  ) throws {
    self.database = database
    self.memory = memory
    self.catalogue = catalogue
    self.now = now
    horizon = memory.horizon
    oldestCall = memory.horizon
    marks = isOverBudget ? ReachabilityMarks() : nil
    localTypes = try LocalRecord.types(database)
    tables = catalogue.all.map(EvictionTable.init)
    tablesByType = Dictionary(uniqueKeysWithValues: tables.map { ($0.table.type, $0) })
  }

  /// Performs one step, which ends when its work is spent or the pass is over.
  func step(
    _ policy: EvictionPolicy, at time: Timestamp, work: EvictionWork
  ) throws -> EvictionReport {
    report = EvictionReport()
    self.work = work
    while !self.work.isSpent, phase != .finished {
      // References written since the last step are followed before anything is removed.
      if isTracing {
        try trace()
      } else {
        try advance(policy, at: time)
      }
    }
    report.bytesUsed = try Self.bytesUsed(database)
    report.hasMore = phase != .finished
    return report
  }

  private func advance(_ policy: EvictionPolicy, at time: Timestamp) throws {
    switch phase {
    case .results(let last): try sweepResults(after: last, policy, at: time)
    case .tracing: try endTracing(policy)
    case .census(let table, let last): try count(table, after: last, policy)
    case .sweep(let table, let last): try sweep(table, after: last)
    case .tombstones(let last):
      let deadline = time.advanced(by: .zero - policy.tombstoneAge)
      keepLocal = policy.keepLocal
      try sweepTombstones(after: last, olderThan: deadline)
    case .invalidations(let last): try sweepInvalidations(after: last)
    case .finished: return
    }
  }

  /// Skips entities if removing results has freed enough.
  private func endTracing(_ policy: EvictionPolicy) throws {
    let isOver = try Self.bytesUsed(database) > policy.bytesMax
    if isOver, marks != nil {
      phase = .census(table: 0, after: 0)
    } else {
      endEntities()
    }
  }

  func endEntities() {
    marks = nil
    phase = .firstOfTombstones
  }

  /// Returns the bytes of the pages in use; free pages inside the file are reused.
  static func bytesUsed(_ database: Database) throws -> Int {
    func number(_ pragma: String) throws -> Int64 {
      let statement = try PreparedStatement(database, "PRAGMA \(pragma)")
      defer { statement.reset() }
      return try statement.step() ? statement.int64(0) : 0
    }
    let pages = try number("page_count") - number("freelist_count")
    return Int(try pages * number("page_size"))
  }
}
