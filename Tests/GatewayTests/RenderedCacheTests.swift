import Model
import Testing

@testable import Gateway

struct RenderedCacheTests {
  @Test("What commits drop leaves nothing behind, however many keys there were")
  func droppedAnswersLeaveNoKeys() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    for number in 0..<1_000 {
      let key = ResultKey(operation: "A", variables: "{\"n\":\(number)}", scope: .public)
      cache.remember(
        RenderedResponse(
          key: key, body: [1], received: Timestamp(milliseconds: 0),
          policy: CachePolicy(maxAge: .seconds(60)),
          dependencies: .init(operation: "A", tags: [], types: [], entities: []),
          hasErrors: false),
        ticket: cache.ticket())
      cache.drop(key)
    }
    #expect(cache.count == 0)
    #expect(cache.evictionQueueLength <= 100)
  }

  func answer(
    _ name: String, entities: [String] = [], types: [String] = [], tags: [String] = [],
    device: String? = nil, bytes: Int = 100
  ) -> RenderedResponse {
    RenderedResponse(
      key: ResultKey(operation: name, variables: "{}", scope: .public),
      body: Array(repeating: UInt8(ascii: "x"), count: bytes),
      received: Timestamp(milliseconds: 0), policy: CachePolicy(maxAge: .seconds(60)),
      dependencies: RenderedResponse.Dependencies(
        operation: name, tags: tags, types: types,
        entities: entities.map { EntityKey(type: "Film", key: $0) }, device: device),
      hasErrors: false)
  }

  func report(
    changed: [String] = [], in scope: Scope = .public, invalidated: [InvalidationTarget] = []
  ) -> CommitReport {
    CommitReport(
      revision: Revision(2),
      changes: changed.map { .init(scope: scope, key: EntityKey(type: "Film", key: $0)) },
      invalidated: invalidated, resultChanged: false, isExact: true, head: Revision(2))
  }

  func remember(_ answer: RenderedResponse, in cache: RenderedCache) {
    cache.remember(answer, ticket: cache.ticket())
  }

  @Test("A commit drops exactly the responses it touches")
  func dropsExactlyTouchedResponses() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let one = answer("One", entities: ["1", "2"])
    let other = answer("Other", entities: ["3"])
    remember(one, in: cache)
    remember(other, in: cache)
    cache.note(report(changed: ["2", "9"]))
    #expect(cache.response(for: one.key) == nil)
    #expect(!one.isCurrent)
    #expect(cache.response(for: other.key) === other)
    #expect(other.isCurrent)
  }

  @Test("Own data of a user, local fields included, drops no response")
  func ownDataDropsNothing() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let shared = answer("One", entities: ["1"])
    remember(shared, in: cache)
    cache.note(report(changed: ["1"], in: .ownData(ofUser: "u")))
    #expect(cache.response(for: shared.key) === shared)
    cache.note(report(changed: ["1"], in: .user("u")))
    #expect(cache.response(for: shared.key) == nil)
  }

  /// A device's overlay affects neither the shared responses nor those of another device.
  @Test("A device's overlay touches only that device's responses")
  func overlayTouchesOnlyItsDevice() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let shared = answer("One", entities: ["1"])
    let mine = answer("Two", entities: ["1"], device: "d1")
    let other = answer("Three", entities: ["1"], device: "d2")
    for answer in [shared, mine, other] { remember(answer, in: cache) }
    let late = cache.ticket()
    cache.note(report(changed: ["1"], in: .device("d1")))
    #expect(shared.isCurrent)
    #expect(!mine.isCurrent)
    #expect(other.isCurrent)
    let lateMine = answer("Two", entities: ["1"], device: "d1")
    cache.remember(lateMine, ticket: late)
    #expect(!lateMine.isCurrent)
    cache.note(report(changed: ["1"]))
    #expect(!shared.isCurrent)
    #expect(!other.isCurrent)
  }

  @Test(
    "An invalidation drops the responses it names",
    arguments: [
      InvalidationTarget.operation("One"), .tag("films"), .type("Film"),
      .entity(EntityKey(type: "Film", key: "1")),
    ])
  func invalidationDropsNamedResponses(target: InvalidationTarget) {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let named = answer("One", entities: ["1"], types: ["Film"], tags: ["films"])
    let other = answer("Other", entities: ["2"], types: ["Person"], tags: ["people"])
    remember(named, in: cache)
    remember(other, in: cache)
    cache.note(report(invalidated: [target]))
    #expect(!named.isCurrent)
    #expect(other.isCurrent)
  }

  @Test("A response touched by a commit while it was rendered is not kept")
  func doesNotKeepResponseTouchedWhileRendering() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let early = cache.ticket()
    cache.note(report(changed: ["1"]))
    let late = cache.ticket()
    let old = answer("Old", entities: ["1"])
    let new = answer("New", entities: ["1"])
    cache.remember(old, ticket: early)
    cache.remember(new, ticket: late)
    #expect(!old.isCurrent)
    #expect(cache.response(for: old.key) == nil)
    #expect(cache.response(for: new.key) === new)
  }

  @Test("The cache stays under its budget and keeps used responses")
  func staysUnderBudgetAndKeepsUsed() {
    let cache = RenderedCache(byteLimit: 20_000)
    let used = answer("Used", bytes: 1_000)
    remember(used, in: cache)
    for number in 0..<200 {
      #expect(cache.response(for: used.key) === used)
      remember(answer("Other\(number)", bytes: 1_000), in: cache)
      #expect(cache.byteCount <= 20_000)
    }
    #expect(cache.count > 5)
  }

  @Test("Remembering a key again replaces its response without growing")
  func rememberingAgainReplaces() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    for _ in 0..<100 { remember(answer("One", entities: ["1"]), in: cache) }
    #expect(cache.count == 1)
    cache.drop(answer("One").key)
    #expect(cache.byteCount == 0)
  }

  @Test("A response that would fill the cache is not kept")
  func doesNotKeepHugeResponse() {
    let cache = RenderedCache(byteLimit: 1_000)
    remember(answer("Big", bytes: 900), in: cache)
    #expect(cache.count == 0)
  }

  /// A device's response is derived from a shared one: a list with other members touches none of its
  /// entities.
  @Test("A device's response is dropped with the shared response it was derived from")
  func derivedResponseDropsWithSharedOne() {
    func overlaid(_ shared: RenderedResponse) -> RenderedResponse {
      RenderedResponse(
        key: ResultKey(operation: "One", variables: "{}", scope: .device("d1")),
        body: Array("mine".utf8), received: Timestamp(milliseconds: 0), policy: shared.policy,
        dependencies: .init(
          operation: "One", tags: [], types: [],
          entities: [EntityKey(type: "Film", key: "1")], device: "d1"),
        hasErrors: false, basis: shared.tag, basisKey: shared.key, unkept: nil)
    }
    let cache = RenderedCache(byteLimit: 1 << 20)
    let shared = answer("One", entities: ["1"])
    remember(shared, in: cache)
    let mine = overlaid(shared)
    remember(mine, in: cache)
    #expect(mine.isCurrent)
    let other = answer("One", entities: ["1", "2"], bytes: 120)
    remember(other, in: cache)
    #expect(!mine.isCurrent)
    #expect(cache.count == 1)
    // A response derived from the old one in the meantime is too late.
    let late = overlaid(shared)
    remember(late, in: cache)
    #expect(!late.isCurrent)
    let next = overlaid(other)
    remember(next, in: cache)
    #expect(next.isCurrent)
    cache.drop(other.key)
    #expect(!next.isCurrent)
    #expect(cache.byteCount == 0)
  }

  @Test("The commit that a response was rendered after does not touch it")
  func ownCommitDoesNotTouchResponse() {
    let cache = RenderedCache(byteLimit: 1 << 20)
    let ticket = cache.ticket()
    cache.note(report(changed: ["1"]))
    let own = answer("Own", entities: ["1"])
    cache.remember(own, ticket: ticket, own: Revision(2))
    #expect(cache.response(for: own.key) === own)
  }
}
