import Synchronization
import Testing

@testable import Transport

struct TLSTicketKeysTests {
  @Test("A ticket key seals for a period and opens for another")
  func keySealsForAPeriodAndOpensForAnother() throws {
    let clock = HandClock()
    let keys = TLSTicketKeys { clock.now }
    let first = try #require(keys.current())
    clock.advance(by: TLSTicketKeys.sealing - .seconds(1))
    #expect(keys.current() === first)
    clock.advance(by: .seconds(1))
    let second = try #require(keys.current())
    #expect(second !== first)
    #expect(keys.key(named: first.ownName) === first)
    #expect(keys.key(named: second.ownName) === second)
    clock.advance(by: TLSTicketKeys.sealing - .seconds(1))
    #expect(keys.key(named: first.ownName) === first)
    clock.advance(by: .seconds(1))
    #expect(keys.key(named: first.ownName) == nil)
    #expect(keys.key(named: [UInt8](repeating: 0, count: 16)) == nil)
  }

  /// A server without clients for a long time must not seal with its old key.
  @Test("An old ticket key is not reused after a long pause")
  func oldKeyIsNotReusedAfterALongPause() throws {
    let clock = HandClock()
    let keys = TLSTicketKeys { clock.now }
    let first = try #require(keys.current())
    clock.advance(by: TLSTicketKeys.sealing * 5)
    #expect(keys.key(named: first.ownName) == nil)
    #expect(keys.current() !== first)
  }
}

private final class HandClock: Sendable {
  private let moment = Mutex(LoopInstant(nanoseconds: 1))

  var now: LoopInstant { moment.withLock { $0 } }

  func advance(by duration: Duration) {
    moment.withLock { $0 = $0 + duration }
  }
}

extension TLSTicketKeys {
  fileprivate func key(named name: [UInt8]) -> TLSTicketKey? {
    name.withUnsafeBytes { key(named: $0) }
  }
}

extension TLSTicketKey {
  fileprivate var ownName: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: TLSTicketKey.nameBytes)
    bytes.withUnsafeMutableBufferPointer { buffer in
      if let start = buffer.baseAddress { writeName(to: start) }
    }
    return bytes
  }
}
