import Files
import HTTPWire
import Model
import Testing
import Transport

/// A store under test, with an empty bucket of its own.
struct ContractStore: Sendable {
  let store: any FileStore
  let bucket: BucketName
  /// The minimum size of a part that is not the last.
  let partBytes: Int

  init(store: any FileStore, bucket: String, partBytes: Int) throws {
    self.store = store
    self.bucket = try #require(BucketName(bucket))
    self.partBytes = partBytes
  }

  func address(_ key: String) throws -> ObjectAddress {
    ObjectAddress(bucket: bucket, key: try #require(ObjectKey(key)))
  }

  @discardableResult
  func put(
    _ bytes: [UInt8], at key: String, attributes: ObjectAttributes = ObjectAttributes(),
    if condition: WriteCondition = .none
  ) async throws -> WrittenObject {
    try await store.put(
      .of(bytes), at: try address(key),
      ObjectWrite(attributes: attributes, condition: condition))
  }

  func bytes(
    _ key: String, range: ByteRangeSet.Spec? = nil, conditions: Preconditions? = nil
  ) async throws -> [UInt8] {
    try await store.get(try address(key), range: range, conditions: conditions).bytes()
  }

  func keys(_ request: ObjectListRequest) async throws -> [String] {
    try await store.list(bucket, request).items.map(\.key.text)
  }

  /// Returns all pages of a listing, in order: keys, and common prefixes with a star.
  func pages(_ request: ObjectListRequest) async throws -> [String] {
    var request = request
    var told: [String] = []
    while true {
      let page = try await store.list(bucket, request)
      told += page.items.map(\.key.text) + page.commonPrefixes.map { "\($0)*" }
      guard let next = page.next else { return told }
      request.token = next
    }
  }
}

extension ObjectContent {
  /// Reads the requested bytes to their end.
  func bytes() async throws -> [UInt8] {
    switch source {
    case .bytes(let bytes): return bytes
    case .file(let file): return try file.read(range.count, from: range.lowerBound)
    case .stream(let next):
      var bytes: [UInt8] = []
      while let piece = try await next() { bytes += piece }
      return bytes
    }
  }
}

/// A behaviour that every file store must have.
struct ContractCase: Sendable, CustomTestStringConvertible {
  let name: String
  let run: @Sendable (ContractStore) async throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (ContractStore) async throws -> Void) {
    self.name = name
    self.run = run
  }

  var testDescription: String { name }

  static let all = objects + conditions + listings + uploads
}
