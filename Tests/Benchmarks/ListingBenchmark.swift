import Model
import Storage

/// A page of 1,000 keys out of 10,000 and out of 1,000,000, from the middle of the bucket and by common
/// prefixes.
enum ListingBenchmark {
  private static let pageKeys = 1000
  /// The number of keys under one prefix.
  private static let folderKeys = 500
  private static let bulkMax = 2000
  private static let bucket: BucketName = {
    guard let bucket = BucketName("pics") else { preconditionFailure("a bucket's name") }
    return bucket
  }()

  static func run() async throws {
    let small = try await fill(keys: 10_000)
    defer { small.end() }
    let large = try await fill(keys: 1_000_000)
    defer { large.end() }
    let times = try await Measuring([{ try await list(small) }, { try await list(large) }])
    ResultRow(
      name: "listing: pages of \(pageKeys) among 1,000,000 keys",
      measured: times.median(1).shown, held: "among 10,000: \(times.median(0).shown)",
      result: times.ratio(1, to: 0), goal: "≤ 1.3"
    ).show()
  }

  private static func list(_ filled: FilledStore) async throws {
    for place in 0..<10 {
      let middle = key(place * (filled.count - 2 * pageKeys) / 10)
      let page = try await filled.store.listObjects(
        in: bucket, ObjectListRequest(after: middle, limit: pageKeys))
      precondition(page?.items.count == pageKeys)
    }
    let folders = try await filled.store.listObjects(
      in: bucket, ObjectListRequest(delimiter: "/", limit: 10))
    precondition(folders?.commonPrefixes.count == 10)
  }

  private static func key(_ number: Int) -> String {
    let digits = "\(10_000_000 + number)"
    return "folder-\(10_000 + number / folderKeys)/photo-\(digits).jpeg"
  }

  private static func fill(keys: Int) async throws -> FilledStore {
    let filled = try FilledStore(count: keys, types: [])
    let (store, bucket) = (filled.store, bucket)
    _ = try await store.createFileBucket(bucket, at: Timestamp(milliseconds: 0))
    for first in stride(from: 0, to: keys, by: bulkMax) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in first..<min(first + bulkMax, keys) {
          guard let key = ObjectKey(key(number)) else { continue }
          group.addTask {
            let metadata = ObjectMetadata(
              key: key, size: number, modified: Timestamp(milliseconds: 0),
              tag: "d41d8cd98f00b204e9800998ecf8427e",
              attributes: ObjectAttributes(contentType: "image/jpeg"))
            let blob = BlobName { UInt64.random(in: 0...UInt64.max) }
            _ = try await store.commitObject(
              StoredObject(metadata: metadata, blob: blob),
              at: ObjectAddress(bucket: bucket, key: key), if: .none, quota: .none)
          }
        }
        try await group.waitForAll()
      }
    }
    return filled
  }
}
