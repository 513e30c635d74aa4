/// The conditions a request puts on its being performed, judged in the order of RFC 9110 13.2.2.
///
/// Values that cannot be read count as absent, as the RFC asks. A judgement is made only where the
/// answer without conditions would be a success.
package struct Preconditions: Sendable {
  /// What a judgement comes to.
  package enum Verdict: Sendable, Equatable {
    case proceed
    /// 304: the client's copy is current.
    case notModified
    /// 412.
    case failed
  }

  package var ifMatch: EntityTagList?
  package var ifUnmodifiedSince: HTTPDate?
  package var ifNoneMatch: EntityTagList?
  package var ifModifiedSince: HTTPDate?

  /// Reads the four fields; several lines of one are one list.
  package init(
    ifMatch: String? = nil, ifUnmodifiedSince: String? = nil, ifNoneMatch: String? = nil,
    ifModifiedSince: String? = nil, now: HTTPDate
  ) {
    self.ifMatch = ifMatch.flatMap { EntityTagList($0) }
    self.ifUnmodifiedSince = ifUnmodifiedSince.flatMap { HTTPDate($0, now: now) }
    self.ifNoneMatch = ifNoneMatch.flatMap { EntityTagList($0) }
    self.ifModifiedSince = ifModifiedSince.flatMap { HTTPDate($0, now: now) }
  }

  /// Reads the four fields of a head.
  package init(_ fields: FieldSection, now: HTTPDate) {
    ifMatch = fields.joined("if-match").flatMap { EntityTagList($0) }
    ifUnmodifiedSince = fields["if-unmodified-since"].flatMap { HTTPDate($0, now: now) }
    ifNoneMatch = fields.joined("if-none-match").flatMap { EntityTagList($0) }
    ifModifiedSince = fields["if-modified-since"].flatMap { HTTPDate($0, now: now) }
  }

  /// Whether no condition is there.
  package var isEmpty: Bool {
    ifMatch == nil && ifUnmodifiedSince == nil && ifNoneMatch == nil && ifModifiedSince == nil
  }

  /// Judges against the current representation.
  ///
  /// - Parameters:
  ///   - isRead: whether the method is GET or HEAD.
  ///   - tag: the current tag; `nil` if there is no representation, or it has none.
  ///   - modified: when it was last changed.
  package func judge(isRead: Bool, tag: EntityTag?, modified: HTTPDate? = nil) -> Verdict {
    if let ifMatch {
      if !ifMatch.stronglyContains(tag) { return .failed }
    } else if let ifUnmodifiedSince, let modified, modified > ifUnmodifiedSince {
      return .failed
    }
    if let ifNoneMatch {
      guard ifNoneMatch.weaklyContains(tag) else { return .proceed }
      return isRead ? .notModified : .failed
    }
    if isRead, let ifModifiedSince, let modified, modified <= ifModifiedSince {
      return .notModified
    }
    return .proceed
  }
}
