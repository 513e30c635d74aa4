import Synchronization

/// The texts of statements that clients' requests gave their shape, as far as they are cached.
enum ShapedTexts {
  /// A statement takes a few kilobytes on each of the connections.
  private static let countMax = 256

  private static let cached = Mutex<Set<String>>([])

  /// Whether a text is among the first that were asked about.
  static func isCached(_ text: String) -> Bool {
    cached.withLock { cached in
      if cached.contains(text) { return true }
      guard cached.count < countMax else { return false }
      return cached.insert(text).inserted
    }
  }
}
