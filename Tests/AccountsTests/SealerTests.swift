import Accounts
import Cryptography
import Model
import Testing

struct SealerTests {
  private let secret = Array("Bearer abc".utf8)

  private func sealer(key: UInt8 = 7) -> Sealer {
    Sealer(
      key: SymmetricKey(data: [UInt8](repeating: key, count: 32)),
      random: RandomBytes { UInt8.random(in: 0...255) })
  }

  @Test func opensWhatItSealed() throws {
    for secret in [secret, [], [UInt8](repeating: 0, count: 5000)] {
      let sealed = try sealer().seal(secret, for: "mutation:m_1")
      #expect(try sealer().open(sealed, for: "mutation:m_1") == secret)
    }
  }

  @Test func sealsTheSameSecretDifferentlyEachTime() throws {
    let one = try sealer().seal(secret, for: "a")
    #expect(try sealer().seal(secret, for: "a") != one)
    #expect(one.firstRange(of: secret) == nil)
  }

  @Test func opensForTheSameContextAndKeyAlone() throws {
    let sealed = try sealer().seal(secret, for: "mutation:m_1")
    #expect(throws: SealFault.notOpened) { try sealer().open(sealed, for: "mutation:m_2") }
    #expect(throws: SealFault.notOpened) { try sealer(key: 8).open(sealed, for: "mutation:m_1") }
  }

  @Test func refusesEveryAlteredByte() throws {
    let sealed = try sealer().seal(secret, for: "a")
    for index in sealed.indices {
      var altered = sealed
      altered[index] ^= 1
      #expect(throws: SealFault.self, "byte \(index)") { try sealer().open(altered, for: "a") }
    }
    for count in 0..<sealed.count {
      #expect(throws: SealFault.self) { try sealer().open(sealed.prefix(count), for: "a") }
    }
  }

  @Test func refusesAKeyOfAnotherSize() {
    let short = Sealer(key: SymmetricKey(data: [1, 2, 3]), random: RandomBytes { 0 })
    #expect(throws: SealFault.cannotSeal) { try short.seal(secret, for: "a") }
  }
}
