/// How a demo server is set up; what can change while it runs is in `DemoSwitches`.
package struct DemoOptions: Sendable {
  package var host: String
  /// 0 lets the system choose.
  package var port: Int
  /// The same seed gives the same films.
  package var seed: UInt64
  /// Seconds since 1970, for `serverTime` and `updatedAt`.
  package var now: @Sendable () -> Int64
  package var switches: DemoSwitches
  /// Requests that ``DemoReport/recent`` keeps.
  package var recentMax = 50

  package init(
    host: String = "127.0.0.1", port: Int = 0, seed: UInt64 = DemoOptions.usualSeed,
    switches: DemoSwitches = DemoSwitches(), now: @escaping @Sendable () -> Int64
  ) {
    self.host = host
    self.port = port
    self.seed = seed
    self.now = now
    self.switches = switches
  }

  /// The year of the first public screening.
  package static let usualSeed: UInt64 = 1895
}
