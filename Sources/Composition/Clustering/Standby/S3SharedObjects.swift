import Model
import S3FileStore
import Standby

/// Shared objects in a bucket.
struct S3SharedObjects: SharedObjects {
  let objects: S3ConditionalObjects
  let bucket: String
  let endpoint: String
  /// The beginning of all keys.
  let name: String

  var place: String { "the bucket \(bucket) at \(endpoint)" }

  func read(_ name: String) async throws(StandbyError) -> [UInt8]? {
    try await asked { () throws(FileStoreError) in try await objects.get(key(name)) }?.bytes
  }

  func make(_ name: String, _ bytes: [UInt8]) async throws(StandbyError) -> Bool {
    try await asked { () throws(FileStoreError) in
      try await objects.put(key(name), bytes, if: .absent)
    } != nil
  }

  func remove(_ name: String) async throws(StandbyError) {
    try await asked { () throws(FileStoreError) in try await objects.remove(key(name)) }
  }

  func register(_ name: String) async throws(StandbyError) -> RegisterState? {
    try await asked { () throws(FileStoreError) in try await objects.get(key(name)) }
      .map { RegisterState(bytes: $0.bytes, version: $0.tag) }
  }

  func replace(
    _ name: String, with bytes: [UInt8], after version: String?
  ) async throws(StandbyError) -> String? {
    try await asked { () throws(FileStoreError) in
      try await objects.put(
        key(name), bytes, if: version.map { .tag($0) } ?? .absent)
    }
  }

  private func key(_ name: String) throws(FileStoreError) -> ObjectKey {
    guard let key = ObjectKey("\(self.name)/\(name)") else {
      throw .other("\(self.name)/\(name) is no key")
    }
    return key
  }

  private func asked<Value>(
    _ body: () async throws(FileStoreError) -> Value
  ) async throws(StandbyError) -> Value {
    do throws(FileStoreError) {
      return try await body()
    } catch {
      switch error {
      case .noSuchBucket: throw .faulty("\(place) does not exist; make it")
      case .denied:
        throw .faulty(
          "\(place) refuses the access key, or its right to read, write and delete there")
      case .unsupported: throw .faulty("\(place) does not support conditional writes")
      case .unavailable: throw .unavailable("\(place) does not respond")
      case .storageFull: throw .unavailable("\(place) is full")
      default: throw .unavailable("\(place): \(error)")
      }
    }
  }
}
