/// What a handler knows of the request that it serves, for the metrics and the access log.
///
/// Routes and operations are numbers here, so that a cached response is counted without a string:
/// ``RequestNames`` has their names.
package struct RequestFacts: Sendable {
  /// The place of the route in ``RequestNames/routes``; -1 for none.
  package var route: Int32 = -1
  /// The place of the operation in ``RequestNames/operations``; -1 for none.
  package var operation: Int32 = -1
  /// How the response cache was used; nil for a response that does not come from it.
  package var cacheUse: CacheUse?
  /// The time that the request waited for upstream, in nanoseconds; nil if it did not.
  package var upstreamNanoseconds: Int64?
  /// Nil if the caller is not known, or its ids are not logged.
  package var caller: LoggedCaller?
  /// Whether another node of the cluster answered.
  package var isForwarded = false
  /// Whether the request's `Authorization` was verified, for the node that forwarded it.
  package var hasVerifiedAuthorization = false
  /// The same of its `Device-Token`.
  package var hasVerifiedDevice = false
  /// Whether the node is cut off from its cluster, so that what the caller has submitted can be missing.
  package var isCutOff = false
  /// The last submission in the inbox of a cluster that the response shows the caller; nil for none.
  package var inboxEntry: Int64?

  package init() {}
}

/// The ids of a caller in the form in which the access log shows them.
package final class LoggedCaller: Sendable {
  /// Nil without a user.
  package let user: String?
  /// Nil without a device.
  package let device: String?

  package init(user: String?, device: String?) {
    self.user = user
    self.device = device
  }
}

/// The names of a handler's routes and operations. They are known at the start, so that the number of
/// metric series is bounded.
package struct RequestNames: Sendable {
  /// The name of everything that is not in the lists.
  package static let other = "other"

  /// The patterns of the routes, never the path of a request.
  package let routes: [String]
  package let operations: [String]

  package init(routes: [String] = [], operations: [String] = []) {
    self.routes = routes
    self.operations = operations
  }

  func route(_ number: Int32) -> String {
    routes.indices.contains(Int(number)) ? routes[Int(number)] : Self.other
  }

  func operation(_ number: Int32) -> String? {
    operations.indices.contains(Int(number)) ? operations[Int(number)] : nil
  }
}

/// How a response came from the response cache, in the terms of `Cache-Status` (RFC 9211).
package enum CacheUse: UInt8, CaseIterable, Sendable {
  /// Fresh, from the cache.
  case hit
  /// Fresh, and the client has it already: 304.
  case notModified
  /// Stale, while a refresh runs (`stale-while-revalidate`).
  case staleWhileRevalidate
  /// Stale, which the request allowed (`max-stale`).
  case stale
  /// Stale, because upstream failed (`stale-if-error`).
  case staleIfError
  /// Rendered from a stored entity, because upstream failed.
  case lookup
  /// Nothing usable was stored: upstream was called.
  case miss
  /// Waited for a call that another request had begun.
  case collapsed
  /// Stored but stale: upstream was called.
  case refreshed
  /// The request demanded a call of upstream (`no-cache`, `no-store`).
  case bypass

  /// The name in metrics and in the log.
  package var name: String {
    switch self {
    case .hit: "hit"
    case .notModified: "not_modified"
    case .staleWhileRevalidate: "stale_while_revalidate"
    case .stale: "stale"
    case .staleIfError: "stale_if_error"
    case .lookup: "lookup"
    case .miss: "miss"
    case .collapsed: "collapsed"
    case .refreshed: "refreshed"
    case .bypass: "bypass"
    }
  }
}
