import Testing

@testable import Gateway

struct OverlayExpiryTests {
  /// An overlay noted between the store's result and the end of the task would stay forever.
  @Test("An overlay noted while the store is queried is looked for again")
  func looksAgainForLateOverlay() {
    var watch = OverlayExpiry()
    watch.willLook()
    let mustBegin = watch.noteLingering()
    let isOver = watch.foundNothing()
    #expect(!mustBegin)
    #expect(!isOver)
    watch.willLook()
    let isOverThen = watch.foundNothing()
    #expect(isOverThen)
    let mustBeginThen = watch.noteLingering()
    #expect(mustBeginThen)
  }

  @Test("Only one task is started")
  func startsOnlyOneTask() {
    var watch = OverlayExpiry()
    watch.willLook()
    _ = watch.foundNothing()
    let first = watch.noteLingering()
    let second = watch.noteLingering()
    #expect(first)
    #expect(!second)
  }
}
