import Model
import Synchronization
import Testing

@testable import Standby

struct SnapshotTransferTests {
  private let objects = MemoryObjects()
  private var store: StandbyStore { StandbyFixture.store(objects) }

  /// A database of random bytes, read in pieces.
  private final class File: Sendable {
    let bytes: [UInt8]
    private let offset = Mutex(0)

    init(count: Int) { bytes = (0..<count).map { _ in UInt8.random(in: 0...255) } }

    func next(_ count: Int) -> [UInt8] {
      offset.withLock { offset in
        let piece = Array(bytes.dropFirst(offset).prefix(count))
        offset += piece.count
        return piece
      }
    }
  }

  private func put(
    _ file: File, position: Int64, epoch: Int64 = 1, segment: Int64 = 0, at time: Int64
  ) async throws -> SnapshotIndex.Entry? {
    let draft = SnapshotTransfer.Draft(
      position: position, at: Timestamp(milliseconds: time), epoch: epoch, segment: segment,
      made: Timestamp(milliseconds: time), version: "1")
    return try await SnapshotTransfer(store).put(draft) { count throws(StandbyError) in
      file.next(count)
    }
  }

  private func get(_ entry: SnapshotIndex.Entry) async throws -> [UInt8] {
    let read = Mutex<[UInt8]>([])
    try await SnapshotTransfer(store).get(entry) { bytes throws(StandbyError) in
      read.withLock { $0 += bytes }
    }
    return read.withLock { $0 }
  }

  @Test("A snapshot of any size comes back", arguments: [0, 1, 8 << 20, (8 << 20) + 1, 20 << 20])
  func roundTrip(count: Int) async throws {
    let file = File(count: count)
    let entry = try #require(try await put(file, position: 5, at: 10))
    #expect(try await store.index().index.latest == entry)
    #expect(entry.byteCount == Int64(count))
    #expect(try await get(entry) == file.bytes)
  }

  @Test(
    "A snapshot that was cut off is not in the index, and the next attempt succeeds",
    arguments: 1...4)
  func cutUploads(step: Int) async throws {
    // Two pieces and the index.
    for fault in [MemoryObjects.Fault.lostRequest, .lostResponse] {
      objects.fail(Array(repeating: nil, count: step - 1) + [fault])
      let file = File(count: 9 << 20)
      let entry = try? await put(file, position: 5, at: 10)
      objects.fail([])
      if step <= 3 { #expect(entry == nil) }
      for named in try await store.index().index.entries {
        #expect(try await get(named).count == Int(named.byteCount))
      }
      #expect(try await put(File(count: 10), position: 6, at: 11) != nil)
    }
  }

  @Test("A snapshot of a former primary does not follow one of the next")
  func fenced() async throws {
    _ = try await put(File(count: 10), position: 5, epoch: 2, at: 10)
    #expect(try await put(File(count: 10), position: 9, epoch: 1, at: 11) == nil)
    #expect(try await store.index().index.entries.count == 1)
  }

  @Test("A piece that is missing or another one is noticed")
  func damaged() async throws {
    let entry = try #require(try await put(File(count: 9 << 20), position: 5, at: 10))
    let names = objects.names.filter { $0.hasPrefix("snapshots/") }
    #expect(names.count == 2)
    let (first, second) = (objects.fixed(names[0]), objects.fixed(names[1]))
    objects.overwrite(names[0], second)
    await #expect(throws: StandbyError.self) { try await get(entry) }
    objects.overwrite(names[0], first)
    objects.overwrite(names[1], nil)
    await #expect(throws: StandbyError.self) { try await get(entry) }
  }

  @Test(
    "Each moment since the limit can be restored, and what is before is removed, in any number of attempts"
  )
  func keeping() async throws {
    for number in 1...20 as ClosedRange<Int64> {
      _ = try await store.add(
        LogSegment(
          number: number, epoch: 1, first: number,
          commits: [.init(at: Timestamp(milliseconds: number * 10), payload: [])]))
    }
    for position in [4, 8, 12, 16] as [Int64] {
      _ = try await put(
        File(count: 10), position: position, segment: position - 1, at: position * 10)
    }
    let transfer = SnapshotTransfer(store)
    try await transfer.removeOutdated(before: Timestamp(milliseconds: 39))
    #expect(try await store.index().index.entries.count == 4)
    // Each attempt is cut off one call later.
    var attempt = 0
    while true {
      objects.fail(Array(repeating: nil, count: attempt) + [.lostResponse])
      let isDone = (try? await transfer.removeOutdated(before: Timestamp(milliseconds: 125))) != nil
      objects.fail([])
      let index = try await store.index().index
      #expect(index.entry(for: Timestamp(milliseconds: 125)) != nil)
      // Nothing that the index names is missing.
      for number in (index.floor + 1)...20 {
        #expect(try await store.segment(number) != nil, "segment \(number), attempt \(attempt)")
      }
      for entry in index.entries { #expect(try await get(entry).count == 10) }
      if isDone { break }
      attempt += 1
    }
    let index = try await store.index().index
    #expect(index.entries.map(\.position) == [12, 16])
    #expect(index.floor == 10 && index.removed == 10 && index.doomed.isEmpty)
    #expect(objects.names.filter { $0.hasPrefix("log/") }.count == 10)
    #expect(objects.names.filter { $0.hasPrefix("snapshots/") }.count == 2)
    #expect(index.entry(for: Timestamp(milliseconds: 119)) == nil)
    #expect(index.entry(for: Timestamp(milliseconds: 159))?.position == 12)
    #expect(index.entry(for: Timestamp(milliseconds: 160))?.position == 16)
  }

  @Test("A machine whose place in the log was removed does not lead from there")
  func removedPlace() async throws {
    for number in 1...6 as ClosedRange<Int64> {
      _ = try await store.add(
        LogSegment(
          number: number, epoch: 1, first: number,
          commits: [.init(at: Timestamp(milliseconds: number), payload: [])]))
    }
    let behind = try #require(try await store.segment(2))
    for position in [5, 6] as [Int64] {
      _ = try await put(File(count: 1), position: position, segment: position, at: position)
    }
    try await SnapshotTransfer(store).removeOutdated(before: Timestamp(milliseconds: 5))
    #expect(try await store.segment(3) == nil)
    let lease = try #require(
      try await StandbyFixture.taking(store, "b").take(after: nil, history: "h"))
    await #expect(throws: StandbyError.self) {
      try await StandbyFixture.taking(store, "b").fence(lease.lease, after: behind, floor: 0)
    }
  }
}
