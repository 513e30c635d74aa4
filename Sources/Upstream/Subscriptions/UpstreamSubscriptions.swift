import HTTPClient
package import Model
import Synchronization

/// The live side of one upstream: connections by credential, with the subscriptions on them.
///
/// A connection is made for the first subscription of a credential, and closed a few seconds after the
/// last one has left. When a connection has as many subscriptions as it can have, another one is made.
package final class UpstreamSubscriptions: SubscriptionOpening {
  private struct State {
    var links: [String: [SubscriptionLink]] = [:]
    var linkCount = 0
    var nextNumber = 1
    var hasStopped = false
  }

  /// Nil if the configured URL is invalid.
  private let environment: SubscriptionEnvironment?
  private let settings: UpstreamConfiguration
  private let limits: SubscriptionLimits
  private let meters: SubscriptionMeters
  private let reader: UpstreamResponseReader
  private let noteService: ServiceCredentialObserver?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - streams: a client of its own, since event streams occupy its connections: with as many of
  ///     them as `limits.connectionsMax`, and a stall timeout above the server's heartbeat.
  ///   - uptime: a monotonic clock.
  ///   - random: returns numbers from 0 up to, but not including, 1.
  ///   - noteService: called when upstream has accepted or refused the service's own credential for a
  ///     subscription.
  package init(
    settings: UpstreamConfiguration, limits: SubscriptionLimits? = nil,
    sockets: any WebSocketOpening, streams: any EventStreamOpening,
    clock: WallClock, uptime: @escaping @Sendable () -> Duration,
    random: @escaping @Sendable () -> Double,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    noteService: ServiceCredentialObserver? = nil
  ) {
    let limits = limits ?? SubscriptionLimits(settings.dialect)
    let meters = SubscriptionMeters(upstream: settings.name.text)
    let reader = UpstreamResponseReader(
      bytesMax: limits.messageBytesMax, depthMax: settings.responseDepthMax, clock: clock)
    self.settings = settings
    self.limits = limits
    self.meters = meters
    self.reader = reader
    self.noteService = noteService
    environment = (try? HTTPURL(settings.url)).map { url in
      SubscriptionEnvironment(
        settings: settings, url: url, limits: limits, sockets: sockets, streams: streams,
        reader: reader, meters: meters, uptime: uptime, random: random, sleep: sleep)
    }
  }

  /// The number of connections, including those that are being made.
  package var connectionCount: Int { state.withLock { $0.linkCount } }

  /// For operators.
  package var status: LiveSideStatus { meters.status }

  package func open(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall, credential: String
  ) -> UpstreamSubscription {
    let number = state.withLock { state in
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
    let buffer = SubscriptionBuffer(
      number: number, request: SubscriptionRequest(operation, variables: variables),
      limits: limits)
    let events = SubscriptionReader(
      buffer, selection: operation.selection(for: variables), reader: reader,
      unusableMax: limits.unusableEventsMax, meters: meters)
    place(buffer, CallHeaders(call, settings: settings), credential)
    guard settings.usesOwnCredential(call) else {
      return UpstreamSubscription(next: { await events.next() }, cancel: { buffer.end() })
    }
    return UpstreamSubscription(
      next: { [settings, noteService] in
        let event = await events.next().map(settings.event)
        if let event { Self.note(event, noteService) }
        return event
      }, cancel: { buffer.end() })
  }

  private static func note(_ event: SubscriptionEvent, _ observer: ServiceCredentialObserver?) {
    switch event {
    case .established: observer?(nil)
    case .failed(.serviceRefused(let refusal)), .interrupted(.serviceRefused(let refusal)):
      observer?(refusal)
    default: break
    }
  }

  package func renew(
    _ operation: RegisteredOperation, credential: String, with call: UpstreamCall
  ) {
    let headers = CallHeaders(call, settings: settings)
    for link in state.withLock({ $0.links[credential] ?? [] }) { link.handle(.offered(headers)) }
  }

  package func isOff(for operation: RegisteredOperation) -> Bool { settings.subscriptions == .off }

  /// Ends all subscriptions and connections, and refuses further ones.
  package func stop() {
    let links = state.withLock { state in
      state.hasStopped = true
      return state.links.values.flatMap { $0 }
    }
    for link in links { link.handle(.stopped) }
  }

  // MARK: Links

  private func place(
    _ buffer: SubscriptionBuffer, _ headers: CallHeaders, _ credential: String,
    avoiding full: SubscriptionLink? = nil
  ) {
    let placed = state.withLock { state -> Result<SubscriptionLink, UpstreamFailure> in
      if state.hasStopped { return .failure(.notSent(cause: "the service is shutting down")) }
      if settings.subscriptions == .off {
        return .failure(.rejected(reason: "subscriptions to it are switched off"))
      }
      guard let environment else {
        return .failure(.notSent(cause: "\"\(settings.url)\" is not an HTTP address"))
      }
      let links = state.links[credential] ?? []
      if let link = links.first(where: { $0 !== full && $0.hasRoom }) {
        link.add(buffer, headers)
        return .success(link)
      }
      guard state.linkCount < limits.connectionsMax else { return .failure(.busy) }
      let link = SubscriptionLink(
        credential: credential, headers: headers, environment: environment, owner: self)
      state.links[credential] = links + [link]
      state.linkCount += 1
      link.add(buffer, headers)
      return .success(link)
    }
    switch placed {
    // A subscription that was cancelled meanwhile leaves a connection without any.
    case .success(let link): link.endIfFinished()
    case .failure(let failure): buffer.append(.failed(failure))
    }
  }

  /// Moves a subscription from a connection that can have no more.
  func relocate(_ buffer: SubscriptionBuffer, from link: SubscriptionLink) {
    place(buffer, link.headers, link.credential, avoiding: link)
  }

  /// Forgets a link, unless a subscription has been added meanwhile.
  func retire(_ link: SubscriptionLink) {
    let isRetired = state.withLock { state in
      guard link.isFinished, var links = state.links[link.credential],
        let place = links.firstIndex(where: { $0 === link })
      else { return false }
      links.remove(at: place)
      state.links[link.credential] = links.isEmpty ? nil : links
      state.linkCount -= 1
      return true
    }
    if isRetired { link.retire() }
  }
}
