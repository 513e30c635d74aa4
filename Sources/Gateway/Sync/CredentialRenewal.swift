import Logging
import Model
import Storage
import SyncScheduler
import Synchronization

/// Resumes the queues whose credential upstream refused, with the next one that their device presents.
final class CredentialRenewal: Sendable {
  private let store: Store
  private let callers: QueuedCaller
  private let refusals: RefusedCredentials
  private let parts: CredentialParts
  private let environment: QueueEnvironment
  private let logger: Logger
  /// Called with the queue's schedule after a renewal.
  private let renewed: @Sendable (_ schedule: QueueSchedule, _ device: String) -> Void
  private let renewals = Mutex(Renewals())
  /// The credentials that devices presented before the queues of the last process were known, by device.
  private let early = Mutex<[String: Caller]>([:])

  /// The latest renewal of each device that has one in progress.
  private struct Renewals {
    private var latest: [String: (number: UInt64, task: Task<Void, Never>)] = [:]
    private var count: UInt64 = 0

    func task(of device: String) -> Task<Void, Never>? { latest[device]?.task }

    mutating func add(_ device: String, _ make: (_ number: UInt64) -> Task<Void, Never>) {
      count += 1
      latest[device] = (count, make(count))
    }

    /// Removes a renewal, unless a later one of the device has taken its place.
    mutating func remove(_ number: UInt64, of device: String) {
      if latest[device]?.number == number { latest[device] = nil }
    }
  }

  init(
    store: Store, callers: QueuedCaller, refusals: RefusedCredentials, parts: CredentialParts,
    environment: QueueEnvironment, logger: Logger,
    renewed: @escaping @Sendable (_ schedule: QueueSchedule, _ device: String) -> Void
  ) {
    self.store = store
    self.callers = callers
    self.refusals = refusals
    self.parts = parts
    self.environment = environment
    self.logger = logger
    self.renewed = renewed
  }

  /// Notes that a device's queue waits for a credential, when the device has just presented one.
  func noteRefusal(of caller: Caller, device: String, control: QueueControl) {
    for key in parts.keys(device, waiting: control) { refusals.note(key) }
    notePresence(of: caller)
  }

  /// One upstream's part of a presented credential, with which its mutations resume.
  private struct Renewal {
    /// In ``RefusedCredentials``.
    let key: String
    /// Nil for the only upstream.
    let upstream: UpstreamName?
    /// The caller as the upstream sees it.
    let caller: Caller
    let refused: RefusedCredentials.Digests
  }

  /// Notes that a device presented a credential. A renewal begins after the device's former one has ended,
  /// so the latest credential stays.
  func notePresence(of caller: Caller) {
    // A token that only reads must not choose the credential that queued mutations are sent with.
    guard let device = caller.device, device.access == .full else { return }
    notePresence(of: caller, device: device.id)
  }

  private func notePresence(of caller: Caller, device: String) {
    guard !caller.credentials.isEmpty else { return }
    if refusals.isRecovering { keep(caller, device: device) }
    let due = parts.of(caller, device: device).compactMap { key, upstream -> Renewal? in
      guard refusals.isWaiting(key) else { return nil }
      let seen = upstream.map(caller.seen(by:)) ?? caller
      guard !seen.credentials.isEmpty,
        let refused = refusals.takeOut(key, for: QueuedCaller.digest(of: seen))
      else { return nil }
      return Renewal(key: key, upstream: upstream, caller: seen, refused: refused)
    }
    guard !due.isEmpty else { return }
    renewals.withLock { state in
      let former = state.task(of: device)
      state.add(device) { number in
        Task { [self] in
          await former?.value
          for renewal in due { await renew(renewal, device) }
          renewals.withLock { $0.remove(number, of: device) }
        }
      }
    }
  }

  /// Keeps a credential until it is known whether the device's queue waits for it.
  private func keep(_ caller: Caller, device: String) {
    let isFirst = early.withLock { early in
      guard early[device] != nil || early.count < RefusedCredentials.devicesMax else {
        return false
      }
      defer { early[device] = caller }
      return early.isEmpty
    }
    guard isFirst else { return }
    Task { [self] in
      await refusals.waitForRecovery()
      let kept = early.withLock { early in
        defer { early = [:] }
        return early
      }
      for (device, caller) in kept { notePresence(of: caller, device: device) }
    }
  }

  /// Waits for the end of a device's renewals that are in progress.
  func end(of device: String) async {
    await renewals.withLock { $0.task(of: device) }?.value
  }

  private func renew(_ renewal: Renewal, _ device: String) async {
    let (key, caller) = (renewal.key, renewal.caller)
    do {
      guard let sealed = try callers.sealedCredential(of: caller, device: device) else {
        return refusals.putBack(renewal.refused, of: key)
      }
      let commit = try await store.renewCredential(
        sealed, scope: caller.scope(sharing: .user), user: caller.user, of: device,
        for: renewal.upstream?.text, timing: environment.timing)
      let isWaiting =
        renewal.upstream.map { commit.control.needsCredential(for: $0.text) }
        ?? commit.needsCredential
      if isWaiting { refusals.putBack(renewal.refused, of: key) }
      renewed(commit.outlook, device)
    } catch {
      refusals.putBack(renewal.refused, of: key)
      logger.warning("a credential was not renewed", metadata: ["cause": "\(error)"])
    }
  }
}

/// The parts of a device's queue that wait for credentials: one for each of several upstreams.
struct CredentialParts: Sendable {
  /// Empty for one upstream.
  private let upstreams: [UpstreamName]

  init(_ upstreams: Upstreams) {
    self.upstreams = upstreams.all.count > 1 ? upstreams.all.map(\.name) : []
  }

  /// The key of a part in ``RefusedCredentials``.
  func key(_ device: String, _ upstream: String) -> String {
    upstreams.isEmpty ? device : "\(device) \(upstream)"
  }

  /// The keys of all parts that wait.
  func keys(_ device: String, waiting control: QueueControl) -> [String] {
    guard !upstreams.isEmpty else { return [device] }
    return upstreams.filter { control.needsCredential(for: $0.text) }.map { key(device, $0.text) }
  }

  /// The parts that a caller's credentials can be for.
  func of(_ caller: Caller, device: String) -> [(key: String, upstream: UpstreamName?)] {
    guard !upstreams.isEmpty else { return [(device, nil)] }
    return upstreams.map { (key(device, $0.text), $0) }
  }
}
