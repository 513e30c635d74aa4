import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The shares of an upstream's calls that one network, and one owner in it, can take.
@Suite(.timeLimit(.minutes(10))) struct CallSharesTests {
  private static func caller(_ network: String, user: String? = nil) -> Caller {
    var caller = Caller(user: user)
    caller.network = ClientNetwork(network)
    return caller
  }

  private static let hostile = ClientNetwork("192.0.2.1")

  /// - Parameter waitsEnd: whether waits in a line end at once.
  private static func shares(_ concurrencyMax: Int, waitsEnd: Bool = false) -> CallShares {
    CallShares(concurrencyMax: concurrencyMax) { _ in
      if waitsEnd { return }
      try await ContinuousClock().sleep(until: .now + .seconds(3_600))
    }
  }

  @Test(
    "A network has three quarters of the calls, rounded up, and leaves the rest to others",
    arguments: [(1, 1), (2, 2), (3, 3), (4, 3), (8, 6), (64, 48)])
  func leavesRoom(concurrencyMax: Int, share: Int) {
    let shares = Self.shares(concurrencyMax)
    // Signed-in callers of the same network are included.
    let places = (0..<share).map { number in
      shares.takeAtOnce(for: Self.caller("192.0.2.1", user: number % 2 == 0 ? "ada" : nil))
    }
    #expect(places.allSatisfy { $0 != nil })
    #expect(shares.takeAtOnce(for: Self.caller("192.0.2.1")) == nil)
    #expect(shares.takeAtOnce(for: Self.caller("192.0.2.2")) != nil)
    // What the service does by itself.
    #expect(shares.takeAtOnce(for: .anonymous) != nil)
    places[0]?.release()
    places[0]?.release()
    let next = shares.takeAtOnce(for: Self.caller("192.0.2.1"))
    #expect(next != nil && shares.takeAtOnce(for: Self.caller("192.0.2.1")) == nil)
    withExtendedLifetime((places, next)) {}
  }

  @Test("Addresses of one IPv6 block share their places")
  func countsByBlock() {
    let shares = Self.shares(1)
    func caller(_ name: String) -> Caller {
      var caller = Caller.anonymous
      caller.network = ClientNetwork(name: name, block: "2001:db8:1::/48")
      return caller
    }
    let place = shares.takeAtOnce(for: caller("2001:db8:1:1::"))
    #expect(place != nil && shares.takeAtOnce(for: caller("2001:db8:1:2::")) == nil)
    withExtendedLifetime(place) {}
  }

  @Test("A call that waits gets the place of one that ends; a cancelled one leaves the line")
  func waitsInLine() async {
    let shares = Self.shares(1)
    let first = await shares.take(for: Self.caller("192.0.2.1"))
    let second = Task { await shares.take(for: Self.caller("192.0.2.1")) }
    await eventually { shares.counts(of: Self.hostile) == (1, 1) }
    let third = Task { await shares.take(for: Self.caller("192.0.2.1")) }
    await eventually { shares.counts(of: Self.hostile) == (1, 2) }
    third.cancel()
    #expect(await third.value == nil)
    #expect(shares.counts(of: Self.hostile) == (1, 1))
    first?.release()
    let place = await second.value
    #expect(place != nil && shares.counts(of: Self.hostile) == (1, 0))
    place?.release()
    #expect(shares.counts(of: Self.hostile) == (0, 0))
  }

  @Test("A wait that is too long ends without a place, and a full line takes in no call")
  func boundsWaits() async {
    let impatient = Self.shares(1, waitsEnd: true)
    let place = await impatient.take(for: Self.caller("192.0.2.1"))
    #expect(await impatient.take(for: Self.caller("192.0.2.1")) == nil)
    #expect(impatient.counts(of: Self.hostile) == (1, 0))
    let shares = Self.shares(1)
    let taken = await shares.take(for: Self.caller("192.0.2.1"))
    let waiting = (0..<CallLines.waitingOfOwnerMax).map { _ in
      Task { await shares.take(for: Self.caller("192.0.2.1"))?.release() }
    }
    await eventually { shares.counts(of: Self.hostile) == (1, CallLines.waitingOfOwnerMax) }
    #expect(await shares.take(for: Self.caller("192.0.2.1")) == nil)
    #expect(await shares.take(for: Self.caller("192.0.2.2")) != nil)
    taken?.release()
    for task in waiting { _ = await task.value }
    #expect(shares.counts(of: Self.hostile) == (0, 0))
    withExtendedLifetime(place) {}
  }

  @Test("Devices and accounts of one network take no more than its share, whatever their number")
  func countsMadeUpOwners() {
    let shares = Self.shares(8)
    let places = (0..<40).map { number in
      var caller = Self.caller("192.0.2.1", user: number % 2 == 0 ? "account \(number)" : nil)
      caller.device = .init(id: "d\(number)", tokenDigest: "\(number)")
      return shares.takeAtOnce(for: caller)
    }
    #expect(places.count { $0 != nil } == 6)
    #expect(shares.takeAtOnce(for: Self.caller("192.0.2.2")) != nil)
    withExtendedLifetime(places) {}
  }

  @Test("A signed-in caller does not wait behind an anonymous one of the same network")
  func isolatesUsersBehindOneAddress() async throws {
    let world = try ItemWorld(shares: Self.shares(8))
    let hostile = Self.caller("192.0.2.1")
    var held: [(call: ItemUpstream.Call, task: Task<ReadResponse, any Error>)] = []
    for id in 1...5 {
      held.append(
        try await world.held {
          try await world.read("Item", ["id": .string("\(id)")], by: hostile)
        })
    }
    let waiting = Task { try await world.read(by: hostile) }
    await eventually { world.shares.counts(of: Self.hostile) == (5, 1) }
    // The same response, whose flight of the anonymous caller waits in its own line.
    let ada = Self.caller("192.0.2.1", user: "ada")
    #expect(try await world.read(by: ada).names["1"] == "one")
    #expect(world.shares.counts(of: Self.hostile) == (5, 1))
    for (call, task) in held {
      call.execute()
      call.respond()
      _ = await task.result
    }
    #expect(try await waiting.value.names.count == 2)
    await eventually { world.shares.counts(of: Self.hostile) == (0, 0) }
  }

  @Test("Slow calls of one network delay no other, also for the same response, nor after it left")
  func isolatesNetworks() async throws {
    let world = try ItemWorld(shares: Self.shares(2))
    let hostile = Self.caller("192.0.2.1")
    var held: [(call: ItemUpstream.Call, task: Task<ReadResponse, any Error>)] = []
    for id in ["1", "2"] {
      held.append(
        try await world.held { try await world.read("Item", ["id": .string(id)], by: hostile) })
    }
    // The client leaves; its calls go on, and hold their places.
    for (_, task) in held { task.cancel() }
    let waiting = Task { try await world.read(by: hostile) }
    let joined = Task { try await world.read(by: hostile) }
    await eventually { world.shares.counts(of: Self.hostile) == (2, 1) }
    #expect(world.upstream.callCount == 2)
    // Another network's caller does not wait for the flight in that line, and joins one that runs.
    #expect(try await world.read(by: Self.caller("192.0.2.2")).names["1"] == "one")
    #expect(world.upstream.callCount == 3)
    // A mutation of the same network waits, that of another does not.
    try await world.mutate("TouchTag", by: Self.caller("192.0.2.2"))
    #expect(world.upstream.callCount == 4)
    for (call, task) in held {
      call.execute()
      call.respond()
      _ = await task.result
    }
    #expect(try await waiting.value.names.count == 2)
    #expect(try await joined.value.names.count == 2)
    await eventually { world.shares.counts(of: Self.hostile) == (0, 0) }
  }
}
