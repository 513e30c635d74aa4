import Testing

@testable import Gateway

struct RefusedCredentialsTests {
  private static let old: [UInt8] = [1]
  private static let new: [UInt8] = [2]

  @Test("A device that does not wait is not taken out")
  func ignoresDeviceThatDoesNotWait() {
    let refused = RefusedCredentials()
    #expect(!refused.isWaiting("d"))
    #expect(refused.takeOut("d", for: Self.new) == nil)
  }

  @Test("A refused credential is not tried again, a different one once")
  func triesOnlyNewCredentialsOnce() {
    let refused = RefusedCredentials()
    refused.note("d", refused: Self.old)
    #expect(refused.takeOut("d", for: Self.old) == nil)
    #expect(refused.takeOut("d", for: Self.new) != nil)
    #expect(!refused.isWaiting("d"))
    #expect(refused.takeOut("d", for: Self.new) == nil)
  }

  @Test("A credential whose renewal failed is tried again")
  func retriesFailedRenewal() throws {
    let refused = RefusedCredentials()
    refused.note("d", refused: Self.old)
    let digests = try #require(refused.takeOut("d", for: Self.new))
    refused.putBack(digests, of: "d")
    #expect(refused.isWaiting("d"))
    #expect(refused.takeOut("d", for: Self.old) == nil)
    #expect(refused.takeOut("d", for: Self.new) != nil)
  }

  @Test("Overflow forgets one device")
  func overflowForgetsOneDevice() {
    let refused = RefusedCredentials()
    let count = RefusedCredentials.devicesMax + 1
    for number in 0..<count { refused.note("d\(number)") }
    #expect((0..<count).count { refused.isWaiting("d\($0)") } == RefusedCredentials.devicesMax)
    #expect(refused.isWaiting("d\(count - 1)"))
  }

  @Test("A device's digests are bounded")
  func digestsAreBounded() {
    let refused = RefusedCredentials()
    let count = RefusedCredentials.digestsMax + 4
    for number in 0..<count { refused.note("d", refused: [UInt8(number)]) }
    let remembered = (0..<count).count { number in
      guard let digests = refused.takeOut("d", for: [UInt8(number)]) else { return true }
      refused.putBack(digests, of: "d")
      return false
    }
    #expect(remembered == RefusedCredentials.digestsMax)
    #expect(refused.takeOut("d", for: [UInt8(count - 1)]) == nil)
  }
}
