package import Logging
import LosslessJSON
import Metrics
package import Model
import Synchronization
package import Upstream

/// Compares a share of the cached responses with upstream's present one, to show how often a cache
/// period hides a change: `@cache(shadow: 0.01)`.
///
/// The client does not wait for it, nothing of it is stored, and its failures count for nothing. A
/// response that changed in the store meanwhile is not compared. For each operation one comparison
/// runs at a time.
package final class ShadowReads: Sendable {
  /// The maximum number of comparisons at a time, of all operations.
  private static let concurrentMax = 4
  /// The maximum number of differing paths that one comparison counts.
  static let pathsMax = 20
  /// The time between two log lines of one operation.
  private static let logInterval = Duration.seconds(60)

  private struct State {
    var running: Set<String> = []
    var logged: [String: Timestamp] = [:]
  }

  private let upstreams: Upstreams
  private let clock: WallClock
  private let random: @Sendable () -> Double
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameter random: returns numbers from 0 up to, but not including, 1.
  package init(
    upstreams: Upstreams, clock: WallClock, random: @escaping @Sendable () -> Double,
    logger: Logger
  ) {
    self.upstreams = upstreams
    self.clock = clock
    self.random = random
    self.logger = logger
  }

  /// Creates comparisons for a service with one upstream.
  package convenience init(
    upstream: UpstreamClient, clock: WallClock, random: @escaping @Sendable () -> Double,
    logger: Logger
  ) {
    let pulse = UpstreamPulse(uptime: { .zero }, logger: logger)
    self.init(
      upstreams: Upstreams(client: upstream, pulse: pulse), clock: clock, random: random,
      logger: logger)
  }

  /// Begins a comparison if the operation's share says so.
  func consider(_ rendered: RenderedResponse, of request: ReadRequest) {
    let share = request.policy.shadow
    guard share > 0, !rendered.hasErrors, random() < share else { return }
    let name = request.operation.name
    let begins = state.withLock { state in
      guard state.running.count < Self.concurrentMax else { return false }
      return state.running.insert(name).inserted
    }
    guard begins else { return }
    Task.detached { [self] in
      await compare(rendered, of: request)
      state.withLock { _ = $0.running.remove(name) }
    }
  }

  private func compare(_ rendered: RenderedResponse, of request: ReadRequest) async {
    let operation = request.operation
    guard
      let response = try? await upstreams.upstream(of: operation).client.execute(
        operation, variables: request.variables, call: UpstreamCall(request)),
      response.kind == .success, rendered.isCurrent
    else { return count("skipped", of: operation) }
    let present = UpstreamResponseRenderer.render(
      response, selection: operation.selection(for: request.variables))
    guard let shown = try? JSONValue(parsing: rendered.body)["data"],
      let wanted = try? JSONValue(parsing: present)["data"]
    else { return count("skipped", of: operation) }
    let paths = JSONDifference.paths(between: shown, and: wanted, countMax: Self.pathsMax)
    count(paths.isEmpty ? "equal" : "different", of: operation)
    for path in paths {
      Counter(
        label: "larder.shadow.mismatches",
        dimensions: [("operation", operation.name), ("path", path)]
      ).increment()
    }
    if !paths.isEmpty { log(paths, of: request) }
  }

  private func count(_ result: String, of operation: RegisteredOperation) {
    Counter(
      label: "larder.shadow.comparisons",
      dimensions: [("operation", operation.name), ("result", result)]
    ).increment()
  }

  /// Logs an example without its values, which can be personal.
  private func log(_ paths: [String], of request: ReadRequest) {
    let name = request.operation.name
    let now = clock.now()
    let isDue = state.withLock { state in
      if let last = state.logged[name], last.elapsed(until: now) < Self.logInterval { return false }
      state.logged[name] = now
      return true
    }
    guard isDue else { return }
    logger.notice(
      "a cached response differs from upstream's present one",
      metadata: ["operation": "\(name)", "paths": "\(paths.joined(separator: " "))"])
  }
}

/// Where two JSON values differ.
enum JSONDifference {
  /// The deepest level that is compared; below it values are compared as a whole.
  private static let depthMax = 64

  /// Returns the paths of fields that differ, such as `films[].title`, each once: `[]` stands for the
  /// elements of a list, whose own path is returned if their number differs.
  static func paths(between left: JSONValue, and right: JSONValue, countMax: Int) -> [String] {
    var walk = Walk(countMax: countMax)
    walk.compare(left, right, at: "", depth: 0)
    return walk.paths
  }

  private struct Walk {
    let countMax: Int
    var paths: [String] = []

    mutating func compare(_ left: JSONValue, _ right: JSONValue, at path: String, depth: Int) {
      guard paths.count < countMax, left != right else { return }
      switch (left, right) {
      case (.object(let first), .object(let second)) where depth < depthMax:
        let others = Dictionary(second.map { ($0.name, $0.value) }) { known, _ in known }
        let names = Set(first.map(\.name))
        for member in first {
          let place = path.isEmpty ? member.name : "\(path).\(member.name)"
          guard let other = others[member.name] else {
            note(place)
            continue
          }
          compare(member.value, other, at: place, depth: depth + 1)
        }
        for member in second where !names.contains(member.name) {
          note(path.isEmpty ? member.name : "\(path).\(member.name)")
        }
      case (.array(let first), .array(let second)) where depth < depthMax:
        if first.count != second.count { note(path) }
        for (one, other) in zip(first, second) {
          compare(one, other, at: path + "[]", depth: depth + 1)
        }
      default:
        note(path)
      }
    }

    private mutating func note(_ path: String) {
      let shown = path.isEmpty ? "data" : path
      if paths.count < countMax, !paths.contains(shown) { paths.append(shown) }
    }
  }
}
