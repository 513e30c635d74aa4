import Files
import Model
import Testing

struct QuotaTests {
  private func write(
    _ it: ContractStore, _ count: Int, at key: String, _ quota: FileQuota,
    isAnnounced: Bool = true
  ) async throws {
    var content = UploadContent.of([UInt8](repeating: 1, count: count))
    if !isAnnounced { content.byteCount = nil }
    _ = try await it.store.put(content, at: try it.address(key), ObjectWrite(quota: quota))
  }

  @Test("A bucket's quota is enforced", arguments: [true, false])
  func enforcesBucketQuota(isAnnounced: Bool) async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let quota = FileQuota(bucketBytesMax: 100)
    try await write(it, 60, at: "a", quota)
    await #expect(throws: FileStoreError.quotaExceeded(.bucket)) {
      try await write(it, 41, at: "b", quota, isAnnounced: isAnnounced)
    }
    // What it replaces comes free.
    try await write(it, 100, at: "a", quota, isAnnounced: isAnnounced)
    _ = try await it.store.delete(try it.address("a"), if: .none)
    try await write(it, 100, at: "b", quota)
    let bucket = try await it.store.bucket(it.bucket)
    #expect(bucket.bytes == 100)
    #expect(bucket.objects == 1)
  }

  @Test("Each owner's quota is enforced")
  func enforcesOwnerQuota() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await write(it, 60, at: "ann/a", FileQuota(owner: "ann", ownerBytesMax: 100))
    try await write(it, 90, at: "bob/a", FileQuota(owner: "bob", ownerBytesMax: 100))
    await #expect(throws: FileStoreError.quotaExceeded(.owner)) {
      try await write(it, 41, at: "ann/b", FileQuota(owner: "ann", ownerBytesMax: 100))
    }
    try await write(it, 40, at: "ann/b", FileQuota(owner: "ann", ownerBytesMax: 100))
  }

  @Test("Parts count against quotas until their upload ends")
  func countsParts() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let quota = FileQuota(owner: "ann", bucketBytesMax: 3000, ownerBytesMax: 2500)
    let upload = try await it.store.beginUpload(
      to: try it.address("ann/k"), attributes: ObjectAttributes(), quota: quota)
    let part = [UInt8](repeating: 1, count: 1000)
    for number in 1...2 {
      _ = try await it.store.putPart(number, of: upload, .of(part), quota: quota)
    }
    await #expect(throws: FileStoreError.quotaExceeded(.owner)) {
      _ = try await it.store.putPart(3, of: upload, .of(part), quota: quota)
    }
    _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
    var bucket = try await it.store.bucket(it.bucket)
    #expect(bucket.bytes == 2000)
    #expect(bucket.objects == 1)
    _ = try await it.store.delete(try it.address("ann/k"), if: .none)
    bucket = try await it.store.bucket(it.bucket)
    #expect(bucket.bytes == 0)
    #expect(bucket.objects == 0)
  }
}
