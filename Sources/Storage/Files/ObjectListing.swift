import GRDB
import Model

/// A page of a bucket's keys, read by scanning the index.
///
/// Keys under a common prefix are skipped, so the cost of a page depends on its entries, not on the number
/// of keys under a prefix or elsewhere in the bucket.
struct ObjectListing {
  private let bucket: Int64
  private let request: ObjectListRequest
  private let prefix: [UInt8]
  private let delimiter: [UInt8]
  private let database: Database
  private var page = ObjectListPage()
  private var count = 0
  private var last: ListToken.Place?

  /// A lower bound of keys, inclusive or exclusive.
  private struct Start {
    var key: [UInt8]
    var isIncluded: Bool

    /// The later of two.
    func later(_ other: Start) -> Start {
      if key.elementsEqual(other.key) { return isIncluded ? other : self }
      return key.lexicographicallyPrecedes(other.key) ? other : self
    }
  }

  init(_ request: ObjectListRequest, bucket: Int64, _ database: Database) {
    self.request = request
    self.bucket = bucket
    self.database = database
    prefix = Array(request.prefix.utf8)
    delimiter = Array((request.delimiter ?? "").utf8)
  }

  mutating func read() throws -> ObjectListPage {
    guard request.limit > 0 else { return page }
    var next: Start? = start()
    while let start = next { next = try walk(from: start) }
    return page
  }

  private func start() -> Start {
    var start = Start(key: prefix, isIncluded: true)
    if let after = request.after {
      start = start.later(Start(key: Array(after.utf8), isIncluded: false))
    }
    switch request.token?.place {
    case .key(let key): start = start.later(Start(key: Array(key.utf8), isIncluded: false))
    case .prefix(let listed):
      start = start.later(Start(key: Self.end(of: Array(listed.utf8)), isIncluded: true))
    case .foreign, nil: break
    }
    return start
  }

  /// Adds keys up to the first common prefix.
  ///
  /// - Returns: where to continue; nil at the end of the page or of the keys.
  private mutating func walk(from start: Start) throws -> Start? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT key, size, modified, tag FROM file_object \
      WHERE bucket = ?1 AND key \(start.isIncluded ? ">=" : ">") ?2 ORDER BY key
      """)
    statement.bind(bucket, at: 1)
    statement.bind(start.key, at: 2)
    defer { statement.reset() }
    while try statement.step() {
      guard let key = statement.bytes(0), key.starts(with: prefix) else { return nil }
      guard count < request.limit else {
        page.next = last.map { ListToken($0) }
        return nil
      }
      count += 1
      if let common = commonPrefix(of: key) {
        let text = String(decoding: common, as: UTF8.self)
        page.commonPrefixes.append(text)
        last = .prefix(text)
        return Start(key: Self.end(of: Array(common)), isIncluded: true)
      }
      let text = String(decoding: key, as: UTF8.self)
      last = .key(text)
      guard let name = ObjectKey(text) else { continue }
      page.items.append(
        ObjectListPage.Item(
          key: name, size: Int(statement.int64(1)),
          modified: Timestamp(milliseconds: statement.int64(2)), tag: statement.string(3)))
    }
    return nil
  }

  private func commonPrefix(of key: [UInt8]) -> ArraySlice<UInt8>? {
    guard !delimiter.isEmpty, key.count >= prefix.count + delimiter.count else { return nil }
    for index in prefix.count...(key.count - delimiter.count)
    where key[index...].starts(with: delimiter) {
      return key[..<(index + delimiter.count)]
    }
    return nil
  }

  /// Returns the lowest text after all texts with this prefix; UTF-8 contains no byte 0xFF, so the last byte
  /// can always be incremented.
  private static func end(of prefix: [UInt8]) -> [UInt8] {
    var end = prefix
    if let last = end.popLast() { end.append(last &+ 1) }
    return end
  }
}
