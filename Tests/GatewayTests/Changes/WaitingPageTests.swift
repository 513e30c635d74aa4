import Model
import Storage
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(1))) struct WaitingPageTests {
  /// Held first: the feed has its listener, and the wait is far longer than the test.
  @Test func aHeldPageIsWokenByTheCommitAndByNothingElse() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: "A")
    let cursor = films.cursor()
    async let waiting = films.feed.page(
      caller: .anonymous, filter: .all, since: .cursor(cursor), limit: 10, wait: .seconds(50))
    while films.signal.count == 0 { await Task.yield() }
    // What somebody else alone sees is no reason to wake.
    try await films.write("9", title: "Theirs", in: .user("ada"))
    #expect(films.signal.count == 1)
    let start = ContinuousClock.now
    try await films.write("2", title: "B")
    let page = try await waiting
    #expect(ContinuousClock.now - start < .seconds(1))
    #expect(page.elements.count == 1)
    #expect(films.signal.count == 0)
  }
}
