import HTTPWire

/// The requests whose response depends only on the bytes of their target, `Authorization` and content.
///
/// A response is stored under the ``PlainRequestKey`` of its request, which only ``key(of:)`` makes.
/// So the response to a request that is not looked up, because of another field, is not stored either.
struct PlainRequests: Sendable {
  /// The prefix of each target; empty for any.
  private let prefix: StaticString
  private let takesHead: Bool
  private let takesQuery: Bool
  private let takesGraphQL: Bool
  /// Names of fields that leave a request to the router.
  private let excluded: FieldNames

  private init(
    prefix: StaticString, takesHead: Bool = true, takesQuery: Bool = true,
    takesGraphQL: Bool = false, excluded: [String]
  ) {
    self.prefix = prefix
    self.takesHead = takesHead
    self.takesQuery = takesQuery
    self.takesGraphQL = takesGraphQL
    self.excluded = FieldNames(
      excluded + [
        "cache-control", "pragma", "device-token", "if-match", OperatorAccess.csrfFieldName,
      ])
  }

  /// Reads of operations, also as JSON sent to `/v1/graphql`.
  ///
  /// - Parameter forwardedNames: header names that settings pass upstream, in lower case. Each except
  ///   `authorization` is a credential or a partition that the key does not contain.
  static func operations(forwardedNames: [String], hasCORS: Bool) -> Self {
    Self(prefix: "", takesGraphQL: true, excluded: excluded(forwardedNames, hasCORS))
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
  ///
  /// - Parameter content: see ``contains(_:content:)``.
  func key(of head: borrowing RequestHead, content: [UInt8] = []) -> PlainRequestKey? {
    guard content.withUnsafeBytes({ contains(head, content: $0) }), let form = ReadForm(of: head)
    else { return nil }
    return PlainRequestKey(
      target: head.target, authorization: head["authorization"] ?? [], content: content, form: form)
  }

  /// - Parameter content: all of the request's content, as it was sent.
  @inline(__always)
  func contains(
    _ head: borrowing RequestHead,
    content: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) -> Bool {
    switch head.method {
    case .get: break
    case .head where takesHead: break
    case .post where takesGraphQL: return containsGraphQL(head, content)
    default: return false
    }
    return head.keepsAlive && !head.hasBody && (takesQuery || head.query == nil)
      && head.targetStarts(with: prefix)
      && !head.fields.containsAny(of: excluded)
  }

  private func containsGraphQL(
    _ head: borrowing RequestHead, _ content: UnsafeRawBufferPointer
  ) -> Bool {
    head.targetEquals("/v1/graphql") && head.keepsAlive
      && head.framing == .length(content.count) && !content.isEmpty
      && content.count <= Self.contentBytesMax
      && head["content-type"].map(Self.isJSON) ?? false
      && !head.fields.containsAny(of: excluded)
      && head["content-encoding"] == nil
  }

  /// Longer content, such as that of a client that sends whole documents, is left to the router.
  private static let contentBytesMax = 4 * 1024

  /// The two ways in which clients write it; any other is left to the router.
  private static func isJSON(_ value: ArraySlice<UInt8>) -> Bool {
    value.equalsIgnoringCase("application/json")
      || value.equalsIgnoringCase("application/json; charset=utf-8")
  }
}

/// The parts of a plain request that its response depends on: its target, its credential, its content, and
/// the form of the response, which follows from the method, the target and `Accept`.
///
/// The parser refuses a second `Authorization`, so the first value is the whole credential.
struct PlainRequestKey: Sendable {
  private let target: [UInt8]
  /// Empty without the field: the parser refuses an empty value.
  private let authorization: [UInt8]
  /// Empty for a read by GET or HEAD.
  private let content: [UInt8]
  let form: ReadForm
  let hash: Int

  var byteCount: Int { target.count + authorization.count + content.count }

  fileprivate init(
    target: ArraySlice<UInt8>, authorization: ArraySlice<UInt8>, content: [UInt8], form: ReadForm
  ) {
    self.target = Array(target)
    self.authorization = Array(authorization)
    self.content = content
    self.form = form
    hash = target.withUnsafeBytes { target in
      authorization.withUnsafeBytes { authorization in
        content.withUnsafeBytes { Self.hash(target, authorization, $0, form) }
      }
    }
  }

  /// The hash of a plain request's key, computed without making the key.
  @inline(__always)
  static func hash(
    of head: borrowing RequestHead,
    content: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    form: ReadForm = .rest
  ) -> Int {
    head.withTarget(and: "authorization") { hash($0, $1, content, form) }
  }

  /// Whether a plain request has this key.
  @inline(__always)
  func isKey(
    of head: borrowing RequestHead,
    content: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    form: ReadForm = .rest
  ) -> Bool {
    guard self.form == form, self.content.count == content.count,
      content.isEmpty || self.content.withUnsafeBytes({ ByteComparison.areEqual($0, content) })
    else { return false }
    return head.withTarget(and: "authorization") { target, authorization in
      let isEqual =
        self.target.withUnsafeBytes { ByteComparison.areEqual($0, target) }
        && self.authorization.withUnsafeBytes { ByteComparison.areEqual($0, authorization) }
      return isEqual ? 1 : 0
    } == 1
  }

  private static func hash(
    _ target: UnsafeRawBufferPointer, _ authorization: UnsafeRawBufferPointer,
    _ content: UnsafeRawBufferPointer, _ form: ReadForm
  ) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: target)
    hasher.combine(bytes: authorization)
    if !content.isEmpty { hasher.combine(bytes: content) }
    return hasher.finalize() &+ Int(form.rawValue)
  }
}
