/// Whether somebody sees to expected changes that linger over what settled them.
///
/// The one who does asks the store what is left, and may be told "nothing" of a moment before the
/// latest came: so the latest is noted here, and whoever wants to stop asks once more.
struct OverlayExpiry {
  private var isWatched = true
  private var hasMore = false

  /// - Returns: whether the caller is to begin: nobody watches yet.
  mutating func noteLingering() -> Bool {
    hasMore = true
    defer { isWatched = true }
    return !isWatched
  }

  /// To be called before the store is asked.
  mutating func willLook() { hasMore = false }

  /// - Returns: whether the watch is over; otherwise the store is to be asked again.
  mutating func foundNothing() -> Bool {
    isWatched = hasMore
    return !hasMore
  }
}
