import Foundation
import GRDB
import Model
import TestSupport

@testable import Storage

/// The real store over a real folder, and what may come in the way of a command: a commit that is
/// refused, a process that ends before, after or in the middle of one.
struct FaultyStore {
  enum Circumstance: CaseIterable {
    /// Somebody reads all the while.
    case watched
    /// The disk is full at the end of the transaction.
    case refused
    case killedBefore
    case killedAfter
    /// The log ends somewhere in what the command wrote.
    case torn
    /// The process ends in good order, and its answer is lost all the same.
    case closedAfter
  }

  /// How a command ended.
  enum End<Answer> {
    case answered(Answer)
    /// Nothing of it is stored, and the process goes on.
    case refused
    /// The store was opened anew.
    ///
    /// - Parameter unheard: what it said and nobody heard; nil where nothing of it is stored.
    case died(unheard: Answer?)

    /// What the store said, whether or not somebody heard it.
    var said: Answer? {
      switch self {
      case .answered(let answer): answer
      case .refused: nil
      case .died(let unheard): unheard
      }
    }

    var isHeard: Bool { if case .answered = self { true } else { false } }
  }

  private(set) var folder: TemporaryFolder
  private(set) var fixture: StoreFixture
  /// What broke a rule that holds for every command.
  private(set) var fault: String?
  private var failpoint = CommitFailpoint()
  private(set) var starts: UInt64 = 1

  var store: Store { fixture.store }

  init() async throws {
    folder = TemporaryFolder()
    fixture = try StoreFixture(folder, segment: starts)
    try await watchCommits()
  }

  mutating func perform<Answer>(
    in circumstance: Circumstance?, using generator: inout SeededGenerator,
    _ command: (Store) async throws -> Answer
  ) async throws -> End<Answer> {
    guard let circumstance else { return .answered(try await committing(command)) }
    let before = try await StoreImage(of: folder)
    switch circumstance {
    case .watched: return .answered(try await watching(command, before))
    case .refused: return try await refusing(command, before)
    case .killedBefore:
      try await kill()
      try await expect(before, "without any command")
      return .died(unheard: nil)
    case .killedAfter:
      let unheard = try await committing(command)
      let after = try await StoreImage(of: folder)
      try await kill()
      try await expect(after, "after a commit")
      return .died(unheard: unheard)
    case .torn:
      let length = logLength
      let unheard = try await committing(command)
      // Where the log did not grow, it began anew: there is no telling what a cut would take.
      guard logLength > length else {
        try await kill()
        return .died(unheard: unheard)
      }
      try await kill(cuttingLogAt: Int.random(in: length..<logLength, using: &generator))
      try await expect(before, "in the middle of a commit")
      return .died(unheard: nil)
    case .closedAfter:
      let unheard = try await committing(command)
      try await close()
      return .died(unheard: unheard)
    }
  }

  /// Ends the process in good order, and starts it again.
  mutating func close() async throws {
    store.close()
    try await open(folder)
  }

  /// What a kill leaves are the files as they are: the store opens over a copy of them.
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

  /// A command is one transaction, or, where the store throws it back, none.
  private mutating func committing<Answer>(
    _ command: (Store) async throws -> Answer
  ) async throws -> Answer {
    let before = failpoint.commitCount
    let answer = try await command(store)
    let count = failpoint.commitCount - before
    if count > 1 { note("4: one command is \(count) transactions") }
    return answer
  }

  /// Whoever reads meanwhile sees all of a command or nothing.
  private mutating func watching<Answer>(
    _ command: (Store) async throws -> Answer, _ before: StoreImage
  ) async throws -> Answer {
    let watcher = Task { [folder] in
      var seen: [StoreImage] = []
      while !Task.isCancelled, let image = try? await StoreImage(of: folder) {
        seen.append(image)
      }
      return seen
    }
    defer { watcher.cancel() }
    let answer = try await committing(command)
    watcher.cancel()
    let after = try await StoreImage(of: folder)
    for image in await watcher.value where image != before && image != after {
      note("4: a reader sees half of it:\n  \(image.difference(from: before))")
    }
    return answer
  }

  private mutating func refusing<Answer>(
    _ command: (Store) async throws -> Answer, _ before: StoreImage
  ) async throws -> End<Answer> {
    failpoint.arm()
    do {
      let answer = try await command(store)
      if !failpoint.disarm() { note("1: a refused commit was answered for") }
      return .answered(answer)
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
