import Model
import Testing

@testable import Standby

struct LogSearchTests {
  @Test(
    "The last segment and the one of a position are found in a log of any length", arguments: 0...40
  )
  func finds(count: Int) async throws {
    let store = StandbyFixture.store(MemoryObjects())
    var position: Int64 = 0
    for number in stride(from: 1, through: count, by: 1) {
      // Some have no commits.
      let commits = (0..<(number % 4)).map { _ in
        LogSegment.Commit(at: Timestamp(milliseconds: 0), payload: [UInt8(number)])
      }
      let segment = LogSegment(
        number: Int64(number), epoch: 1, first: position + 1, commits: commits)
      #expect(try await store.add(segment) == .added)
      #expect(try await store.add(segment) == .added)
      position = segment.last
    }
    let search = LogSearch(store)
    for floor in stride(from: 0, through: Int64(count), by: 1) {
      let last = try await search.last(after: floor)
      #expect(last?.number == (floor == Int64(count) ? nil : Int64(count)))
    }
    guard let last = try await search.last(after: 0) else {
      #expect(count == 0)
      return
    }
    #expect(try await search.first(reaching: position + 1, after: 0, upTo: last) == nil)
    for wanted in stride(from: 1, through: position, by: 1) {
      let found = try #require(try await search.first(reaching: wanted, after: 0, upTo: last))
      #expect(found.first <= wanted && found.last >= wanted && !found.commits.isEmpty)
    }
  }

  @Test("A search reads few segments")
  func isQuick() async throws {
    let objects = MemoryObjects()
    let store = StandbyFixture.store(objects)
    for number in 1...1_000 as ClosedRange<Int64> {
      _ = try await store.add(
        LogSegment(
          number: number, epoch: 1, first: number,
          commits: [.init(at: Timestamp(milliseconds: 0), payload: [])]))
    }
    let last = try #require(try await LogSearch(store).last(after: 0))
    #expect(last.number == 1_000)
    let found = try await LogSearch(store).first(reaching: 617, after: 0, upTo: last)
    #expect(found?.number == 617)
  }

  @Test("Another segment of the same number is reported, with what is there")
  func refusesSecond() async throws {
    let store = StandbyFixture.store(MemoryObjects())
    let first = LogSegment(number: 1, epoch: 1, first: 1, commits: [])
    let second = LogSegment(number: 1, epoch: 2, first: 1, commits: [])
    #expect(try await store.add(first) == .added)
    #expect(try await store.add(second) == .taken(first))
  }
}
