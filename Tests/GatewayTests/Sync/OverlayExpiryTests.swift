import Testing

@testable import Gateway

struct OverlayExpiryTests {
  /// What came between the store's answer and the end of the watch would stand for ever.
  @Test func whatComesWhileTheStoreIsAskedIsLookedFor() {
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

  @Test func oneWatchIsEnough() {
    var watch = OverlayExpiry()
    watch.willLook()
    _ = watch.foundNothing()
    let first = watch.noteLingering()
    let second = watch.noteLingering()
    #expect(first)
    #expect(!second)
  }
}
