import LosslessJSON
import Model
import Storage
import Testing

struct LocalWriteKeyTests {
  private let folder = TemporaryFolder()

  private static func key(
    _ text: String, content: UInt8 = 0, owner: Scope = .device("d_1")
  ) throws -> LocalWriteKey {
    let fingerprint = try #require(PayloadFingerprint([UInt8](repeating: content, count: 32)))
    return LocalWriteKey(owner: owner, key: text, fingerprint: fingerprint) { outcomes in
      Array("\(outcomes.count) outcomes".utf8)
    }
  }

  private func write(
    _ store: Store, _ id: String, _ key: LocalWriteKey, quota: DataQuota = .unlimited
  ) async throws -> Result<WriteCommit, WriteRefusal> {
    try await store.registerDevice()
    return try await store.writeLocal(
      [LocalWorld.operation(.insert, LocalWorld.list, id, ["title": "A"])],
      schema: LocalWorld.schema, owner: LocalWorld.owner, now: Timestamp(milliseconds: 1_000),
      quota: quota, key: key)
  }

  @Test("The same key replays the outcomes, another request under it is refused")
  func replays() async throws {
    let store = try LocalWorld.open(folder)
    let first = try await write(store, "l1", Self.key("k")).get()
    #expect(first.outcomes.count == 1 && first.replay == nil)
    let head = store.head
    let again = try await write(store, "l1", Self.key("k")).get()
    #expect(again.replay == Array("1 outcomes".utf8) && again.outcomes.isEmpty)
    #expect(again.report.revision == nil && store.head == head)
    guard case .failure(.keyReused) = try await write(store, "l2", Self.key("k", content: 1))
    else {
      Issue.record("another request was written under the key")
      return
    }
    #expect(try await store.local("List", "l2") == nil)
    // Another owner's key of the same text is another key.
    let other = try await write(store, "l2", Self.key("k", owner: .ownData(ofUser: "ada"))).get()
    #expect(other.replay == nil)
  }

  @Test("A refused list leaves its key unused")
  func refusalLeavesKeyUnused() async throws {
    let store = try LocalWorld.open(folder)
    _ = try await write(store, "l1", Self.key("a")).get()
    guard case .failure(.exists) = try await write(store, "l1", Self.key("b")) else {
      Issue.record("an entity was inserted twice")
      return
    }
    #expect(try await write(store, "l2", Self.key("b", content: 1)).get().replay == nil)
  }

  @Test("Keys are kept for thirty days, and count for the quota")
  func keysExpireAndCount() async throws {
    let store = try LocalWorld.open(folder)
    try await store.register(DeviceTests.phone("d_1"), tokenDigest: "one")
    _ = try await write(store, "l1", Self.key("k")).get()
    let day = Duration.seconds(86_400)
    let made = Timestamp(milliseconds: 1_000)
    #expect(try await !store.forgetMutations(at: made.advanced(by: day * 30)))
    #expect(try await write(store, "l1", Self.key("k")).get().replay != nil)
    let quota = DataQuota(ownerBytesMax: 1_200, unboundBytesMax: .max)
    guard
      case .failure(.overQuota) = try await write(
        store, "l2", Self.key(String(repeating: "x", count: 255)), quota: quota)
    else {
      Issue.record("the quota was exceeded")
      return
    }
    #expect(
      try await !store.forgetMutations(at: made.advanced(by: day * 30 + .milliseconds(1))))
    guard case .failure(.exists) = try await write(store, "l1", Self.key("k")) else {
      Issue.record("an expired key was recognised")
      return
    }
  }
}
