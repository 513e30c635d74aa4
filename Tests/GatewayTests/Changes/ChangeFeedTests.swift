import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(10))) struct WaitingPageTests {
  /// The page is held first: the feed has its listener, and the wait is far longer than the test.
  @Test("A long-polled page is released only by a commit that its caller sees")
  func visibleCommitReleasesLongPoll() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: "A")
    let cursor = films.cursor()
    async let waiting = films.feed.page(
      caller: .anonymous, filter: .all, since: .cursor(cursor), limit: 10, wait: .seconds(50))
    #expect(await eventuallyHolds { films.signal.count > 0 })
    // A commit that only another user sees does not wake it.
    try await films.write("9", title: "Theirs", in: .user("ada"))
    #expect(films.signal.count == 1)
    let start = ContinuousClock.now
    try await films.write("2", title: "B")
    let page = try await waiting
    #expect(
      ContinuousClock.now - start < .seconds(25), "a commit released it, not the end of its wait")
    #expect(page.elements.count == 1)
    #expect(films.signal.count == 0)
  }
}

/// Cursors that cannot be continued: a page is refused with the reason, a stream restarts.
@Suite(.timeLimit(.minutes(10))) struct CursorGoneTests {
  private static func forgetDeletions(_ films: FilmFeed) async throws {
    let policy = EvictionPolicy(windows: [:], bytesMax: .max, tombstoneAge: .seconds(60))
    for hour in 1...2 as ClosedRange<Int64> {
      while try await films.store.evict(policy, at: Timestamp(milliseconds: hour * 3_600_000))
        .hasMore
      {}
    }
  }

  private static func expectGone(
    _ reason: CursorFault.Reason, _ cursor: String, _ films: FilmFeed
  ) async throws {
    await #expect(throws: CursorFault.gone(reason)) {
      try await films.feed.page(
        caller: .anonymous, filter: .all, since: .cursor(cursor), limit: 10)
    }
    let stream = films.feed.open(
      try await films.feed.streamStart(caller: .anonymous, filter: .all, since: .cursor(cursor)))
    let reset = try await FilmFeed.frame(of: stream)
    #expect(reset.contains("event: reset"), "\(reset)")
    #expect(reset.contains(#""reason":"\#(reason.rawValue)""#), "\(reset)")
    // From there on the stream sends the snapshot.
    #expect(try await FilmFeed.frame(of: stream).contains(#""id":"2""#))
  }

  @Test("A cursor before forgotten deletions has expired")
  func cursorBeforeForgottenDeletionsHasExpired() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: "A")
    let cursor = films.cursor()
    try await films.delete("1")
    try await films.write("2", title: "B")
    let page = try await films.feed.page(
      caller: .anonymous, filter: .all, since: .cursor(cursor), limit: 10)
    #expect(page.elements.count == 2)
    try await Self.forgetDeletions(films)
    try await Self.expectGone(.expired, cursor, films)
  }

  @Test("A cursor of another schema cannot be continued")
  func cursorOfAnotherSchemaIsGone() async throws {
    let films = try FilmFeed()
    try await films.write("2", title: "A")
    try await Self.expectGone(.schema, films.cursor(schemaVersion: 2), films)
  }
}
