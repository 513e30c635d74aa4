import HTTPWire

/// The requests whose response depends on the bytes of their target and `Authorization` alone.
///
/// A response is stored under the ``PlainRequestKey`` of its request, which only ``key(of:)`` makes.
/// So a request that is not looked up because of another field cannot leave its response behind
/// either.
struct PlainRequests: Sendable {
  /// What the target of each begins with; empty for any.
  private let prefix: [UInt8]
  private let takesHead: Bool
  private let takesQuery: Bool
  /// Field names that leave a request to the router, in lower case.
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
  /// - Parameter forwardedNames: header names that settings pass upstream, in lower case: each but
  ///   `authorization` is a credential or a partition that the key does not hold.
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

/// Everything that the response to a plain request depends on.
///
/// The parser refuses a second `Authorization`, so the first value is the whole credential.
struct PlainRequestKey: Sendable {
  private let target: [UInt8]
  /// Empty without the field: an empty value is refused by the parser.
  private let authorization: [UInt8]
  let hash: Int

  var byteCount: Int { target.count + authorization.count }

  fileprivate init(target: ArraySlice<UInt8>, authorization: ArraySlice<UInt8>) {
    self.target = Array(target)
    self.authorization = Array(authorization)
    hash = Self.hash(target, authorization)
  }

  /// The hash of the key that a plain request has, without making the key.
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
