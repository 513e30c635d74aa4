/// The condition on which an object is written or removed, checked in the same transaction
/// (RFC 9110 13.1). All properties that are set must hold.
package struct WriteCondition: Hashable, Sendable {
  /// The objects that a condition names by their tags.
  package enum Tags: Hashable, Sendable {
    /// `*`: any existing object.
    case any
    /// Tags without quotes.
    case oneOf([String])

    func contains(_ tag: String) -> Bool {
      switch self {
      case .any: true
      case .oneOf(let tags): tags.contains(tag)
      }
    }
  }

  /// `If-Match`.
  package var matching: Tags?
  /// `If-None-Match`.
  package var notMatching: Tags?
  /// `If-Unmodified-Since`, in whole seconds.
  package var unmodifiedSinceSeconds: Int64?

  package static let none = WriteCondition()
  /// `If-None-Match: *`: the object must not exist.
  package static let absent = WriteCondition(notMatching: .any)
  /// `If-Match: *`: the object must exist.
  package static let present = WriteCondition(matching: .any)

  package init(
    matching: Tags? = nil, notMatching: Tags? = nil, unmodifiedSinceSeconds: Int64? = nil
  ) {
    self.matching = matching
    self.notMatching = notMatching
    self.unmodifiedSinceSeconds = unmodifiedSinceSeconds
  }

  /// Returns an `If-Match` condition on one of these tags, given without quotes.
  package static func tagged(_ tags: [String]) -> WriteCondition {
    WriteCondition(matching: .oneOf(tags))
  }

  /// Returns whether the condition holds.
  ///
  /// - Parameter state: of the stored object; nil if there is none.
  package func holds(for state: ObjectState?) -> Bool {
    guard let state else { return matching == nil }
    if let matching {
      guard matching.contains(state.tag) else { return false }
    } else if let unmodifiedSinceSeconds {
      // A date counts only without `If-Match`, which is more exact (RFC 9110 13.2.2).
      guard state.modified.milliseconds / 1000 <= unmodifiedSinceSeconds else { return false }
    }
    return !(notMatching?.contains(state.tag) ?? false)
  }
}

/// The properties of a stored object that conditions check.
package struct ObjectState: Hashable, Sendable {
  /// The entity tag without quotes.
  package let tag: String
  package let modified: Timestamp

  package init(tag: String, modified: Timestamp) {
    self.tag = tag
    self.modified = modified
  }
}

extension ObjectMetadata {
  package var state: ObjectState { ObjectState(tag: tag, modified: modified) }
}
