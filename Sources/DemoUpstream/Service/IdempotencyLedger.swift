/// Answers to mutations by their `Idempotency-Key`, so that a repeated one has no second effect.
struct IdempotencyLedger: Sendable {
  /// Keys are one caller's own.
  struct Key: Sendable, Hashable {
    let caller: String
    let key: String
  }

  enum Lookup: Sendable {
    case new
    case repeated(DemoResponse)
    /// The key came with another request before.
    case conflict
  }

  /// What was asked, so that a key cannot be used for something else.
  private struct Entry: Sendable {
    let fingerprint: String
    let answer: DemoResponse
  }

  /// The oldest keys are forgotten beyond so many.
  private static let keysMax = 10_000

  private var entries: [Key: Entry] = [:]
  private var order: [Key] = []
  private var oldest = 0

  func look(_ key: Key, fingerprint: String) -> Lookup {
    guard let entry = entries[key] else { return .new }
    return entry.fingerprint == fingerprint ? .repeated(entry.answer) : .conflict
  }

  mutating func note(_ key: Key, fingerprint: String, answer: DemoResponse) {
    entries[key] = Entry(fingerprint: fingerprint, answer: answer)
    order.append(key)
    guard order.count - oldest > Self.keysMax else { return }
    entries[order[oldest]] = nil
    oldest += 1
    if oldest == Self.keysMax {
      order.removeFirst(oldest)
      oldest = 0
    }
  }
}
