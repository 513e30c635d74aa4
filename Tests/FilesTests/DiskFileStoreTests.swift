import Files
import Foundation
import Model
import Synchronization
import Testing
import Transport

struct DiskFileStoreTests {
  @Test("The disk store fulfils the contract of file stores", arguments: ContractCase.all)
  func fulfilsTheContract(_ contract: ContractCase) async throws {
    let fixture = try DiskFixture()
    try await contract.run(try await fixture.contract())
    // Whatever happened, nothing is left that is on its way.
    #expect(try fixture.blobs().incoming == [])
  }

  @Test("The file of a replaced object is removed")
  func removesReplacedFiles() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    for number in 0..<5 { try await it.put([UInt8(number)], at: "k") }
    #expect(try fixture.blobs().home.count == 1)
    _ = try await it.store.delete(try it.address("k"), if: .none)
    #expect(try fixture.blobs().home == [])
  }

  @Test("Objects survive reopening the store")
  func survivesReopening() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1, 2, 3], at: "k")
    let again = try DiskFileStore.open(
      store: fixture.index, folder: "\(fixture.path)/files",
      pool: .init(threadsMax: 1), clock: WallClock { Timestamp(milliseconds: 0) },
      expiryClock: WallClock { Timestamp(milliseconds: 0) },
      random: { UInt64.random(in: 0...UInt64.max) })
    let read = try await again.get(try it.address("k"), range: nil, conditions: nil)
    #expect(try await read.bytes() == [1, 2, 3])
  }

  @Test(
    "An upload begun while the wall clock was wrong lives as long as any", arguments: [-3000, 366])
  func uploadsAgeByTheTrustedClock(days: Int) async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let week = Duration.seconds(7 * 86_400)
    fixture.time.error.withLock { $0 = .seconds(days * 86_400) }
    let address = try it.address("k")
    let upload = try await it.store.beginUpload(
      to: address, attributes: ObjectAttributes(), quota: .none)
    fixture.time.error.withLock { $0 = .zero }
    fixture.time.pass(week - .seconds(60))
    try await fixture.files.sweep(
      uploadsBegunBefore: fixture.time.lived.advanced(by: .zero - week))
    #expect(try await it.store.parts(of: upload, after: 0, limit: 1).parts.isEmpty)
    fixture.time.pass(.seconds(120))
    try await fixture.files.sweep(
      uploadsBegunBefore: fixture.time.lived.advanced(by: .zero - week))
    await #expect(throws: FileStoreError.noSuchUpload) {
      _ = try await it.store.parts(of: upload, after: 0, limit: 1)
    }
  }

  @Test("A sweep removes leftover files and keeps those of the index")
  func sweepRemovesLeftovers() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1, 2, 3], at: "k")
    let folder = "\(fixture.path)/files"
    let leftover = "\(folder)/incoming/\(String(repeating: "a", count: 32))"
    #expect(FileManager.default.createFile(atPath: leftover, contents: Data([9])))
    // As after a crash between the index's commit and the move.
    let home = try #require(try fixture.blobs().home.first)
    let name = try #require(home.split(separator: "/").last)
    try FileManager.default.moveItem(
      atPath: "\(folder)/objects/\(home)", toPath: "\(folder)/incoming/\(name)")
    #expect(try await it.bytes("k") == [1, 2, 3])
    try await fixture.files.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
    #expect(try fixture.blobs().incoming == [])
    #expect(try fixture.blobs().home == [home])
    #expect(try await it.bytes("k") == [1, 2, 3])
  }

  @Test("Files that cannot be removed are recorded for the next sweep")
  func recordsUnremovableFiles() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1], at: "k")
    let home = "\(fixture.path)/files/objects/\(try #require(try fixture.blobs().home.first))"
    // unlink(2) refuses a folder of this name for every user.
    try FileManager.default.removeItem(atPath: home)
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    _ = try await it.store.delete(try it.address("k"), if: .none)
    try await fixture.files.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
    #expect(FileManager.default.fileExists(atPath: home))
    try FileManager.default.removeItem(atPath: home)
    #expect(FileManager.default.createFile(atPath: home, contents: Data([1])))
    try await fixture.files.sweep(uploadsBegunBefore: Timestamp(milliseconds: 0))
    #expect(try fixture.blobs().home == [])
  }

  @Test("A sweep aborts old uploads")
  func sweepAbortsOldUploads() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let old = try await it.store.beginUpload(
      to: try it.address("old"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: old, .of([1]), quota: .none)
    fixture.time.pass(.seconds(60))
    let young = try await it.store.beginUpload(
      to: try it.address("young"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: young, .of([1]), quota: .none)
    try await fixture.files.sweep(uploadsBegunBefore: fixture.time.now)
    let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 10)
    #expect(left.uploads.map(\.address) == [young])
    #expect(try fixture.blobs().home.count == 1)
    #expect(try await it.store.bucket(it.bucket).bytes == 1)
  }

  @Test("Concurrent writers leave one complete object")
  func concurrentWritersLeaveOneObject() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          _ = try? await it.put([UInt8](repeating: UInt8(number), count: 5000), at: "k")
        }
      }
    }
    let bytes = try await it.bytes("k")
    #expect(bytes.count == 5000)
    #expect(Set(bytes).count == 1)
    #expect(try fixture.blobs().home.count == 1)
    #expect(try await it.store.bucket(it.bucket).bytes == 5000)
  }

  @Test("Only one of several concurrent conditional writes succeeds")
  func oneConditionalWriteSucceeds() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let winners = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        group.addTask {
          (try? await it.put([UInt8(number)], at: "k", if: .absent)) != nil
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
  }

  @Test("Removing a bucket removes its unfinished uploads")
  func removesABucketWithItsUploads() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let upload = try await it.store.beginUpload(
      to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: upload, .of([1, 2, 3]), quota: .none)
    try await it.put([1], at: "other")
    await #expect(throws: FileStoreError.bucketNotEmpty) {
      try await it.store.deleteBucket(it.bucket)
    }
    _ = try await it.store.delete(try it.address("other"), if: .none)
    try await it.store.deleteBucket(it.bucket)
    #expect(try fixture.blobs().home == [])
    await #expect(throws: FileStoreError.noSuchUpload) {
      _ = try await it.store.parts(of: upload, after: 0, limit: 1)
    }
    // A new bucket of the name knows nothing of it.
    try await it.store.createBucket(it.bucket)
    #expect(try await it.store.bucket(it.bucket).bytes == 0)
    let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 9)
    #expect(left.uploads.isEmpty)
  }

  @Test("Checksums that a client states are verified")
  func verifiesStatedChecksums() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let contents = [[UInt8](repeating: 1, count: it.partBytes), [UInt8](repeating: 2, count: 9)]
    let wanted = try #require(UploadChecksum(.crc32, .fullObject))
    let upload = try await it.store.beginUpload(
      to: try it.address("k"), attributes: ObjectAttributes(), checksum: wanted, quota: .none)
    var parts: [PartReference] = []
    for (index, bytes) in contents.enumerated() {
      let part = try await it.store.putPart(index + 1, of: upload, .of(bytes), quota: .none)
      #expect(part.checksum?.algorithm == .crc32)
      parts.append(PartReference(number: index + 1, tag: part.tag, checksum: part.checksum))
    }
    let wrong = try #require(ContentDigest(.crc32, [0, 0, 0, 0]))
    var faulty = parts
    faulty[1] = PartReference(number: 2, tag: parts[1].tag, checksum: wrong)
    await #expect(throws: FileStoreError.partInvalid(number: 2)) {
      _ = try await it.store.completeUpload(upload, UploadCompletion(parts: faulty))
    }
    for stated in [ObjectChecksum(wrong), ObjectChecksum(wrong, partCount: 2)] {
      await #expect(throws: FileStoreError.digestMismatch(.crc32)) {
        _ = try await it.store.completeUpload(
          upload, UploadCompletion(parts: parts, checksum: stated))
      }
    }
    await #expect(throws: FileStoreError.noSuchKey) { try await it.bytes("k") }
    var hashing = ContentHashing([.crc32])
    hashing.update(contents[0] + contents[1])
    let whole = ObjectChecksum(try #require(hashing.digests()[.crc32]))
    let written = try await it.store.completeUpload(
      upload, UploadCompletion(parts: parts, checksum: whole))
    #expect(written.metadata.checksum == whole)
    let again = try await it.store.completeUpload(
      upload, UploadCompletion(parts: parts, checksum: whole))
    #expect(again.metadata.checksum == whole)
    await #expect(throws: FileStoreError.digestMismatch(.crc32)) {
      _ = try await it.store.completeUpload(
        upload, UploadCompletion(parts: parts, checksum: ObjectChecksum(wrong)))
    }
    let found = try await it.store.objectParts(at: try it.address("k"))
    #expect(found.metadata.checksum == whole)
    #expect(found.parts.map(\.size) == contents.map(\.count))
    #expect(found.parts.map(\.checksum) == parts.map(\.checksum))
  }

  @Test("A copy has the parts of its source, or a checksum of its own")
  func copiesPartsAndChecksums() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let bytes = [UInt8](repeating: 3, count: it.partBytes + 5)
    let upload = try await it.store.beginUpload(
      to: try it.address("from"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(
      1, of: upload, .of(Array(bytes.prefix(it.partBytes))), quota: .none)
    _ = try await it.store.putPart(
      2, of: upload, .of(Array(bytes.dropFirst(it.partBytes))), quota: .none)
    _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
    let copy = try await it.store.copy(
      try it.address("from"), if: nil, to: try it.address("to"), attributes: nil,
      CopyWrite(checksum: .sha256))
    var hashing = ContentHashing([.sha256])
    hashing.update(bytes)
    #expect(copy.metadata.checksum?.digest == hashing.digests()[.sha256])
    #expect(try await it.store.objectParts(at: try it.address("to")).parts.count == 2)
    // Replaced by content in one piece it has none.
    try await it.put([1], at: "to")
    #expect(try await it.store.objectParts(at: try it.address("to")).parts.isEmpty)
    #expect(try await it.store.objectParts(at: try it.address("from")).parts.count == 2)
  }

  @Test("Tags change independently of the object, and are copied unless replaced")
  func keepsTags() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let tags = try TagSet([.init(key: "b", value: "1"), .init(key: "a", value: "")])
    let written = try await it.put([1], at: "k", attributes: ObjectAttributes(tags: tags))
    #expect(try await it.store.tags(of: try it.address("k")) == tags)
    let other = try TagSet([.init(key: "c", value: "ü")])
    fixture.time.pass(.seconds(60))
    try await it.store.setTags(other, of: try it.address("k"))
    let head = try await it.store.head(try it.address("k"), conditions: nil)
    #expect(head.attributes.tags == other)
    #expect(head.modified == written.metadata.modified && head.tag == written.metadata.tag)
    _ = try await it.store.copy(
      try it.address("k"), if: nil, to: try it.address("same"),
      attributes: ObjectAttributes(contentType: "text/plain"), CopyWrite())
    #expect(try await it.store.tags(of: try it.address("same")) == other)
    _ = try await it.store.copy(
      try it.address("k"), if: nil, to: try it.address("own"), attributes: nil,
      CopyWrite(tags: tags))
    #expect(try await it.store.tags(of: try it.address("own")) == tags)
    await #expect(throws: FileStoreError.noSuchKey) {
      try await it.store.setTags(other, of: try it.address("none"))
    }
  }

  @Test("The result of a completed upload is forgotten in time")
  func forgetsCompletedUploads() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    let upload = try await it.store.beginUpload(
      to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: upload, .of([1]), quota: .none)
    _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
    try await fixture.files.sweep(uploadsBegunBefore: fixture.time.now)
    _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
    fixture.time.pass(.seconds(1))
    try await fixture.files.sweep(uploadsBegunBefore: fixture.time.now)
    await #expect(throws: FileStoreError.noSuchUpload) {
      _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
    }
    #expect(try await it.bytes("k") == [1])
  }

  @Test("A bucket's settings are stored, and determine the encryption of its objects")
  func keepsBucketSettings() async throws {
    let fixture = try DiskFixture()
    let it = try await fixture.contract()
    try await it.put([1], at: "before")
    let tags = try TagSet([.init(key: "a", value: "b")])
    try await it.store.changeSettings(of: it.bucket) {
      $0.encryption = "AES256"
      $0.tags = tags
    }
    let expected = BucketSettings(encryption: "AES256", tags: tags)
    #expect(try await it.store.settings(of: it.bucket) == expected)
    try await it.put([1], at: "put")
    _ = try await it.store.copy(
      try it.address("before"), if: nil, to: try it.address("copy"), attributes: nil, CopyWrite())
    let upload = try await it.store.beginUpload(
      to: try it.address("parts"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: upload, .of([1]), quota: .none)
    _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
    for (key, encryption) in [
      ("before", nil), ("put", "AES256"), ("copy", "AES256"), ("parts", "AES256"),
    ] {
      let head = try await it.store.head(try it.address(key), conditions: nil)
      #expect(head.attributes.serverSideEncryption == encryption, "\(key)")
    }
    let none = try #require(BucketName("nowhere"))
    await #expect(throws: FileStoreError.noSuchBucket) {
      try await it.store.changeSettings(of: none) { $0.encryption = nil }
    }
  }
}
