import Foundation
import GRDB
import Model
import Synchronization
import TestSupport

@testable import Storage

/// The real store over a real folder, and the faults that can hit a command: a refused commit, or a
/// process that ends before, after or in the middle of one.
struct FaultyStore {
  enum Circumstance: CaseIterable {
    /// A reader reads continuously.
    case watched
    /// The disk is full at the end of the transaction.
    case refused
    case killedBefore
    case killedAfter
    /// The log ends somewhere inside the command's frames.
    case torn
    /// The process ends cleanly, and its result is lost all the same.
    case closedAfter
  }

  /// How a command ended.
  enum End<Output> {
    case answered(Output)
    /// Nothing of it is stored, and the process goes on.
    case refused
    /// The store was reopened.
    ///
    /// - Parameter lostResult: the result that was not delivered; nil if nothing of the command is
    ///   stored.
    case died(lostResult: Output?)

    /// The store's result, whether or not it was delivered.
    var result: Output? {
      switch self {
      case .answered(let output): output
      case .refused: nil
      case .died(let lostResult): lostResult
      }
    }

    var isDelivered: Bool { if case .answered = self { true } else { false } }
  }

  private(set) var folder: TemporaryFolder
  private(set) var fixture: StoreFixture
  /// The violation of a rule that holds for every command, if any.
  private(set) var fault: String?
  private var failpoint = CommitFailpoint()
  private(set) var starts: UInt64 = 1

  var store: Store { fixture.store }

  init() async throws {
    folder = TemporaryFolder()
    fixture = try StoreFixture(folder, segment: starts)
    try await watchCommits()
  }

  mutating func perform<Output>(
    in circumstance: Circumstance?, using generator: inout SeededGenerator,
    _ command: (Store) async throws -> Output
  ) async throws -> End<Output> {
    guard let circumstance else { return .answered(try await committing(command)) }
    let before = try await StoreImage(of: folder)
    switch circumstance {
    case .watched: return .answered(try await watching(command, before))
    case .refused: return try await refusing(command, before)
    case .killedBefore:
      try await kill()
      try await expect(before, "without any command")
      return .died(lostResult: nil)
    case .killedAfter:
      let lostResult = try await committing(command)
      let after = try await StoreImage(of: folder)
      try await kill()
      try await expect(after, "after a commit")
      return .died(lostResult: lostResult)
    case .torn:
      let length = logLength
      let lostResult = try await committing(command)
      // If the log did not grow, it was restarted: a cut would remove unknown frames.
      guard logLength > length else {
        try await kill()
        return .died(lostResult: lostResult)
      }
      try await kill(cuttingLogAt: Int.random(in: length..<logLength, using: &generator))
      try await expect(before, "in the middle of a commit")
      return .died(lostResult: nil)
    case .closedAfter:
      let lostResult = try await committing(command)
      try await close()
      return .died(lostResult: lostResult)
    }
  }

  /// Ends the process cleanly and starts it again.
  mutating func close() async throws {
    store.close()
    try await open(folder)
  }

  /// Simulates a kill, which leaves the files as they are: the store opens over a copy of them.
  mutating func kill(cuttingLogAt length: Int? = nil) async throws {
    let copy = TemporaryFolder()
    let files = FileManager.default
    try files.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
    for suffix in ["", "-wal"] where files.fileExists(atPath: folder.databasePath + suffix) {
      try files.copyItem(
        atPath: folder.databasePath + suffix, toPath: copy.databasePath + suffix)
    }
    if let length {
      let log = try FileHandle(forWritingTo: URL(filePath: copy.databasePath + "-wal"))
      try log.truncate(atOffset: UInt64(length))
      try log.close()
    }
    store.close()
    try await open(copy)
  }

  // MARK: Pieces

  /// A command is one transaction, or none if the store throws.
  private mutating func committing<Output>(
    _ command: (Store) async throws -> Output
  ) async throws -> Output {
    let before = failpoint.commitCount
    let output = try await command(store)
    let count = failpoint.commitCount - before
    if count > 1 { note("4: one command is \(count) transactions") }
    return output
  }

  /// A concurrent reader sees all of a command or nothing.
  private mutating func watching<Output>(
    _ command: (Store) async throws -> Output, _ before: StoreImage
  ) async throws -> Output {
    let watcher = Task { [folder] in
      var seen: [StoreImage] = []
      while !Task.isCancelled, let image = try? await StoreImage(of: folder) {
        seen.append(image)
      }
      return seen
    }
    defer { watcher.cancel() }
    let output = try await committing(command)
    watcher.cancel()
    let after = try await StoreImage(of: folder)
    for image in await watcher.value where image != before && image != after {
      note("4: a reader sees half of it:\n  \(image.difference(from: before))")
    }
    return output
  }

  private mutating func refusing<Output>(
    _ command: (Store) async throws -> Output, _ before: StoreImage
  ) async throws -> End<Output> {
    failpoint.arm()
    do {
      let output = try await command(store)
      if !failpoint.disarm() { note("1: a refused commit was reported as successful") }
      return .answered(output)
    } catch let error as StorageError where error == .full {
      try await expect(before, "after a refused commit")
      return .refused
    }
  }

  private mutating func expect(_ before: StoreImage, _ moment: String) async throws {
    let now = try await StoreImage(of: folder)
    guard now != before else { return }
    note("4: the store is another \(moment):\n  \(now.difference(from: before))")
  }

  private mutating func note(_ text: String) {
    fault = fault ?? text
  }

  private mutating func open(_ folder: TemporaryFolder) async throws {
    starts += 1
    fixture = try StoreFixture(folder, segment: starts)
    self.folder = folder
    failpoint = CommitFailpoint()
    try await watchCommits()
  }

  private func watchCommits() async throws {
    try await store.writer.write { [failpoint] database, _ in
      database.add(transactionObserver: failpoint, extent: .databaseLifetime)
    }
  }

  private var logLength: Int {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: folder.databasePath + "-wal")
    return attributes?[.size] as? Int ?? 0
  }
}

/// Observes the writer's connection: counts commits and, when armed, refuses the next one as a full
/// disk does.
final class CommitFailpoint: TransactionObserver, Sendable {
  private struct State {
    var commitCount = 0
    var isArmed = false
  }

  private let state = Mutex(State())

  var commitCount: Int { state.withLock { $0.commitCount } }

  func arm() { state.withLock { $0.isArmed = true } }

  /// - Returns: whether it was still armed: there was nothing to commit.
  func disarm() -> Bool {
    state.withLock { state in
      defer { state.isArmed = false }
      return state.isArmed
    }
  }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseWillCommit() throws {
    if disarm() { throw DatabaseError(resultCode: .SQLITE_FULL) }
  }

  func databaseDidCommit(_ db: Database) { state.withLock { $0.commitCount += 1 } }

  func databaseDidRollback(_ db: Database) {}
}
