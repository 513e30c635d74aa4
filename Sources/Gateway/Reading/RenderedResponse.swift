package import Model
import Synchronization
import Upstream

/// A result rendered for clients: the bytes, their tag, and what would make them wrong.
///
/// Immutable but for three flags. ``isCurrent`` turns false, once and for ever, when a commit or an
/// invalidation touches what the bytes show; whoever holds the answer asks before serving it.
package final class RenderedResponse: Sendable {
  /// What an answer was made of.
  package struct Dependencies: Sendable {
    package let operation: String
    package let tags: [String]
    package let types: [String]
    package let entities: [EntityKey]
    /// Whose overlays are in it: what only another device sees does not touch it. Nil for an answer
    /// that is shared.
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
  /// Errors of upstream stand in the body: never fresh.
  package let hasErrors: Bool
  /// Of an answer with a device's overlays: the tag of the shared one that it was made beside.
  let basis: String?
  /// Of the same: the key of that one. Where it is not current any more, this one is not either.
  let basisKey: ResultKey?
  /// What it was made of where the store does not hold it.
  let unkept: UpstreamResponse?
  /// Upstream's present errors, as JSON, beside data that is older than they are.
  let presentErrors: [UInt8]?

  private let current = Atomic(true)
  private let used = Atomic(false)
  /// Who is woken when the answer stops being current.
  private let watchers = Mutex<[ObjectIdentifier: ChangeListener]>([:])
  /// Nil until asked for; then the coded body, or nil where coding does not make it smaller.
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

  package var isCurrent: Bool { current.load(ordering: .acquiring) }

  func expire() {
    current.store(false, ordering: .releasing)
    let woken = watchers.withLock { watchers in
      defer { watchers = [:] }
      return Array(watchers.values)
    }
    ChangeListener.wake(woken, .commit)
  }

  /// Has a listener woken once the answer stops being current.
  ///
  /// - Returns: false, and nobody is woken, if it is not current any more.
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

  /// Told by readers, so that eviction passes by what is in use.
  package func touch() {
    if !used.load(ordering: .relaxed) { used.store(true, ordering: .relaxed) }
  }

  /// Whether the answer was used since the last time this was asked.
  func takeUse() -> Bool {
    used.exchange(false, ordering: .relaxed)
  }

  /// The gzip-coded body, made by the first who asks and kept; nil where it is no smaller.
  package func gzip(_ compress: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
    if let made = gzipped.withLock({ $0 }) { return made }
    let bytes = compress(body)
    gzipped.withLock { $0 = .some(bytes) }
    return bytes
  }

  /// What the answer takes in memory, roughly: body, its coded form, the dependencies, and
  /// the key, of which the client says how long it is.
  package var byteCount: Int {
    body.count + body.count / 4 + 512 + dependencies.entities.count * Self.bytesADependency
      + key.variables.utf8.count + key.scope.subject.utf8.count + key.scope.partition.utf8.count
  }

  /// An ``EntityKey`` with its place in the reverse index.
  private static let bytesADependency = 160
}
