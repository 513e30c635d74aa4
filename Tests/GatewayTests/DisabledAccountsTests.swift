import Model
import Storage
import Synchronization
import Testing

@testable import Gateway

/// Disabled accounts on two nodes that read the same store, as a replica does once the log is applied.
struct DisabledAccountsTests {
  private static let home = ClientNetwork("192.0.2.1")

  /// The lists of devices whose queues were woken.
  private final class Counted: Sendable {
    private let state = Mutex<[[String]]>([])

    var lists: [[String]] { state.withLock { $0 } }

    func note(_ devices: [String]) { state.withLock { $0.append(devices) } }
  }

  /// What one process has in memory.
  private final class Node: Sendable {
    let disabled = DisabledAccounts()
    let signal = CommitSignal { _ in
      try await ContinuousClock().sleep(until: .now + .seconds(3600))
    }
    let woken = Counted()
    let directory: AccountDirectory

    init(_ folder: StoreFolder, _ clock: TestClock) {
      directory = AccountDirectory(
        store: folder.store,
        tickets: StreamTickets(clock: clock.clock, random: RandomBytes { 0 }), disabled: disabled,
        signal: signal, clock: clock.clock, wakeQueues: { [woken] in woken.note($0) })
    }

    func refuses(_ user: String) -> Bool {
      do throws(Failure) {
        try disabled.admit(user)
        return false
      } catch {
        return error.code == .accountDisabled
      }
    }
  }

  private let folder: StoreFolder
  private let clock = TestClock()
  private let leader: Node
  private let replica: Node

  init() async throws {
    folder = try StoreFolder()
    leader = Node(folder, clock)
    replica = Node(folder, clock)
    for id in ["u_1", "u_2"] {
      _ = try await folder.store.create(
        Account(
          id: id, email: "\(id)@example.com", passwordHash: "hash",
          created: Timestamp(milliseconds: 1)))
    }
    let device = Device(
      id: "d_1", platform: "ios", name: nil, pushToken: nil, user: "u_1",
      registered: Timestamp(milliseconds: 1), lastUsed: Timestamp(milliseconds: 1))
    try await folder.store.register(device, tokenDigest: "one")
  }

  @Test("A disabled account is refused here at once, and on a replica when it has applied the log")
  func disables() async throws {
    try await leader.directory.disable("u_1")
    #expect(leader.refuses("u_1") && !leader.refuses("u_2"))
    #expect(!replica.refuses("u_1"))
    try await replica.directory.noteApplied()
    #expect(replica.refuses("u_1") && !replica.refuses("u_2"))
    #expect(try await leader.directory.account("u_1").isDisabled)
    #expect(try await !leader.directory.account("u_2").isDisabled)
    try await leader.directory.enable("u_1")
    #expect(!leader.refuses("u_1") && replica.refuses("u_1"))
    try await replica.directory.noteApplied()
    #expect(!replica.refuses("u_1"))
    #expect(leader.woken.lists == [["d_1"]] && replica.woken.lists.isEmpty)
  }

  @Test("Streams of the account end on every node, under its user and under its devices")
  func endsStreams() async throws {
    for node in [leader, replica] {
      let user = node.signal.listen(as: Viewer(layers: []), user: "u_1")
      let device = node.signal.listen(as: Viewer(layers: []), device: "d_1")
      let others = [
        node.signal.listen(as: Viewer(layers: []), user: "u_2"),
        node.signal.listen(as: Viewer(layers: []), device: "d_2"),
        node.signal.listen(as: Viewer(layers: [])),
      ]
      if node === leader {
        try await node.directory.disable("u_1")
      } else {
        try await node.directory.noteApplied()
      }
      #expect(user.hasEnded && device.hasEnded)
      #expect(!others.contains { $0.hasEnded })
      for listener in [user, device] + others { node.signal.remove(listener) }
      #expect(node.signal.count == 0)
    }
  }

  @Test("Only accounts that exist are disabled and enabled")
  func refusesUnknownAccounts() async throws {
    for change in [leader.directory.disable, leader.directory.enable] {
      await #expect(throws: Failure.self) { try await change("u_3") }
    }
    #expect(try await folder.store.disabledAccounts().isEmpty)
    #expect(!leader.refuses("u_3"))
  }
}
