import Cryptography
import LosslessJSON
package import Model
import Synchronization
import Upstream

/// A result rendered for clients: the bytes, their tag, and their dependencies.
///
/// Immutable except for three flags. ``isCurrent`` becomes false, permanently, when a commit or an
/// invalidation touches the content; holders check it before they serve the response.
package final class RenderedResponse: Sendable {
  /// The data that a response was rendered from.
  package struct Dependencies: Sendable {
    package let operation: String
    package let tags: [String]
    package let types: [String]
    package let entities: [EntityKey]
    /// The device whose overlays are included: changes that only another device sees do not touch
    /// the response. Nil for a shared response.
    package let device: String?

    package init(
      operation: String, tags: [String], types: [String], entities: [EntityKey],
      device: String? = nil
    ) {
      self.operation = operation
      self.tags = tags
      self.types = types
      self.entities = entities
      self.device = device
    }
  }

  package let key: ResultKey
  package let body: [UInt8]
  /// The opaque part of the strong entity tag of ``body``, without quotes.
  package let tag: String
  package let received: Timestamp
  package let policy: CachePolicy
  package let dependencies: Dependencies
  /// Whether the body has upstream errors; such a response is never fresh.
  package let hasErrors: Bool
  /// For a response with a device's overlays: the tag of the shared response it was derived from.
  let basis: String?
  /// The key of that shared response. When that one is no longer current, neither is this one.
  let basisKey: ResultKey?
  /// The upstream response it was rendered from, if that is not stored.
  let unkept: UpstreamResponse?
  /// Upstream's latest errors, as JSON, shown with data that is older than they are.
  let presentErrors: [UInt8]?

  private let current = Atomic(true)
  private let used = Atomic(false)
  /// The listeners that are woken when the response stops being current.
  private let watchers = Mutex<[ObjectIdentifier: ChangeListener]>([:])
  /// Nil until first used; then the coded body, or nil if coding does not make it smaller.
  private let gzipped = Mutex<[UInt8]??>(nil)

  package convenience init(
    key: ResultKey,
    body: [UInt8],
    received: Timestamp,
    policy: CachePolicy,
    dependencies: Dependencies,
    hasErrors: Bool
  ) {
    self.init(
      key: key, body: body, received: received, policy: policy, dependencies: dependencies,
      hasErrors: hasErrors, basis: nil, basisKey: nil, unkept: nil)
  }

  init(
    key: ResultKey,
    body: [UInt8],
    received: Timestamp,
    policy: CachePolicy,
    dependencies: Dependencies,
    hasErrors: Bool,
    basis: String?,
    basisKey: ResultKey?,
    unkept: UpstreamResponse?,
    presentErrors: [UInt8]? = nil
  ) {
    self.presentErrors = presentErrors
    self.basis = basis
    self.basisKey = basisKey
    self.unkept = unkept
    self.key = key
    self.body = body
    self.received = received
    self.policy = policy
    self.dependencies = dependencies
    self.hasErrors = hasErrors
    tag = EntityDigest.tag(of: body)
  }

  /// Whether no commit or invalidation has touched the content yet.
  package var isCurrent: Bool { current.load(ordering: .acquiring) }

  /// Marks the response as no longer current and wakes its listeners.
  func expire() {
    current.store(false, ordering: .releasing)
    let woken = watchers.withLock { watchers in
      defer { watchers = [:] }
      return Array(watchers.values)
    }
    ChangeListener.wake(woken, .commit)
  }

  /// Registers a listener to be woken once the response stops being current.
  ///
  /// - Returns: false, without registering, if it is no longer current.
  func watch(_ listener: ChangeListener) -> Bool {
    watchers.withLock { watchers in
      guard isCurrent else { return false }
      watchers[ObjectIdentifier(listener)] = listener
      return true
    }
  }

  func unwatch(_ listener: ChangeListener) {
    watchers.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(listener)) }
  }

  /// Marks the response as used, so that eviction skips it once.
  package func touch() {
    if !used.load(ordering: .relaxed) { used.store(true, ordering: .relaxed) }
  }

  /// Returns whether the response was used since the last call, and resets that.
  func takeUse() -> Bool {
    used.exchange(false, ordering: .relaxed)
  }

  /// Returns the gzip-coded body, made on first use and kept; nil if it is no smaller.
  package func gzip(_ compress: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
    if let made = gzipped.withLock({ $0 }) { return made }
    let bytes = compress(body)
    gzipped.withLock { $0 = .some(bytes) }
    return bytes
  }

  /// The approximate memory size: body, its coded form, the dependencies, and the key, whose length
  /// the client determines.
  package var byteCount: Int {
    body.count + body.count / 4 + 512 + dependencies.entities.count * Self.bytesADependency
      + key.variables.utf8.count + key.scope.subject.utf8.count + key.scope.partition.utf8.count
  }

  /// The approximate size of an ``EntityKey`` with its entry in the reverse index.
  private static let bytesADependency = 160
}

extension RenderedResponse {
  /// Returns the same data as last good values, with the errors of upstream's latest response.
  ///
  /// - Parameter errors: as JSON.
  func showing(errors: [UInt8]) -> RenderedResponse {
    let response = RenderedResponse(
      key: key, body: Self.body(body, showing: errors), received: received, policy: policy,
      dependencies: dependencies, hasErrors: true, basis: nil, basisKey: nil, unkept: nil,
      presentErrors: errors)
    // It serves this one request only.
    response.expire()
    return response
  }

  /// Returns the body with its errors replaced, and every root field listed in `stale`.
  static func body(_ body: [UInt8], showing errors: [UInt8]) -> [UInt8] {
    guard let data = (try? JSONDocument(checked: body))?.root["data"] else { return body }
    var writer = JSONWriter()
    writer.reserve(body.count + errors.count + 64)
    writer.beginObject()
    writer.name("data")
    writer.value(data)
    writer.name("errors")
    writer.raw(errors)
    writer.name("stale")
    writer.beginArray()
    for member in data.members {
      writer.beginArray()
      writer.string(member.name)
      writer.endArray()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}

/// Entity tags computed from a representation's bytes: the same bytes have the same tag after a
/// restart and on every node (RFC 9110 section 8.8.3).
enum EntityDigest {
  /// Returns 128 bits of SHA-256 in base64url, 22 characters.
  static func tag(of body: [UInt8]) -> String {
    Base64URL.encode(SHA256.hash(data: body).prefix(16))
  }

  /// Returns a validator of an entity with nested ones: that of the entity's own fields, and that of all.
  static func join(_ own: String, _ all: String) -> String { "\(own).\(all)" }

  /// Returns the part of a validator that stands for the entity's own fields: all of it, unless entities
  /// are nested. Base64url has no point.
  static func own(_ validator: String) -> String {
    String(validator.prefix { $0 != "." })
  }

  /// Returns 96 bits of SHA-256 in base64url, 16 characters, which identify one state of an entity.
  static func revision(of content: [UInt8]) -> String {
    Base64URL.encode(SHA256.hash(data: content).prefix(12))
  }
}
