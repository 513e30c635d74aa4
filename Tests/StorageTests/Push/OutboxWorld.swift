import Model
import Storage

/// A store with an outbox that the test drives.
struct OutboxWorld {
  static let boot = "boot 1"

  let fixture: StoreFixture
  var now = Timestamp(milliseconds: 1_000_000)

  /// - Parameter segment: a different number for each opening of a folder.
  init(_ folder: TemporaryFolder = TemporaryFolder(), segment: UInt64 = 1) throws {
    fixture = try StoreFixture(folder, segment: segment)
  }

  var store: Store { fixture.store }

  static func fingerprint(_ content: UInt8) -> PayloadFingerprint {
    guard let fingerprint = PayloadFingerprint([UInt8](repeating: content, count: 32)) else {
      preconditionFailure("a fingerprint has 32 bytes")
    }
    return fingerprint
  }

  /// - Parameter batches: the user ids of each batch.
  func arrival(
    _ key: String, _ batches: [[String]] = [["u1", "u2"]], origin: String = "operator",
    content: UInt8 = 0, lifetime: Duration = .seconds(600)
  ) -> NewNotification {
    NewNotification(
      id: "n_\(origin)_\(key)", origin: origin, key: key, fingerprint: Self.fingerprint(content),
      message: Array(#"{"text":"Hello","data":{}}"#.utf8),
      batches: batches.enumerated().map { number, ids in
        NewNotification.Batch(
          key: "\(key)-\(number)", userIDs: Self.json(ids), count: ids.count)
      }, created: now, expires: now.advanced(by: lifetime))
  }

  static func json(_ ids: [String]) -> [UInt8] {
    Array("[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]".utf8)
  }

  func claim(boot: String = boot) async throws -> ClaimedBatch? {
    try await store.claimBatch(at: now, boot: boot)
  }

  @discardableResult
  func settle(
    _ batch: ClaimedBatch, as end: BatchEnd, boot: String = boot
  ) async throws -> Bool {
    try await store.settle(batch, boot: boot, as: end, at: now)
  }

  func counts(_ id: String) async throws -> [BatchState: Int] {
    let counts = try await store.notification(id, origin: nil)?.summary.counts ?? [:]
    return counts.filter { $0.value > 0 }
  }
}
