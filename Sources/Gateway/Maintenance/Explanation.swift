package import Model

/// Why a read of an operation would be served or fetched: what an operator asks at night.
package struct Explanation: Sendable {
  package struct Stored: Sendable {
    package let received: Timestamp
    package let age: Duration
    package let freshness: Freshness
    /// When it stops being served without asking upstream.
    package let expires: Timestamp
    /// A refetch was asked for: by an invalidation, a purge or an error of upstream.
    package let isDue: Bool
    /// Response paths the store knows nothing of.
    package let misses: [String]
    /// The entities the answer shows, sorted.
    package let dependencies: [EntityKey]
    /// A rendered answer is held in memory.
    package let isRendered: Bool
  }

  package let key: ResultKey
  package let policy: CachePolicy
  /// What a request without directives would do.
  package let decision: ReadDecision
  /// In a sentence.
  package let reason: String
  /// Nil where nothing is stored.
  package let stored: Stored?
}
