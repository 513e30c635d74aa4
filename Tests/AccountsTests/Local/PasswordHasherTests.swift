import Foundation
import Model
import Synchronization
import Testing
import Transport

@testable import Accounts

struct PasswordHasherTests {
  private static func share(_ network: String) -> HashingShare {
    HashingShare(network: ClientNetwork(network), account: "account of \(network)")
  }

  /// RFC 7914 section 12.
  @Test(
    "scrypt matches the test vectors of RFC 7914",
    arguments: [
      (
        "", "", 4, 1, 1,
        "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
      ),
      (
        "password", "NaCl", 10, 8, 16,
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
      ),
      (
        "pleaseletmein", "SodiumChloride", 14, 8, 1,
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
      ),
    ])
  func testVectors(
    password: String, salt: String, exponent: Int, block: Int, parallel: Int, key: String
  ) throws {
    let cost = try #require(
      ScryptCost(exponent: exponent, blockFactor: block, parallel: parallel))
    let derived = cost.derive(password, salt: Array(salt.utf8), byteCount: 64)
    #expect(derived?.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == key)
  }

  @Test("A hash survives a round trip through its text")
  func hashRoundTrip() throws {
    let hash = PasswordHash(
      cost: ScryptCost(exponent: 15), salt: Array(0..<16), key: Array(0..<32))
    #expect(PasswordHash(hash.text) == hash)
  }

  @Test(
    "Malformed hashes are refused",
    arguments: [
      "", "$scrypt$", "$argon2id$ln=15,r=8,p=3$AAAA$AAAA", "$scrypt$ln=99,r=8,p=3$s$k",
      "$scrypt$ln=15,r=8$AAAAAAAAAAAAAAAAAAAAAA$AA", "$scrypt$ln=15,r=9999,p=3$AAAA$AAAA",
      "plain",
    ])
  func refusesMalformedHash(text: String) {
    #expect(PasswordHash(text) == nil)
  }

  @Test("No password is right for a missing account")
  func noPasswordForMissingAccount() async throws {
    let hasher = PasswordHasher(
      cost: ScryptCost(exponent: 4), pool: BlockingPool(threadsMax: 1),
      random: RandomBytes { 7 })
    let verdict = try await hasher.check("", against: nil, for: Self.share("192.0.2.1"))
    #expect(!verdict.isRight && !verdict.isOutdated)
  }

  /// Blocks every derivation until it is opened.
  private final class Gate: Sendable {
    private let condition = NSCondition()
    private let isOpen = Mutex(false)

    func pass() {
      condition.lock()
      while !isOpen.withLock({ $0 }) { condition.wait() }
      condition.unlock()
    }

    func open() {
      condition.lock()
      isOpen.withLock { $0 = true }
      condition.broadcast()
      condition.unlock()
    }
  }

  @Test("A network that fills its places is refused, and other networks' passwords are checked")
  func attackerLeavesRoom() async throws {
    let gate = Gate()
    let (begun, hasBegun) = AsyncStream<Void>.makeStream()
    let hasher = PasswordHasher(
      cost: ScryptCost(exponent: 4), pool: BlockingPool(threadsMax: 1), random: RandomBytes { 7 }
    ) { password, salt, cost, byteCount in
      hasBegun.yield()
      gate.pass()
      return cost.derive(password, salt: salt, byteCount: byteCount)
    }
    try await withThrowingTaskGroup(of: Bool.self) { attacker in
      let (refusals, refused) = AsyncStream<Void>.makeStream()
      for number in 0..<48 {
        attacker.addTask {
          let share = HashingShare(
            network: ClientNetwork("192.0.2.1"), account: "own account \(number % 4)")
          do {
            _ = try await hasher.hash("password", for: share)
            return true
          } catch {
            refused.yield()
            return false
          }
        }
      }
      // All but the places of one network are refused before any has ended.
      var events = refusals.makeAsyncIterator()
      for _ in 0..<(48 - HashingQueue.placesPerNetwork) { await events.next() }
      var starts = begun.makeAsyncIterator()
      await starts.next()
      async let victim = hasher.check("password", against: nil, for: Self.share("192.0.2.2"))
      gate.open()
      _ = try await victim
      let served = try await attacker.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      #expect(served == HashingQueue.placesPerNetwork)
    }
  }
}
