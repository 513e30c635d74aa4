/// The value of `If-Range`: the range counts only if the representation is still this one
/// (RFC 9110 13.1.5).
package enum RangeCondition: Sendable, Equatable {
  case tag(EntityTag)
  case date(HTTPDate)

  /// Reads a value. One that cannot be read matches nothing, so the range is ignored.
  package init?(_ text: String, now: HTTPDate) {
    if let tag = EntityTag(parsing: text) {
      self = .tag(tag)
    } else if let date = HTTPDate(text, now: now) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// Whether the range may be served. Weak tags never match, and a date only exactly.
  package func holds(tag: EntityTag?, modified: HTTPDate?) -> Bool {
    switch self {
    case .tag(let wanted): tag?.stronglyMatches(wanted) ?? false
    case .date(let wanted): modified == wanted
    }
  }
}
