import Gateway
import HTTPServer

/// What a shelved answer is worth at one moment: the parts of its response that time changes.
struct CachedResponseMoment {
  let cursor: [UInt8]
  let ageSeconds: Int
  let ttlSeconds: Int

  /// How far the loop's clock, which has whole seconds, may lie behind the one that stamps responses.
  private static let clockLagMilliseconds: Int64 = 2_000

  /// Nil if the answer is not current, or not fresh, any more.
  ///
  /// The loop's clock has seconds; the age that decides is rounded up, so that nothing is given as
  /// fresh that is not. The cursor is read before currency is asked: see ``ResponseCache``.
  @inline(__always)
  init?(of entry: CachedResponse, cursors: CursorIssuer, stamp: ResponseStamp) {
    cursor = entry.isAnonymous ? cursors.anonymousCursor() : cursors.cursor(for: entry.viewer)
    guard entry.rendered.isCurrent, entry.isOfThisEpoch else { return nil }
    let now = stamp.secondsSince1970 &* 1000
    // Stamped by a clock that was ahead: the exact clock decides.
    guard entry.receivedMilliseconds <= now + Self.clockLagMilliseconds else { return nil }
    let ttlMilliseconds = entry.staleAtMilliseconds - max(entry.receivedMilliseconds, now + 999)
    guard ttlMilliseconds > 0 else { return nil }
    entry.rendered.touch()
    ageSeconds = Int(max(0, now - entry.receivedMilliseconds) / 1000)
    ttlSeconds = Int(ttlMilliseconds / 1000)
  }
}
