import Model
import Storage
import Testing

@testable import Gateway

/// Cursors that cannot be continued: a page is refused with the reason, a stream begins anew.
@Suite(.timeLimit(.minutes(1))) struct CursorGoneTests {
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
    // From there on everything there is.
    #expect(try await FilmFeed.frame(of: stream).contains(#""id":"2""#))
  }

  @Test func aCursorBehindForgottenDeletionsHasExpired() async throws {
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

  @Test func aCursorOfAnotherSchemaIsGone() async throws {
    let films = try FilmFeed()
    try await films.write("2", title: "A")
    try await Self.expectGone(.schema, films.cursor(schemaVersion: 2), films)
  }
}
