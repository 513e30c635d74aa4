import Cryptography
import Files
import HTTPWire
import Model
import Testing

extension ContractCase {
  static let objects = [
    ContractCase("returns what was written") { it in
      let bytes = (0..<300_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let attributes = ObjectAttributes(
        contentType: "image/png", contentEncoding: "gzip", contentLanguage: "de",
        contentDisposition: "inline", cacheControl: "max-age=5",
        custom: ["colour": "blue", "size": "7"])
      let written = try await it.put(bytes, at: "a/b", attributes: attributes)
      let md5 = Hexadecimal.encode(Insecure.MD5.hash(data: bytes))
      #expect(written.isNew)
      #expect(written.metadata.tag == md5)
      let read = try await it.store.get(try it.address("a/b"), range: nil, conditions: nil)
      #expect(try await read.bytes() == bytes)
      #expect(read.metadata.tag == md5)
      #expect(read.metadata.size == bytes.count)
      #expect(read.metadata.attributes == attributes)
      let head = try await it.store.head(try it.address("a/b"), conditions: nil)
      #expect(head.attributes == attributes)
      #expect(head.modified == read.metadata.modified)
    },
    ContractCase("keeps an empty object") { it in
      try await it.put([], at: "empty")
      let read = try await it.store.get(try it.address("empty"), range: nil, conditions: nil)
      #expect(try await read.bytes() == [])
      #expect(read.metadata.tag == "d41d8cd98f00b204e9800998ecf8427e")
    },
    ContractCase("replaces an object") { it in
      try await it.put([1], at: "k")
      let second = try await it.put([2, 3], at: "k")
      #expect(!second.isNew)
      #expect(try await it.bytes("k") == [2, 3])
      #expect(try await it.keys(ObjectListRequest()) == ["k"])
    },
    ContractCase("lets an opened object be read to its end") { it in
      try await it.put([1, 2, 3], at: "k")
      let opened = try await it.store.get(try it.address("k"), range: nil, conditions: nil)
      try await it.put([9], at: "k")
      #expect(try await opened.bytes() == [1, 2, 3])
      let again = try await it.store.get(try it.address("k"), range: nil, conditions: nil)
      _ = try await it.store.delete(try it.address("k"), if: .none)
      #expect(try await again.bytes() == [9])
    },
    ContractCase("removes an object once") { it in
      try await it.put([1], at: "k")
      _ = try await it.store.delete(try it.address("k"), if: .none)
      await #expect(throws: FileStoreError.noSuchKey) { try await it.bytes("k") }
      _ = try await it.store.delete(try it.address("k"), if: .none)
      #expect(try await it.keys(ObjectListRequest()) == [])
    },
    ContractCase("distinguishes a missing bucket from a missing key") { it in
      let nowhere = ObjectAddress(
        bucket: try #require(BucketName("no-such-bucket-here")), key: try it.address("k").key)
      await #expect(throws: FileStoreError.noSuchBucket) {
        _ = try await it.store.get(nowhere, range: nil, conditions: nil)
      }
      await #expect(throws: FileStoreError.noSuchBucket) {
        _ = try await it.store.put(.of([1]), at: nowhere, ObjectWrite())
      }
      await #expect(throws: FileStoreError.noSuchBucket) {
        _ = try await it.store.list(nowhere.bucket, ObjectListRequest())
      }
      await #expect(throws: FileStoreError.noSuchKey) { try await it.bytes("k") }
    },
    ContractCase("refuses content with a wrong digest and keeps the previous object") { it in
      try await it.put([1], at: "k")
      for algorithm in [ContentDigest.Algorithm.md5, .sha256] {
        let wrong = try #require(
          ContentDigest(algorithm, [UInt8](repeating: 7, count: algorithm.byteCount)))
        await #expect(throws: FileStoreError.digestMismatch(algorithm)) {
          _ = try await it.store.put(
            .of([2, 3], digests: [wrong]), at: try it.address("k"), ObjectWrite())
        }
      }
      #expect(try await it.bytes("k") == [1])
    },
    ContractCase("records a verified checksum") { it in
      let bytes = [UInt8]("hello".utf8)
      let digest = try #require(ContentDigest(.sha256, Array(SHA256.hash(data: bytes))))
      _ = try await it.store.put(
        .of(bytes, digests: [digest]), at: try it.address("k"), ObjectWrite())
      #expect(
        try await it.store.head(try it.address("k"), conditions: nil).checksum?.digest == digest)
    },
    ContractCase("keeps the previous object when content is interrupted or too short") { it in
      try await it.put([1], at: "k")
      await #expect(throws: FileStoreError.disconnected) {
        _ = try await it.store.put(
          .of([2, 3], failure: .disconnected), at: try it.address("k"), ObjectWrite())
      }
      await #expect(throws: FileStoreError.incomplete) {
        _ = try await it.store.put(
          .of([2, 3], announced: 5), at: try it.address("k"), ObjectWrite())
      }
      #expect(try await it.bytes("k") == [1])
    },
    ContractCase("copies with and without new attributes") { it in
      let attributes = ObjectAttributes(contentType: "text/plain", custom: ["a": "b"])
      try await it.put([1, 2], at: "from", attributes: attributes)
      let copy = try await it.store.copy(
        try it.address("from"), if: nil, to: try it.address("to"), attributes: nil, CopyWrite())
      #expect(try await it.bytes("to") == [1, 2])
      #expect(
        try await it.store.head(try it.address("to"), conditions: nil).attributes == attributes)
      #expect(copy.metadata.tag == Hexadecimal.encode(Insecure.MD5.hash(data: [1, 2])))
      let other = ObjectAttributes(contentType: "text/html")
      _ = try await it.store.copy(
        try it.address("to"), if: nil, to: try it.address("to"), attributes: other, CopyWrite())
      #expect(try await it.store.head(try it.address("to"), conditions: nil).attributes == other)
      try await it.put([9], at: "from")
      #expect(try await it.bytes("to") == [1, 2])
    },
    ContractCase("distinguishes keys of any Unicode") { it in
      let keys = [
        "caf\u{E9}", "cafe\u{301}", "日本/語", "👩‍👩‍👧", " lead", "a+b", "a%2Fb", "a?b#c", "~", "a//b",
        String(repeating: "é", count: 300), "A", "a",
      ]
      for (number, key) in keys.enumerated() { try await it.put([UInt8(number)], at: key) }
      for (number, key) in keys.enumerated() {
        #expect(try await it.bytes(key) == [UInt8(number)], "\(key)")
      }
      let listed = try await it.store.list(it.bucket, ObjectListRequest()).items.map(\.key)
      #expect(listed == keys.compactMap { ObjectKey($0) }.sorted())
    },
    ContractCase("refuses metadata that is too large") { it in
      let attributes = ObjectAttributes(custom: ["a": String(repeating: "x", count: 2048)])
      await #expect(throws: FileStoreError.metadataTooLarge(bytesMax: 2048)) {
        try await it.put([1], at: "k", attributes: attributes)
      }
    },
    ContractCase("creates, lists and removes buckets") { it in
      let name = try #require(BucketName("\(it.bucket.text)-x"))
      try await it.store.createBucket(name)
      await #expect(throws: FileStoreError.bucketExists) { try await it.store.createBucket(name) }
      #expect(try await it.store.buckets().map(\.name).contains(name))
      let address = ObjectAddress(bucket: name, key: try it.address("k").key)
      _ = try await it.store.put(.of([1]), at: address, ObjectWrite())
      await #expect(throws: FileStoreError.bucketNotEmpty) {
        try await it.store.deleteBucket(name)
      }
      _ = try await it.store.delete(address, if: .none)
      try await it.store.deleteBucket(name)
      await #expect(throws: FileStoreError.noSuchBucket) { _ = try await it.store.bucket(name) }
    },
  ]
}
