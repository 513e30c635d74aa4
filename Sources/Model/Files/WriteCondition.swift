/// What must hold of an object for it to be written or removed, judged in the same step
/// (RFC 9110 13.1). Everything that is set must hold.
package struct WriteCondition: Hashable, Sendable {
  /// The objects that a condition names by their tags.
  package enum Tags: Hashable, Sendable {
    /// `*`: whatever object is there.
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
  /// `If-None-Match: *`: there is none of that name.
  package static let absent = WriteCondition(notMatching: .any)
  /// `If-Match: *`: there is one.
  package static let present = WriteCondition(matching: .any)

  package init(
    matching: Tags? = nil, notMatching: Tags? = nil, unmodifiedSinceSeconds: Int64? = nil
  ) {
    self.matching = matching
    self.notMatching = notMatching
    self.unmodifiedSinceSeconds = unmodifiedSinceSeconds
  }

  /// `If-Match`: its tag is one of these, given without quotes.
  package static func tagged(_ tags: [String]) -> WriteCondition {
    WriteCondition(matching: .oneOf(tags))
  }

  /// - Parameter state: the object as it is; nil where there is none.
  package func holds(for state: ObjectState?) -> Bool {
    guard let state else { return matching == nil }
    if let matching {
      guard matching.contains(state.tag) else { return false }
    } else if let unmodifiedSinceSeconds {
      // A date counts only without `If-Match`, which is the more exact (RFC 9110 13.2.2).
      guard state.modified.milliseconds / 1000 <= unmodifiedSinceSeconds else { return false }
    }
    return !(notMatching?.contains(state.tag) ?? false)
  }
}
