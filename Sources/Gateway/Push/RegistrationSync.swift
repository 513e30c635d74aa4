import Logging
import Model
import Storage
import Transport

/// Synchronises with the sender which user is registered on which device.
///
/// Works in groups of registrations; the next group starts when all of the previous one have ended,
/// so that calls for one device never overtake each other.
final class RegistrationSync: Sendable {
  private static let atATime = 8
  private static let storePause = Duration.seconds(1)

  private let store: Store
  private let sender: any PushSender
  private let environment: PushEnvironment
  private let signal: AsyncSignal
  private let availability: PushAvailability
  private let logger: Logger

  init(
    store: Store, sender: any PushSender, environment: PushEnvironment, signal: AsyncSignal,
    availability: PushAvailability, logger: Logger
  ) {
    self.store = store
    self.sender = sender
    self.environment = environment
    self.signal = signal
    self.availability = availability
    self.logger = logger
  }

  /// Runs until cancelled.
  func run() async {
    var isRecovered = false
    while !Task.isCancelled {
      do throws(StorageError) {
        if !isRecovered {
          try await store.recoverRegistrations(
            sender: sender.name, at: environment.now, waitMax: DeliveryPolicy.waitMax)
          isRecovered = true
        }
        try await syncDue()
      } catch {
        if error != .closed {
          logger.error(
            "push registrations could not be read or written", metadata: ["cause": "\(error)"])
        }
        availability.releaseProbe()
        try? await environment.sleep(Self.storePause)
      }
    }
  }

  private func syncDue() async throws(StorageError) {
    let seen = signal.count
    let due = try await store.dueRegistrations(at: environment.now, limit: Self.atATime)
    guard !due.isEmpty else {
      let next = try await store.nextRegistrationDue()
      return await signal.wait(
        after: seen,
        atMost: next.map { max(.milliseconds(1), environment.now.elapsed(until: $0)) })
    }
    if case .waits(let wait) = availability.admit() {
      return await signal.wait(after: seen, atMost: wait)
    }
    typealias Synced = (registration: DueRegistration, end: RegistrationEnd)
    let ends = await withTaskGroup(of: Synced?.self) { group in
      for registration in due {
        group.addTask { await self.sync(registration).map { (registration, $0) } }
      }
      return await group.reduce(into: [Synced]()) { ends, end in if let end { ends.append(end) } }
    }
    for (registration, end) in ends { try await store.settle(registration, as: end) }
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
      availability.recordSuccess()
      return .succeeded(sender: sender.name, remoteID: newID)
    } catch {
      if Task.isCancelled { return nil }
      let consequence = DeliveryPolicy.consequence(
        of: error, attempts: registration.attempts, chance: environment.chance())
      availability.recordFailure(error, consequence)
      return DeliveryPolicy.end(after: consequence, at: environment.now)
    }
  }
}
