import Model
import Testing

@testable import Gateway

struct AttemptThrottleTests {
  typealias Name = AttemptThrottle.Name

  let now = Timestamp(milliseconds: 1_700_000_000_000)

  @Test("A burst is taken at once, then attempts at an even rate")
  func burstThenEvenRate() {
    let throttle = AttemptThrottle(perMinute: 6)
    for _ in 0..<6 { #expect(throttle.take(Name("ada"), at: now) == nil) }
    #expect(throttle.take(Name("ada"), at: now) == .seconds(10))
    #expect(throttle.take(Name("eve"), at: now) == nil)
    #expect(throttle.take(Name("ada"), at: now.advanced(by: .seconds(10))) == nil)
    #expect(throttle.take(Name("ada"), at: now.advanced(by: .seconds(10))) != nil)
  }

  @Test("Returned attempts do not exceed the capacity")
  func refundIsBounded() {
    let throttle = AttemptThrottle(perMinute: 2)
    for _ in 0..<20 {
      #expect(throttle.take(Name("ada"), at: now) == nil)
      throttle.giveBack(Name("ada"), at: now)
    }
    throttle.giveBack(Name("ada"), at: now)
    throttle.giveBack(Name("nobody"), at: now)
    for _ in 0..<2 { #expect(throttle.take(Name("ada"), at: now) == nil) }
    #expect(throttle.take(Name("ada"), at: now) != nil)
  }

  @Test("If one name has no attempts left, nothing is taken from the others")
  func takesAllOrNone() {
    let throttle = AttemptThrottle(perMinute: 1)
    #expect(throttle.take(Name("ada"), at: now) == nil)
    #expect(throttle.take(Name("eve"), Name("ada"), at: now) != nil)
    #expect(throttle.take(Name("eve"), at: now) == nil)
  }

  @Test("A flood of names locks out no newcomer and frees no limited caller")
  func floodEvictsItself() {
    let throttle = AttemptThrottle(perMinute: 4)
    for _ in 0..<4 { #expect(throttle.take(Name("held back"), at: now) == nil) }
    for number in 0..<100_000 {
      #expect(throttle.take(Name("network \(number)"), at: now) == nil)
    }
    #expect(throttle.take(Name("newcomer"), at: now) == nil)
    #expect(throttle.take(Name("held back"), at: now) != nil)
  }

  @Test("A block of IPv6 networks has the attempts of eight networks in total")
  func blockLimit() {
    let throttle = AttemptThrottle(perMinute: 3)
    let taken = (0..<1_000).count { number in
      let network = ClientNetwork(name: "2001:db8:0:\(number)::", block: "2001:db8::/48")
      return throttle.take(network.attemptNames, at: now) == nil
    }
    #expect(taken == 24)
    #expect(throttle.take(ClientNetwork("192.0.2.1").attemptNames, at: now) == nil)
  }
}
