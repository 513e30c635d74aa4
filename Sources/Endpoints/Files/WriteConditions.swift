import HTTPServer
import HTTPWire
import Model

/// The condition of a request that writes an object.
enum WriteConditions {
  static func read(_ request: ServerRequest) throws(Failure) -> WriteCondition {
    try read(request.preconditions)
  }

  /// - Throws: where a condition cannot be read: what it guards must not be written.
  static func read(_ conditions: Preconditions) throws(Failure) -> WriteCondition {
    let unreadable = [
      ("If-Match", conditions.hasUnreadableIfMatch),
      ("If-None-Match", conditions.hasUnreadableIfNoneMatch),
    ].filter(\.1)
    guard unreadable.isEmpty else {
      throw Failure(
        .malformedRequest, "A condition of the request cannot be read.",
        details: unreadable.map { name, _ in
          Failure.Detail(
            place: .parameter(name), detail: "must be * or a list of entity tags in quotes")
        })
    }
    return WriteCondition(
      matching: conditions.ifMatch.map { tags($0, isWeakTaken: false) },
      notMatching: conditions.ifNoneMatch.map { tags($0, isWeakTaken: true) },
      unmodifiedSinceSeconds: conditions.ifUnmodifiedSince?.secondsSince1970)
  }

  /// - Parameter isWeakTaken: for `If-None-Match`, which compares weakly. `If-Match` compares strongly,
  ///   so that a weak tag matches nothing (RFC 9110 13.1.1, 13.1.2).
  private static func tags(_ list: EntityTagList, isWeakTaken: Bool) -> WriteCondition.Tags {
    switch list {
    case .any: .any
    case .tags(let tags): .oneOf(tags.filter { isWeakTaken || !$0.isWeak }.map(\.opaque))
    }
  }
}
