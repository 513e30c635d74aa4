import HTTPServer
import HTTPWire
import Model

/// The condition of a request that writes an object.
enum WriteConditions {
  static func read(_ request: ServerRequest) throws(Failure) -> WriteCondition {
    let conditions = request.preconditions
    if let ifNoneMatch = conditions.ifNoneMatch {
      guard ifNoneMatch == .any, conditions.ifMatch == nil else {
        throw Failure(
          .notImplemented, "Of If-None-Match only * is taken here, and not beside If-Match.")
      }
      return .absent
    }
    switch conditions.ifMatch {
    case nil: return .none
    case .any: return .present
    // Strong comparison: a weak tag matches nothing (RFC 9110 13.1.1).
    case .tags(let tags): return .tagged(tags.filter { !$0.isWeak }.map(\.opaque))
    }
  }
}
