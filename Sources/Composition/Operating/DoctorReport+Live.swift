import Gateway
import HTTPClient
import Model
import Transport
import Upstream

extension DoctorReport {
  /// The maximum number of subscriptions of one upstream that are tried.
  private static let triedMax = 20
  /// How long one can take until upstream confirms it, besides the timeouts of the connection.
  private static let confirmationMax = Duration.seconds(20)

  /// What settings keep running against upstream, and whether its subscriptions work; empty if it has
  /// neither standing work nor subscriptions.
  ///
  /// - Parameter registry: nil if the operations have faults; then nothing is tried.
  static func live(_ upstream: NamedUpstream, _ registry: OperationRegistry?) async -> [Finding] {
    let counts = standingWork(upstream)
    guard let registry, upstream.settings.url != nil, upstream.settings.subscriptions != .off else {
      return counts
    }
    let trials = LiveTrial.all(of: upstream, in: registry).prefix(triedMax)
    guard !trials.isEmpty else { return counts }
    do {
      let group = try EventLoopGroup(count: 1)
      let client = HTTPClient(
        group: group, tls: try TLSClientContext(), random: { Double.random(in: 0..<1) })
      let subscriptions = UpstreamSubscriptions(
        settings: UpstreamConfiguration(upstream), sockets: client, streams: client,
        clock: SystemClock.wall, uptime: { SystemClock.uptime() },
        random: { Double.random(in: 0..<1) })
      let found = await withTaskGroup(of: (Int, Finding).self) { tasks in
        for (index, trial) in trials.enumerated() {
          tasks.addTask {
            let event = await trial.firstEvent(from: subscriptions, within: confirmationMax)
            return (index, trial.finding(event, part: part(upstream)))
          }
        }
        return await tasks.reduce(into: []) { $0.append($1) }
      }
      subscriptions.stop()
      await client.close()
      await group.shutdown()
      return counts + found.sorted { $0.0 < $1.0 }.map(\.1)
    } catch {
      return counts + [Finding(part: part(upstream), verdict: .bad, text: "\(error)")]
    }
  }

  private static func part(_ upstream: NamedUpstream) -> String {
    upstream.name == .sole ? "live" : "live \(upstream.name)"
  }

  private static func standingWork(_ upstream: NamedUpstream) -> [Finding] {
    let settings = upstream.settings
    let (standing, polls) = (settings.standing.count, settings.polls.count)
    guard standing + polls > 0 else { return [] }
    let counts =
      "\(standing.counted("standing subscription")) and \(polls.counted("poll"))"
    let forwards = settings.forward.contains {
      ForwardedHeaders.credentials.contains($0.lowercased())
    }
    guard forwards, !settings.hasServiceCredentials else {
      return [Finding(part: part(upstream), verdict: .good, text: counts)]
    }
    return [
      Finding(
        part: part(upstream), verdict: .note,
        text: "\(counts) run without a credential, while callers' credentials are forwarded: set "
          + "\(upstream.section).secret or \(upstream.section).headers if upstream must authorise them"
      )
    ]
  }
}

/// One subscription that the doctor opens for a moment, with the service's own credentials.
struct LiveTrial: Sendable {
  let operation: RegisteredOperation
  let variables: Variables
  /// Whether settings keep it open: then a refusal is a fault. Other subscriptions are opened with
  /// callers' credentials, which the doctor does not have.
  let isStanding: Bool

  /// The standing subscriptions of an upstream; without one, a subscription that needs no variable, to try
  /// the connection.
  static func all(of upstream: NamedUpstream, in registry: OperationRegistry) -> [LiveTrial] {
    let plans = upstream.settings.standing.compactMap {
      try? StandingPlan($0.rule, in: registry, of: upstream.name)
    }
    guard plans.isEmpty else {
      return plans.map {
        LiveTrial(operation: $0.operation, variables: $0.variables, isStanding: true)
      }
    }
    for operation in registry.operations
    where operation.kind == .subscription && operation.upstream == upstream.name {
      if let variables = try? operation.coerce(.parameters(path: [], query: [])) {
        return [LiveTrial(operation: operation, variables: variables, isStanding: false)]
      }
    }
    return []
  }

  /// Returns the first event; nil if none came in time.
  func firstEvent(
    from subscriptions: UpstreamSubscriptions, within limit: Duration
  ) async -> SubscriptionEvent? {
    let subscription = subscriptions.open(
      operation, variables: variables, call: UpstreamCall(), credential: "doctor")
    defer { subscription.cancel() }
    return await withTaskGroup(of: SubscriptionEvent?.self) { tasks in
      tasks.addTask { await subscription.next() }
      tasks.addTask {
        try? await Task.sleep(for: limit)
        return nil
      }
      let first = await tasks.next() ?? nil
      subscription.cancel()
      tasks.cancelAll()
      return first
    }
  }

  func finding(_ event: SubscriptionEvent?, part: String) -> DoctorReport.Finding {
    let name = operation.name
    switch event {
    case .established, .next:
      return .init(part: part, verdict: .good, text: "upstream accepts the subscription \(name)")
    case .complete:
      return .init(
        part: part, verdict: isStanding ? .bad : .note,
        text: "upstream completed the subscription \(name) at once")
    case .interrupted(let failure), .failed(let failure):
      return .init(
        part: part, verdict: isStanding || !Self.isRefusal(failure) ? .bad : .note,
        text: "the subscription \(name) fails: \(failure)"
          + (isStanding || !Self.isRefusal(failure) ? "" : " (tried without a caller's credential)")
      )
    case nil:
      return .init(
        part: part, verdict: .bad, text: "upstream did not confirm the subscription \(name) in time"
      )
    }
  }

  /// Whether upstream works, but does not run this subscription for this caller.
  private static func isRefusal(_ failure: UpstreamFailure) -> Bool {
    switch failure {
    // An upstream without subscriptions answers 400, for example.
    case .refused, .serviceRefused, .rejected, .status(400, _), .status(401, _), .status(403, _):
      true
    default: false
    }
  }
}
