/// The preconditions of a request, evaluated in the order of RFC 9110 13.2.2.
///
/// A malformed date counts as absent, as the RFC requires (13.1.3, 13.1.4). The RFC has no such rule
/// for tags: a malformed list of tags is a condition that fails, since otherwise a client that guards
/// a write with it would lose that guard. Evaluate conditions only if the response without them would
/// be a success.
package struct Preconditions: Sendable {
  /// The result of evaluating the conditions.
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

  /// Whether `If-Match` is present but malformed.
  package private(set) var hasUnreadableIfMatch = false
  /// Whether `If-None-Match` is present but malformed.
  package private(set) var hasUnreadableIfNoneMatch = false

  /// Parses the four fields; several lines of one field are one list.
  ///
  /// - Parameter acceptsBareTags: whether tags can lack quotes.
  package init(
    ifMatch: String? = nil, ifUnmodifiedSince: String? = nil, ifNoneMatch: String? = nil,
    ifModifiedSince: String? = nil, now: HTTPDate, acceptsBareTags: Bool = false
  ) {
    func tags(_ text: String) -> EntityTagList? {
      acceptsBareTags ? EntityTagList(acceptingBareTags: text) : EntityTagList(text)
    }
    self.ifMatch = ifMatch.flatMap(tags)
    self.ifUnmodifiedSince = ifUnmodifiedSince.flatMap { HTTPDate($0, now: now) }
    self.ifNoneMatch = ifNoneMatch.flatMap(tags)
    self.ifModifiedSince = ifModifiedSince.flatMap { HTTPDate($0, now: now) }
    hasUnreadableIfMatch = ifMatch != nil && self.ifMatch == nil
    hasUnreadableIfNoneMatch = ifNoneMatch != nil && self.ifNoneMatch == nil
  }

  /// Parses the four fields of a head.
  package init(_ fields: FieldSection, now: HTTPDate, acceptsBareTags: Bool = false) {
    self.init(
      ifMatch: fields.joined("if-match")?.text,
      ifUnmodifiedSince: fields["if-unmodified-since"]?.text,
      ifNoneMatch: fields.joined("if-none-match")?.text,
      ifModifiedSince: fields["if-modified-since"]?.text, now: now,
      acceptsBareTags: acceptsBareTags)
  }

  /// Whether there is no condition.
  package var isEmpty: Bool {
    ifMatch == nil && ifUnmodifiedSince == nil && ifNoneMatch == nil && ifModifiedSince == nil
      && !hasUnreadableTags
  }

  /// Whether a list of tags is present but malformed.
  var hasUnreadableTags: Bool { hasUnreadableIfMatch || hasUnreadableIfNoneMatch }

  /// Evaluates the conditions against the current representation.
  ///
  /// - Parameters:
  ///   - isRead: whether the method is GET or HEAD.
  ///   - tag: the current tag; `nil` if there is no representation, or it has none.
  ///   - modified: when it was last changed.
  package func judge(isRead: Bool, tag: EntityTag?, modified: HTTPDate? = nil) -> Verdict {
    if hasUnreadableIfMatch { return .failed }
    if let ifMatch {
      if !ifMatch.stronglyContains(tag) { return .failed }
    } else if let ifUnmodifiedSince, let modified, modified > ifUnmodifiedSince {
      return .failed
    }
    // For a read, sending the whole representation is always correct.
    if hasUnreadableIfNoneMatch { return isRead ? .proceed : .failed }
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

/// The value of `If-Range`: the range applies only if the representation is unchanged
/// (RFC 9110 13.1.5).
package enum RangeCondition: Sendable, Equatable {
  case tag(EntityTag)
  case date(HTTPDate)

  /// Parses a value. A malformed one matches nothing, so the range is ignored.
  package init?(_ text: String, now: HTTPDate) {
    if let tag = EntityTag(parsing: text) {
      self = .tag(tag)
    } else if let date = HTTPDate(text, now: now) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// Returns whether the range can be served. Weak tags never match, and dates must be equal.
  package func holds(tag: EntityTag?, modified: HTTPDate?) -> Bool {
    switch self {
    case .tag(let wanted): tag?.stronglyMatches(wanted) ?? false
    case .date(let wanted): modified == wanted
    }
  }
}
