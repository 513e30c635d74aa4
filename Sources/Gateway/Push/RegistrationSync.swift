import Model
import Storage
import Transport

/// Synchronises with the sender which user is registered on which device.
///
/// Works in groups of registrations; the next group starts when all of the previous one have ended,
/// so that calls for one device never overtake each other.
final class RegistrationSync: Sendable {
  private static let atATime = 8

  private let store: Store
  private let sender: any PushSender
  private let loop: DeliveryLoop

  init(store: Store, sender: any PushSender, loop: DeliveryLoop) {
    self.store = store
    self.sender = sender
    self.loop = loop
  }

  /// Runs until cancelled.
  func run() async {
    await loop.retry { () async throws(StorageError) in
      try await store.recoverRegistrations(
        sender: sender.name, at: loop.environment.now, waitMax: DeliveryPolicy.waitMax)
    }
    await loop.run { () async throws(StorageError) in try await syncDue() }
  }

  private func syncDue() async throws(StorageError) -> DeliveryLoop.Round {
    let due = try await store.dueRegistrations(at: loop.environment.now, limit: Self.atATime)
    guard !due.isEmpty else { return .idle(until: try await store.nextRegistrationDue()) }
    if case .waits(let wait) = loop.availability.admit() { return .unavailable(wait) }
    typealias Synced = (registration: DueRegistration, end: RegistrationEnd)
    let ends = await withTaskGroup(of: Synced?.self) { group in
      for registration in due {
        group.addTask { await self.sync(registration).map { (registration, $0) } }
      }
      return await group.reduce(into: [Synced]()) { ends, end in if let end { ends.append(end) } }
    }
    for (registration, end) in ends { try await store.settle(registration, as: end) }
    return .worked
  }

  /// - Returns: nil if the service stopped in the meantime.
  private func sync(_ registration: DueRegistration) async -> RegistrationEnd? {
    let device = PushDevice(
      userID: registration.user, platform: registration.platform, token: registration.token)
    // An id from another sender is meaningless to this one.
    let remoteID = registration.sender == sender.name ? registration.remoteID : nil
    do throws(PushFault) {
      var newID: String?
      if !registration.isLeaving {
        newID = try await sender.register(device)
      } else if registration.sender ?? sender.name == sender.name {
        // Also if it is unknown whether the sender was ever informed.
        try await sender.unregister(device, remoteID: remoteID)
      }
      loop.availability.recordSuccess()
      return .succeeded(sender: sender.name, remoteID: newID)
    } catch {
      if Task.isCancelled { return nil }
      let consequence = DeliveryPolicy.consequence(
        of: error, attempts: registration.attempts, chance: loop.environment.chance())
      loop.availability.recordFailure(error, consequence)
      return DeliveryPolicy.end(after: consequence, at: loop.environment.now)
    }
  }
}
