import GRDB
import Model

/// One round of eviction over the whole store, done in steps between other writes.
///
/// Who guards it: the writer's serial queue, like all of ``WriterMemory``. It lives in memory
/// alone: a restart, or a transaction that is lost, ends the round, and the next one begins anew.
final class EvictionPass {
  /// What comes next. A phase ends when it has seen all its rows.
  enum Phase: Equatable {
    /// Results that nothing serves go; the others are marked.
    case results(after: Int64)
    /// What results lead to is marked.
    case tracing
    /// Adds up the ages of entities that are not marked.
    case census(table: Int, after: Int64)
    /// Entities go that are not marked and old enough.
    case sweep(table: Int, after: Int64)
    /// Deletions go that everybody has had time to hear of.
    case tombstones(after: TombstoneSweep.Place)
    /// Invalidations go that no result is older than.
    case invalidations(after: InvalidationSweep.Place)
    case finished
  }

  let database: Database
  let memory: WriterMemory
  let tables: [EvictionTable]
  let tablesByType: [String: EvictionTable]
  /// Types that clients write: nobody could bring their entities back.
  let localTypes: Set<Int64>
  /// When the round began: ages are reckoned from here in all its steps.
  let now: Timestamp
  /// No call below this can still write.
  let horizon: Int64
  var phase = Phase.results(after: 0)
  /// Nil where no entity need go.
  var marks: ReachabilityMarks?
  /// References that were read but whose rows are not marked yet: those of one row at a time.
  var unresolved: [EntityKey] = []
  /// Entities with more private rows than were marked so far, and the scope of the last of those.
  var widening: [(table: EvictionTable, key: String, after: Int64)] = []
  var ages = EvictionAges()
  var cut = EvictionCut(oldest: 0, allowance: 0)
  /// The least call number of any result that stays.
  var oldestCall: Int64
  var work = EvictionWork()
  var report = EvictionReport()

  init(
    _ database: Database, _ memory: WriterMemory, _ catalogue: TypeCatalogue, now: Timestamp,
    isOverBudget: Bool
  ) throws {
    self.database = database
    self.memory = memory
    self.now = now
    horizon = memory.horizon
    oldestCall = memory.horizon
    marks = isOverBudget ? ReachabilityMarks() : nil
    localTypes = try LocalRecord.types(database)
    tables = catalogue.all.map(EvictionTable.init)
    tablesByType = Dictionary(uniqueKeysWithValues: tables.map { ($0.table.type, $0) })
  }

  /// One step: until the work is spent or the round is over.
  func step(
    _ policy: EvictionPolicy, at time: Timestamp, work: EvictionWork
  ) throws -> EvictionReport {
    report = EvictionReport()
    self.work = work
    while !self.work.isSpent, phase != .finished {
      // Whatever was written since the last step is looked into before anything goes.
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
      try sweepTombstones(after: last, olderThan: deadline)
    case .invalidations(let last): try sweepInvalidations(after: last)
    case .finished: return
    }
  }

  /// Results alone may have been enough.
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

  /// Bytes of the pages that hold something. Free pages inside the file are used again.
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
