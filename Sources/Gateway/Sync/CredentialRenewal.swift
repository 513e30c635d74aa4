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
  private let environment: QueueEnvironment
  private let logger: Logger
  /// Called with the queue's schedule after a renewal.
  private let renewed: @Sendable (_ schedule: QueueSchedule, _ device: String) -> Void
  /// Renewals in progress, by device.
  private let renewals = Mutex<[String: Task<Void, Never>]>([:])

  init(
    store: Store, callers: QueuedCaller, refusals: RefusedCredentials,
    environment: QueueEnvironment, logger: Logger,
    renewed: @escaping @Sendable (_ schedule: QueueSchedule, _ device: String) -> Void
  ) {
    self.store = store
    self.callers = callers
    self.refusals = refusals
    self.environment = environment
    self.logger = logger
    self.renewed = renewed
  }

  /// Notes that a device's queue waits for a credential, when the device has just presented one.
  func noteRefusal(of caller: Caller, device: String) {
    refusals.note(device)
    notePresence(of: caller)
  }

  /// Notes that a device presented a credential.
  func notePresence(of caller: Caller) {
    guard let device = caller.device?.id, !caller.credentials.isEmpty,
      refusals.isWaiting(device),
      let refused = refusals.takeOut(device, for: QueuedCaller.digest(of: caller))
    else { return }
    renewals.withLock { renewals in
      renewals[device] = Task { [self] in await renew(with: caller, device, refused) }
    }
  }

  /// Waits for the end of a device's renewal, if one is in progress.
  func end(of device: String) async {
    await renewals.withLock { $0[device] }?.value
  }

  private func renew(
    with caller: Caller, _ device: String, _ refused: RefusedCredentials.Digests
  ) async {
    defer { _ = renewals.withLock { $0.removeValue(forKey: device) } }
    do {
      guard let sealed = try callers.sealedCredential(of: caller, device: device) else {
        return refusals.putBack(refused, of: device)
      }
      let commit = try await store.renewCredential(
        sealed, scope: caller.scope(sharing: .user), user: caller.user, of: device,
        timing: environment.timing)
      if commit.needsCredential { refusals.putBack(refused, of: device) }
      renewed(commit.outlook, device)
    } catch {
      refusals.putBack(refused, of: device)
      logger.warning("a credential was not renewed", metadata: ["cause": "\(error)"])
    }
  }
}
