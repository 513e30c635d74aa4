import LosslessJSON
import TestSupport
import Testing

/// A service that is killed while clients use it, at a random moment once it has done some work.
enum KilledService {
  /// The time in which the clients must have done the work after which the service is killed.
  private static let underWaySecondsMax = 30

  /// When the service is killed: once a count has grown by `growth`, and then `delay` later.
  struct Point {
    let growth: Int
    let delay: Duration

    init(
      after growth: Range<Int>, delayMax: Duration = .milliseconds(20),
      random: inout SeededGenerator
    ) {
      self.growth = Int.random(in: growth, using: &random)
      delay = .microseconds(
        Int.random(in: 0..<Int(delayMax / .microseconds(1)), using: &random))
    }
  }

  /// Runs clients at once, kills the service at `point`, and waits for the clients' ends.
  ///
  /// - Parameters:
  ///   - count: what is counted for the point, such as acknowledged writes.
  ///   - clients: get the service's port and run on a thread of their own until the connection breaks, which
  ///     they can throw.
  static func load(
    _ larder: LarderProcess, at point: Point, count: () -> Int,
    clients: [@Sendable (_ port: Int) throws -> Void],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let port = larder.port
    let goal = count() + point.growth
    await withTaskGroup { group in
      for client in clients {
        group.addTask { try? await onOwnThread { try client(port) } }
      }
      let isUnderWay = await Moment.comes(withinSeconds: underWaySecondsMax) { count() >= goal }
      #expect(isUnderWay, "\(larder.errors)", sourceLocation: sourceLocation)
      await Moment.passes(point.delay)
      await larder.kill()
      await group.waitForAll()
    }
  }

  /// Registers devices at a service and kills it: a device that was acknowledged must be on disk too.
  ///
  /// - Returns: their tokens.
  static func register(_ devices: Int = 1, in folder: ServiceFolder) async throws -> [String] {
    let larder = try await LarderProcess.serve(folder)
    let port = larder.port
    let tokens = try await onOwnThread {
      try (0..<devices).map { try RawClient(port: port).registerDevice("phone \($0)") }
    }
    await larder.kill()
    return tokens
  }
}

extension RawClient {
  /// - Returns: the device's token.
  func registerDevice(_ name: String = "phone") throws -> String {
    let answer = try request(
      "POST", "/v1/devices", headers: [("Content-Type", "application/json")],
      body: #"{"platform":"ios","name":"\#(name)"}"#)
    return try #require(
      try JSONValue(parsing: answer.body)["deviceToken"]?.string, "\(answer.text)")
  }
}
