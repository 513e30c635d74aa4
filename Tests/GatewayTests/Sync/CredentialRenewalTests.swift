import Accounts
import Logging
import Model
import SyncScheduler
import Synchronization
import Testing

@testable import Gateway

struct CredentialRenewalTests {
  private static let deviceCount = 25

  /// Starts a second renewal at the end of each device's first one.
  private final class Queue: Sendable {
    private struct State {
      var renewal: CredentialRenewal?
      var next: [String: Caller] = [:]
      var renewed: [String: Int] = [:]
    }

    private let state = Mutex(State())

    func begin(_ renewal: CredentialRenewal) { state.withLock { $0.renewal = renewal } }

    /// Presents a credential, and another one when the first has been renewed.
    func present(_ first: Caller, then second: Caller, device: String) {
      let renewal = state.withLock { state in
        state.next[device] = second
        return state.renewal
      }
      renewal?.noteRefusal(of: first, device: device, control: QueueControl())
    }

    func noteRenewed(_ device: String) {
      let (renewal, next) = state.withLock { state in
        state.renewed[device, default: 0] += 1
        return (state.renewal, state.next.removeValue(forKey: device))
      }
      if let next { renewal?.noteRefusal(of: next, device: device, control: QueueControl()) }
    }

    func renewedCount(of device: String) -> Int { state.withLock { $0.renewed[device] ?? 0 } }
  }

  private static func caller(_ device: Caller, token: String) -> Caller {
    Caller(
      credentials: [Caller.Header(name: "authorization", value: "Bearer \(token)")],
      subject: "ada", user: "ada", device: device.device)
  }

  private static func renewal(
    _ world: WorkerWorld, _ refusals: RefusedCredentials, _ queue: Queue
  ) -> CredentialRenewal {
    CredentialRenewal(
      store: world.store,
      callers: QueuedCaller(
        sealer: Sealer(
          key: KeyRing(root: Array(0..<32)).key(for: .credential), random: RandomBytes { 7 })),
      refusals: refusals, parts: CredentialParts(Upstreams([])),
      environment: QueueEnvironment(
        policy: QueuePolicy(), wall: world.time.wall, reading: { .zero }, boot: "boot",
        random: { 7 }, sleep: { _ in }),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      renewed: { [queue] _, device in queue.noteRenewed(device) })
  }

  /// The end of the first renewal once removed the second one, so a command did not wait for it.
  @Test("A command waits for a renewal that began during the one before")
  func waitsForSecondRenewal() async throws {
    let world = try await WorkerWorld { FilmUpstream.rated($0.film) }
    let queue = Queue()
    let renewal = Self.renewal(world, RefusedCredentials(), queue)
    queue.begin(renewal)
    for _ in 0..<Self.deviceCount {
      let device = try await world.device()
      let id = try #require(device.device?.id)
      queue.present(
        Self.caller(device, token: "one"), then: Self.caller(device, token: "two"), device: id)
      // The first or the second, which was added before the first ended.
      await renewal.end(of: id)
      await renewal.end(of: id)
      #expect(queue.renewedCount(of: id) == 2)
    }
  }

  @Test("A credential presented before the queues of the last process are known is not forgotten")
  func keepsEarlyCredentials() async throws {
    let world = try await WorkerWorld { FilmUpstream.rated($0.film) }
    let queue = Queue()
    let refusals = RefusedCredentials()
    let renewal = Self.renewal(world, refusals, queue)
    let device = try await world.device()
    let id = try #require(device.device?.id)
    renewal.notePresence(of: Self.caller(device, token: "one"))
    renewal.notePresence(of: Self.caller(device, token: "two"))
    #expect(queue.renewedCount(of: id) == 0)
    refusals.note(id)
    refusals.endRecovery()
    await eventually { queue.renewedCount(of: id) == 1 }
    #expect(!refusals.isWaiting(id))
  }
}
