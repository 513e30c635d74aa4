import Transport

/// What the loops of one server have in common.
struct ServerShared: Sendable {
  let handler: any RequestHandler
  let configuration: HTTPServerConfiguration
  let book: ConnectionRegistry
  let shedding: IdleEviction
  let drain: DrainSignal
  let cutOff: DrainSignal
  let counters: ServerCounters
  /// `nil` where rates are not limited.
  let rates: RateLimiter?
  let blockingPool: BlockingPool

  var limits: ServerLimits { configuration.limits }
}
