import HTTPClient
import Model
import Synchronization
import TestSupport
import Testing

@testable import Gateway

struct LeaderLinkTests {
  /// A monotonic clock that stands still until it is advanced.
  private final class Uptime: Sendable {
    private let time = Mutex(Duration.zero)

    var now: Duration { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }
  }

  private let uptime = Uptime()

  private func link() -> LeaderLink {
    LeaderLink(
      uptime: { [uptime] in uptime.now }, sleep: { try await Task.sleep(for: $0) })
  }

  private func leader(_ node: String, epoch: Int64 = 1) throws -> LeaderLink.Leader {
    LeaderLink.Leader(node: node, url: try HTTPURL("http://127.0.0.1:1"), epoch: epoch)
  }

  @Test("A leader that was not reached rests for a second, and another one can be called at once")
  func unreachableLeadersRest() throws {
    let link = link()
    #expect(link.reachable == nil)
    let first = try leader("a")
    link.note(leader: first)
    #expect(link.reachable == first)
    link.noteUnreachable(first)
    #expect(link.reachable == nil)
    #expect(link.leader == first)
    // The same leader as before: reported once a second, it is no reason to call it.
    link.note(leader: first)
    #expect(link.reachable == nil)
    uptime.advance(by: .seconds(1))
    #expect(link.reachable == first)
    link.noteUnreachable(first)
    let second = try leader("b", epoch: 2)
    link.note(leader: second)
    #expect(link.reachable == second)
    // A late report of the former one.
    link.noteUnreachable(first)
    #expect(link.reachable == second)
    link.note(leader: nil)
    #expect(link.reachable == nil)
  }

  @Test("The time of a node that is cut off counts from when it last knew the end of the log")
  func cutOffTime() {
    let link = link()
    #expect(link.cutOffFor == nil)
    link.noteOpening()
    uptime.advance(by: .seconds(3))
    // It has not looked yet, so it can have missed something since it began.
    #expect(link.cutOffFor == .seconds(3))
    link.note(isCutOff: false)
    #expect(link.cutOffFor == nil)
    uptime.advance(by: .seconds(5))
    link.note(isCutOff: true)
    uptime.advance(by: .seconds(60))
    // Reported again and again, it is still the same outage.
    link.note(isCutOff: true)
    #expect(link.cutOffFor == .seconds(65))
    link.note(isCutOff: false)
    #expect(link.cutOffFor == nil)
    // A process that was stopped, and does not know yet.
    uptime.advance(by: .seconds(30))
    #expect(link.cutOffFor == .seconds(30))
  }

  @Test("A wait ends with the position that it waits for, and positions never go back")
  func waitsForPositions() async {
    let link = link()
    link.note(position: 7)
    link.note(position: 5)
    #expect(link.position == 7)
    #expect(await link.waitUntilApplied(7, atMost: .zero))
    async let applied = link.waitUntilApplied(9, atMost: .seconds(60))
    link.note(position: 8)
    link.note(position: 9)
    #expect(await applied)
    uptime.advance(by: .seconds(1))
    #expect(await !link.waitUntilApplied(10, atMost: .zero))
    link.note(openedAt: 3)
    #expect(link.position == 3)
    #expect(await !link.waitUntilApplied(7, atMost: .zero))
  }

  @Test("A node that has not looked at the log for a second can have missed something")
  func knowsThatItWasKeptAway() {
    let link = link()
    #expect(!link.isCutOff)
    link.note(isCutOff: false)
    uptime.advance(by: .milliseconds(999))
    #expect(!link.isCutOff)
    link.note(isCutOff: false)
    uptime.advance(by: .milliseconds(999))
    #expect(!link.isCutOff)
    // The process was stopped.
    uptime.advance(by: .seconds(10))
    #expect(link.isCutOff)
    link.note(isCutOff: false)
    #expect(!link.isCutOff)
    link.note(isCutOff: true)
    #expect(link.isCutOff)
  }

  @Test("A node has looked for the leader once it knows one or none, or cannot look")
  func looks() throws {
    for report: (LeaderLink) throws -> Void in [
      { $0.note(leader: nil) }, { $0.note(leader: try leader("a")) }, { $0.note(isCutOff: true) },
    ] {
      let link = link()
      #expect(!link.hasLooked)
      link.note(position: 7)
      link.note(isCutOff: false)
      #expect(!link.hasLooked)
      try report(link)
      #expect(link.hasLooked)
      link.forgetLeader()
      #expect(!link.hasLooked && link.leader == nil)
    }
  }

  @Test("A wait for the first look ends with it")
  func waitsForTheFirstLook() async {
    let link = link()
    await link.waitForLook(atMost: .zero)
    #expect(!link.hasLooked)
    let waiting = Task { await link.waitForLook(atMost: .seconds(3_600)) }
    link.note(leader: nil)
    await waiting.value
    #expect(link.hasLooked)
  }

  @Test("A node owes a write until it has applied its position")
  func owesWrites() {
    let link = link()
    link.note(position: 7)
    #expect(!link.owesWrites)
    link.note(owed: 9)
    link.note(owed: 8)
    link.note(position: 8)
    #expect(link.owesWrites)
    link.note(position: 9)
    #expect(!link.owesWrites)
  }

  @Test("The next leader is waited for, and the one that did not answer is not taken")
  func waitsForTheNextLeader() async throws {
    let link = link()
    let (first, second) = (try leader("a"), try leader("b", epoch: 2))
    link.note(leader: first)
    async let next = link.waitForLeader(otherThan: first, atMost: .seconds(60))
    link.note(leader: nil)
    link.note(leader: second)
    #expect(await next == second)
    #expect(await link.waitForLeader(otherThan: second, atMost: .zero) == nil)
  }

  @Test(
    "While the lease passes on, the next leader is waited for, or the one that was not ready yet")
  func waitsInHandovers() async throws {
    let link = link()
    #expect(await link.nextReachable() == nil)
    #expect(!link.isAnswered)
    link.noteHandover()
    #expect(link.isAnswered)
    let first = try leader("a")
    async let next = link.nextReachable()
    link.note(leader: first)
    #expect(await next == first)
    // It has the lease, and its store is not open yet.
    link.noteMisdirected(first)
    #expect(link.reachable == nil)
    async let again = link.nextReachable()
    uptime.advance(by: LeaderLink.misdirectedFor)
    #expect(await again == first)
    link.noteReached(first)
    #expect(!link.isHandover)
    link.note(leader: nil)
    link.noteHandover()
    uptime.advance(by: LeaderLink.handoverMax)
    #expect(await link.nextReachable() == nil)
    // It is over, and does not begin again for a while.
    link.noteHandover()
    #expect(!link.isHandover)
    uptime.advance(by: .seconds(8))
    link.noteHandover()
    #expect(link.isHandover)
    link.endHandover()
    #expect(await link.nextReachable() == nil)
  }

  @Test("What only the leader serves is noted on the request of the task")
  func needIsNoted() async throws {
    let link = link()
    let request = LeaderRequest(repeated: {}, presented: {})
    LeaderRequest.$current.withValue(request) {
      #expect(link.need().code == .leaderUnavailable)
    }
    #expect(request.isNeeded)
    #expect(!LeaderRequest(repeated: {}, presented: {}).isNeeded)
  }

  @Test("Only what was read from the changed tables is dropped")
  func dropsWhatTablesChanged() async {
    let dropped = Mutex<[String]>([])
    func memory(_ name: String, of tables: Set<String>) -> AppliedTables.Memory {
      AppliedTables.Memory(of: tables) { dropped.withLock { $0.append(name) } }
    }
    let applied = AppliedTables([
      memory("devices", of: ["device", "device_token"]), memory("keys", of: ["signing_key"]),
    ])
    #expect(applied.tables == ["device", "device_token", "signing_key"])
    await applied.noteApplied(tables: ["entity", "change"])
    #expect(dropped.withLock { $0 } == [])
    await applied.noteApplied(tables: ["device_token", "device"])
    #expect(dropped.withLock { $0 } == ["devices"])
    await applied.noteApplied(tables: ["signing_key", "device"])
    #expect(dropped.withLock { $0 } == ["devices", "devices", "keys"])
  }

  @Test("A credential is presented once, until the device has another one")
  func credentialsArePresentedOnce() {
    let presented = PresentedCredentials()
    #expect(presented.note(["a"], of: "d_1"))
    #expect(!presented.note(["a"], of: "d_1"))
    #expect(presented.note(["a"], of: "d_2"))
    #expect(presented.note(["b"], of: "d_1"))
    #expect(presented.note(["a"], of: "d_1"))
  }
}
