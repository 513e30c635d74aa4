/// How long one query of a caller's making can take, by a clock that is a parameter.
package struct QueryDeadline: Sendable {
  package let limit: Duration
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: any clock that never goes back.
  package init(limit: Duration, uptime: @escaping @Sendable () -> Duration) {
    self.limit = limit
    self.uptime = uptime
  }

  /// Starts the time of a query.
  func begin() -> QueryWatch {
    QueryWatch(end: uptime() + limit, uptime: uptime)
  }

  /// The same clock with another limit.
  func with(limit: Duration) -> QueryDeadline {
    QueryDeadline(limit: limit, uptime: uptime)
  }
}
