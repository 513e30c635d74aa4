import Model
import Storage
import Testing

@testable import Gateway

/// A quiet live stream: it sends heartbeats and reads nothing.
@Suite(.timeLimit(.minutes(10))) struct ChangeStreamTests {
  private static let comment = ":\n\n"

  @Test("A quiet stream sends a comment on each heartbeat")
  func sendsCommentOnHeartbeat() async throws {
    let films = try FilmFeed()
    let stream = try await films.stream()
    var durations = films.heartbeats.durations.makeAsyncIterator()
    for _ in 0..<9 {
      #expect(await durations.next() == .seconds(15))
      films.heartbeats.fire()
      // The client has the current cursor already, so it gets no bookmark.
      #expect(try await FilmFeed.frame(of: stream) == Self.comment)
    }
  }

  /// Changes outside the filter move the stream's position, which is reported at most every minute.
  @Test("A stream whose position has moved sends a bookmark at most every fourth heartbeat")
  func sendsBookmarkEveryFourthHeartbeat() async throws {
    let films = try FilmFeed()
    let stream = try await films.stream(ChangeFilter(operations: [.delete]))
    var said: [String] = []
    for beat in 0..<16 {
      try await films.write("\(beat)", title: "T")
      films.heartbeats.fire()
      said.append(try await FilmFeed.frame(of: stream))
    }
    let marks = said.indices.filter { said[$0].contains("event: bookmark") }
    #expect(marks.count >= 3, "\(said)")
    #expect(zip(marks, marks.dropFirst()).allSatisfy { $1 - $0 >= 4 }, "\(marks)")
    #expect(said.indices.filter { !marks.contains($0) }.allSatisfy { said[$0] == Self.comment })
    // A bookmark continues after the changes that were skipped.
    let mark = try #require(marks.last.map { said[$0] })
    let cursor = try #require(mark.split(separator: "\n").first?.dropFirst("id: ".count))
    let page = try await films.feed.page(
      caller: .anonymous, filter: ChangeFilter(operations: [.delete]),
      since: .cursor(String(cursor)), limit: 10)
    #expect(page.isComplete)
  }

  /// A thousand streams over a store that is then closed: one that still read it would fail.
  @Test("Quiet streams do not read the store")
  func quietStreamsReadNothing() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: "A")
    let count = 1_000
    let said = try await withThrowingTaskGroup(of: String.self) { group in
      let ready = AsyncStream<Void>.makeStream()
      for _ in 0..<count {
        group.addTask {
          let stream = try await films.stream()
          ready.continuation.yield()
          return try await FilmFeed.frame(of: stream)
        }
      }
      var iterator = ready.stream.makeAsyncIterator()
      for _ in 0..<count { _ = await iterator.next() }
      films.store.close()
      films.heartbeats.fire()
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(said == [String](repeating: Self.comment, count: count))
    // One timer for all of them, and no listeners once they have ended.
    var durations = films.heartbeats.durations.makeAsyncIterator()
    #expect(await durations.next() == .seconds(15))
    #expect(films.signal.count == 0)
  }

  @Test("A commit is read once for all streams at the same position")
  func readsCommitOnceForAllStreams() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: "A")
    let streams = try await withThrowingTaskGroup(of: String.self) { group in
      let ready = AsyncStream<Void>.makeStream()
      for _ in 0..<200 {
        group.addTask {
          let stream = try await films.stream()
          ready.continuation.yield()
          return try await FilmFeed.frame(of: stream)
        }
      }
      var iterator = ready.stream.makeAsyncIterator()
      for _ in 0..<200 { _ = await iterator.next() }
      try await films.write("1", title: "B")
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(streams.count == 200)
    #expect(Set(streams).count == 1)
    #expect(streams.first?.contains(#""title":"B""#) == true)
  }
}
