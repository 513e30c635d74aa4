/// The conditions a request puts on its being performed, judged in the order of RFC 9110 13.2.2.
///
/// A date that cannot be read counts as absent, as the RFC asks (13.1.3, 13.1.4). It asks no such thing
/// of tags: a list of them that cannot be read is a condition that does not hold, or else a client
/// that guards its write with it would lose what it guards. A judgement is made only where the answer
/// without conditions would be a success.
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

  /// `If-Match` is there and cannot be read.
  package private(set) var hasUnreadableIfMatch = false
  /// `If-None-Match` is there and cannot be read.
  package private(set) var hasUnreadableIfNoneMatch = false

  /// Reads the four fields; several lines of one are one list.
  ///
  /// - Parameter acceptsBareTags: whether tags can stand without quotes.
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

  /// Reads the four fields of a head.
  package init(_ fields: FieldSection, now: HTTPDate, acceptsBareTags: Bool = false) {
    self.init(
      ifMatch: fields.joined("if-match")?.text,
      ifUnmodifiedSince: fields["if-unmodified-since"]?.text,
      ifNoneMatch: fields.joined("if-none-match")?.text,
      ifModifiedSince: fields["if-modified-since"]?.text, now: now,
      acceptsBareTags: acceptsBareTags)
  }

  /// Whether no condition is there.
  package var isEmpty: Bool {
    ifMatch == nil && ifUnmodifiedSince == nil && ifNoneMatch == nil && ifModifiedSince == nil
      && !hasUnreadableTags
  }

  /// Whether a list of tags is there that cannot be read.
  package var hasUnreadableTags: Bool { hasUnreadableIfMatch || hasUnreadableIfNoneMatch }

  /// Judges against the current representation.
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
    // For a read the whole is never wrong.
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
