import TestSupport
import Testing

@testable import Gateway

/// Which call has a place, by network and owner.
struct CallLinesTests {
  private static func owner(_ name: String, at network: String = "n") -> CallerOwner.InNetwork {
    .init(network: network, owner: name == network ? .network(network) : .user(name))
  }

  /// Lines that an expectation can change.
  private final class Lines {
    private var lines: CallLines

    init(_ concurrencyMax: Int) { lines = CallLines(concurrencyMax: concurrencyMax) }

    func enter(_ owner: CallerOwner.InNetwork) -> Bool { lines.enter(owner) }
    func leave(_ owner: CallerOwner.InNetwork) -> UInt64? { lines.leave(owner) }
    func counts(of network: String) -> (running: Int, waiting: Int) { lines.counts(of: network) }

    func submit(_ number: UInt64, of owner: CallerOwner.InNetwork) -> CallLines.Submission {
      lines.submit(number, of: owner)
    }

    func withdraw(_ number: UInt64, of owner: CallerOwner.InNetwork) {
      lines.withdraw(number, of: owner)
    }
  }

  @Test(
    "An owner has three quarters of its network's share, rounded up, and leaves the rest to others",
    arguments: [(1, 1, 1), (2, 2, 2), (4, 3, 3), (8, 6, 5), (64, 48, 36)])
  func leavesRoom(concurrencyMax: Int, ofNetwork: Int, ofOwner: Int) {
    let lines = Lines(concurrencyMax)
    let stranger = Self.owner("n")
    #expect((0..<ofOwner).allSatisfy { _ in lines.enter(stranger) })
    #expect(!lines.enter(stranger))
    let room = ofNetwork - ofOwner
    #expect((0..<room).allSatisfy { _ in lines.enter(Self.owner("ada")) })
    #expect(!lines.enter(Self.owner("bob")))
    #expect(lines.enter(Self.owner("ada", at: "m")))
    #expect(lines.counts(of: "n") == (ofNetwork, 0))
  }

  @Test("Any number of accounts and devices of one network take the network's share together")
  func boundsManyOwners() {
    let lines = Lines(64)
    let entered = (0..<1_000).count { lines.enter(Self.owner("account \($0)")) }
    #expect(entered == 48)
    let waiting = (0..<UInt64(2_000)).count {
      lines.submit($0, of: Self.owner("\($0)")) == .waits
    }
    #expect(waiting == CallLines.waitingOfNetworkMax)
    #expect(lines.submit(9_999, of: Self.owner("ada", at: "m")) == .hasPlace)
  }

  @Test("A stranger's long line delays no signed-in caller of the same network")
  func givesPlacesByOwner() {
    let lines = Lines(8)
    let stranger = Self.owner("n")
    for _ in 0..<5 { #expect(lines.enter(stranger)) }
    for number in 0..<UInt64(CallLines.waitingOfOwnerMax) {
      #expect(lines.submit(number, of: stranger) == .waits)
    }
    #expect(lines.submit(8_000, of: stranger) == .refused)
    #expect(lines.submit(8_001, of: Self.owner("ada")) == .hasPlace)
    #expect(lines.submit(8_002, of: Self.owner("bob")) == .waits)
    #expect(lines.submit(8_003, of: Self.owner("ada")) == .waits)
    // The fewest calls in progress first, then the longest wait.
    #expect(lines.leave(stranger) == 8_002)
    #expect(lines.leave(stranger) == 8_003)
    #expect(lines.leave(stranger) == 0)
    lines.withdraw(1, of: stranger)
    #expect(lines.leave(stranger) == 2)
  }

  /// Random calls, with a model of what each owner has.
  private struct Run: SeededChance {
    var generator: SeededGenerator
    let place: Comment
    var lines: CallLines
    var running: [CallerOwner.InNetwork] = []
    var waiting: [(number: UInt64, owner: CallerOwner.InNetwork)] = []
    var nextNumber: UInt64 = 0

    init(seed: UInt64) {
      generator = SeededGenerator(seed: seed)
      place = "seed \(seed)"
      lines = CallLines(concurrencyMax: [1, 2, 3, 5, 8, 16][Int(seed % 6)])
    }

    mutating func step() {
      let network = pick(["n", "m"]) ?? "n"
      let owner = CallLinesTests.owner(pick([network, "ada", "bob", "eve"]) ?? "ada", at: network)
      switch number(0...9) {
      case 0, 1: if lines.enter(owner) { running.append(owner) }
      case 2...4:
        nextNumber += 1
        switch lines.submit(nextNumber, of: owner) {
        case .hasPlace: running.append(owner)
        case .waits: waiting.append((nextNumber, owner))
        case .refused: Issue.record("refused with \(waiting.count) waiting, \(place)")
        }
      case 5:
        guard let index = waiting.indices.randomElement(using: &generator) else { return }
        let call = waiting.remove(at: index)
        lines.withdraw(call.number, of: call.owner)
      default: end()
      }
      check()
    }

    mutating func end() {
      guard let index = running.indices.randomElement(using: &generator) else { return }
      let owner = running.remove(at: index)
      guard let number = lines.leave(owner) else { return }
      guard let next = waiting.firstIndex(where: { $0.number == number }) else {
        Issue.record("\(number) does not wait, \(place)")
        return
      }
      let call = waiting.remove(at: next)
      #expect(call.owner.network == owner.network, place)
      for other in waiting where other.owner.network == owner.network && hasRoom(other.owner) {
        #expect(
          (count(call.owner), call.number) <= (count(other.owner), other.number),
          "\(other.number) is passed over, \(place)")
      }
      running.append(call.owner)
    }

    private func count(_ owner: CallerOwner.InNetwork) -> Int { running.count { $0 == owner } }

    private func hasRoom(_ owner: CallerOwner.InNetwork) -> Bool {
      running.count { $0.network == owner.network } < lines.callsOfNetworkMax
        && count(owner) < lines.callsOfOwnerMax
    }

    /// The bounds hold, and no call waits that could have a place.
    private func check() {
      for network in ["n", "m"] {
        let calls = running.count { $0.network == network }
        #expect(calls <= lines.callsOfNetworkMax, place)
        let line = waiting.count { $0.owner.network == network }
        #expect(lines.counts(of: network) == (calls, line), place)
      }
      for owner in Set(running) { #expect(count(owner) <= lines.callsOfOwnerMax, place) }
      for call in waiting { #expect(!hasRoom(call.owner), "\(call.number) waits, \(place)") }
    }
  }

  @Test(
    "Random calls keep both bounds, and no place stays free for a call that waits",
    arguments: 0..<60)
  func holdsBounds(seed: Int) {
    var run = Run(seed: UInt64(seed))
    for _ in 0..<300 { run.step() }
    while !run.running.isEmpty { run.end() }
    #expect(run.waiting.isEmpty, run.place)
    #expect(run.lines.counts(of: "n") == (0, 0) && run.lines.counts(of: "m") == (0, 0), run.place)
  }
}
