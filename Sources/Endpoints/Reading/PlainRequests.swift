import HTTPWire

/// The requests whose response depends only on the bytes of their target and `Authorization`.
///
/// A response is stored under the ``PlainRequestKey`` of its request, which only ``key(of:)`` makes.
/// So the response to a request that is not looked up, because of another field, is not stored either.
struct PlainRequests: Sendable {
  /// The prefix of each target; empty for any.
  private let prefix: [UInt8]
  private let takesHead: Bool
  private let takesQuery: Bool
  /// Names, in lower case, of fields that leave a request to the router.
  private let excluded: [String]

  private init(
    prefix: String, takesHead: Bool = true, takesQuery: Bool = true, excluded: [String]
  ) {
    self.prefix = Array(prefix.utf8)
    self.takesHead = takesHead
    self.takesQuery = takesQuery
    self.excluded = excluded
  }

  /// Reads of operations.
  ///
  /// - Parameter forwardedNames: header names that settings pass upstream, in lower case. Each except
  ///   `authorization` is a credential or a partition that the key does not contain.
  static func operations(forwardedNames: [String], hasCORS: Bool) -> Self {
    Self(prefix: "", excluded: excluded(forwardedNames, hasCORS))
  }

  /// Pages of changes.
  static func changes(forwardedNames: [String], hasCORS: Bool) -> Self {
    Self(prefix: "/v1/changes?", takesHead: false, excluded: excluded(forwardedNames, hasCORS))
  }

  /// Reads of whole files without a credential.
  static let files = Self(
    prefix: "/v1/files/", takesQuery: false,
    excluded: ["authorization", "if-modified-since", "if-unmodified-since", "origin", "range"])

  private static func excluded(_ forwardedNames: [String], _ hasCORS: Bool) -> [String] {
    forwardedNames.filter { $0 != "authorization" } + (hasCORS ? ["origin"] : [])
  }

  /// The key to store the response to a request under; nil for a request that is not plain.
  func key(of head: borrowing RequestHead) -> PlainRequestKey? {
    guard contains(head) else { return nil }
    return PlainRequestKey(target: head.target, authorization: head["authorization"] ?? [])
  }

  func contains(_ head: borrowing RequestHead) -> Bool {
    guard head.method == .get || takesHead && head.method == .head,
      prefix.isEmpty || head.target.starts(with: prefix), head.keepsAlive, !head.hasBody,
      takesQuery || head.query == nil, !head.fields.contains("cache-control"),
      !head.fields.contains("pragma"),
      !head.fields.contains("device-token"), !head.fields.contains("if-match")
    else { return false }
    for name in excluded where head.contains(name) { return false }
    return true
  }
}

/// The parts of a plain request that its response depends on.
///
/// The parser refuses a second `Authorization`, so the first value is the whole credential.
struct PlainRequestKey: Sendable {
  private let target: [UInt8]
  /// Empty without the field: the parser refuses an empty value.
  private let authorization: [UInt8]
  let hash: Int

  var byteCount: Int { target.count + authorization.count }

  fileprivate init(target: ArraySlice<UInt8>, authorization: ArraySlice<UInt8>) {
    self.target = Array(target)
    self.authorization = Array(authorization)
    hash = Self.hash(target, authorization)
  }

  /// The hash of a plain request's key, computed without making the key.
  static func hash(of head: borrowing RequestHead) -> Int {
    hash(head.target, head["authorization"] ?? [])
  }

  /// Whether a plain request has this key.
  func isKey(of head: borrowing RequestHead) -> Bool {
    head.target.equals(target) && (head["authorization"] ?? []).equals(authorization)
  }

  private static func hash(_ target: ArraySlice<UInt8>, _ authorization: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    target.withUnsafeBytes { hasher.combine(bytes: $0) }
    authorization.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}

extension RequestHead {
  /// Whether the head has a field whose name is known only at run time.
  ///
  /// - Parameter name: in lower case.
  func contains(_ name: String) -> Bool {
    let wanted = name.utf8
    for index in 0..<fields.count {
      let found = fields.name(at: index)
      if found.count == wanted.count,
        found.elementsEqual(wanted, by: { $0 | 0x20 == $1 | 0x20 })
      {
        return true
      }
    }
    return false
  }
}
