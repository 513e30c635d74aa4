import Gateway
import HTTPClient
import Logging
import Model
import Storage
import Transport
import Upstream

/// The use cases of upstream's live side, wired to the system's clocks and chance.
struct LiveAssembly {
  /// The connections for subscriptions.
  let connections: SubscriptionsByUpstream
  let hub: SubscriptionHub
  let standing: StandingWork

  init(
    _ workspace: Workspace, upstreams: UpstreamAssembly, store: Store, cache: RenderedCache,
    calls: CallSequence, epoch: MutationEpoch, failures: FailureMemory, devices: DeviceRegistry,
    signal: CommitSignal, leader: LeaderLink?, logger: Logger
  ) {
    let clock = SystemClock.wall
    connections = SubscriptionsByUpstream(
      upstreams.clients.mapValues { clients in
        let pulse = upstreams.upstreams[clients.configuration.name].pulse
        return UpstreamSubscriptions(
          settings: clients.configuration, sockets: clients.calls, streams: clients.streams,
          clock: clock, uptime: { SystemClock.uptime() }, random: { Double.random(in: 0..<1) },
          noteService: { pulse.noteService($0) })
      })
    hub = SubscriptionHub(
      variables: TemporaryVariables(store: store.reading), opening: connections, store: store,
      calls: calls, epoch: epoch,
      failures: failures, devices: devices, signal: signal, clock: clock,
      uptime: { SystemClock.uptime() }, sleep: { try await Task.sleep(for: $0) }, leader: leader,
      logger: logger)
    let all = workspace.settings.allUpstreams.map(\.settings)
    // The workspace has checked all rules.
    standing = StandingWork(
      subscriptions: all.flatMap(\.standing).compactMap {
        try? StandingPlan($0.rule, in: workspace.registry)
      },
      polls: all.flatMap(\.polls).compactMap { try? PollPlan($0.rule, in: workspace.registry) },
      hub: hub,
      pull: EntityPull(
        upstreams: upstreams.upstreams, store: store, cache: cache, calls: calls, clock: clock),
      environment: StandingEnvironment(
        clock: clock, uptime: { SystemClock.uptime() }, random: { Double.random(in: 0..<1) },
        sleep: { try await Task.sleep(for: $0) }, logger: logger))
  }
}
