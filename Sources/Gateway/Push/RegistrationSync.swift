import Logging
import Model
import Push
import Storage

/// Tells the sender who is reached on which device, and who no longer is.
///
/// Several at a time, and the next ones only once all of these have ended: so no two tellings of one
/// device ever overtake each other.
final class RegistrationSync: Sendable {
  private static let atATime = 8
  private static let storePause = Duration.seconds(1)

  private let store: Store
  private let sender: any PushSender
  private let surroundings: PushEnvironment
  private let bell: AsyncSignal
  private let line: PushAvailability
  private let logger: Logger

  init(
    store: Store, sender: any PushSender, surroundings: PushEnvironment, bell: AsyncSignal,
    line: PushAvailability, logger: Logger
  ) {
    self.store = store
    self.sender = sender
    self.surroundings = surroundings
    self.bell = bell
    self.line = line
    self.logger = logger
  }

  /// Runs until it is cancelled.
  func run() async {
    var isRecovered = false
    while !Task.isCancelled {
      do throws(StorageError) {
        if !isRecovered {
          try await store.recoverRegistrations(
            sender: sender.name, at: surroundings.now, waitMax: DeliveryPolicy.waitMax)
          isRecovered = true
        }
        try await tellDue()
      } catch {
        if error != .closed {
          logger.error(
            "push registrations could not be read or written", metadata: ["cause": "\(error)"])
        }
        line.unused()
        try? await surroundings.sleep(Self.storePause)
      }
    }
  }

  private func tellDue() async throws(StorageError) {
    let rings = bell.rings
    let due = try await store.dueRegistrations(at: surroundings.now, limit: Self.atATime)
    guard !due.isEmpty else {
      let next = try await store.nextRegistrationDue()
      return await bell.wait(
        past: rings,
        atMost: next.map { max(.milliseconds(1), surroundings.now.elapsed(until: $0)) })
    }
    if case .waits(let wait) = line.admit() {
      return await bell.wait(past: rings, atMost: wait)
    }
    typealias Told = (registration: DueRegistration, end: RegistrationEnd)
    let ends = await withTaskGroup(of: Told?.self) { group in
      for registration in due {
        group.addTask { await self.tell(registration).map { (registration, $0) } }
      }
      return await group.reduce(into: [Told]()) { ends, end in if let end { ends.append(end) } }
    }
    for (registration, end) in ends { try await store.settle(registration, as: end) }
  }

  /// - Returns: nil where the service ended meanwhile.
  private func tell(_ registration: DueRegistration) async -> RegistrationEnd? {
    let device = PushDevice(
      userID: registration.user, platform: registration.platform, token: registration.token)
    // What another sender called the device says nothing to this one.
    let remoteID = registration.sender == sender.name ? registration.remoteID : nil
    do throws(PushFault) {
      var told: String?
      if !registration.isLeaving {
        told = try await sender.register(device)
      } else if registration.sender ?? sender.name == sender.name {
        // Also where it is not known whether it was ever told.
        try await sender.unregister(device, remoteID: remoteID)
      }
      line.answered()
      return .told(sender: sender.name, remoteID: told)
    } catch {
      if Task.isCancelled { return nil }
      let consequence = DeliveryPolicy.consequence(
        of: error, attempts: registration.attempts, chance: surroundings.chance())
      line.answered(error, consequence)
      return DeliveryPolicy.end(after: consequence, at: surroundings.now)
    }
  }
}
