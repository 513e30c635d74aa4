/// What must hold of an object for it to be written or removed, judged in the same step.
package enum WriteCondition: Hashable, Sendable {
  case none
  /// `If-None-Match: *`: there is none of that name.
  case absent
  /// `If-Match: *`: there is one.
  case present
  /// `If-Match`: its tag is one of these, given without quotes.
  case tagged([String])

  /// - Parameter tag: of the object as it is; nil where there is none.
  package func holds(for tag: String?) -> Bool {
    switch self {
    case .none: true
    case .absent: tag == nil
    case .present: tag != nil
    case .tagged(let tags): tag.map(tags.contains) ?? false
    }
  }
}
