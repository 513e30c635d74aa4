import Model
import Testing

@testable import Gateway

struct AttemptThrottleTests {
  let now = Timestamp(milliseconds: 1_700_000_000_000)

  @Test func takesSoManyAndThenAtAnEvenRate() {
    let throttle = AttemptThrottle(perMinute: 6)
    for _ in 0..<6 { #expect(throttle.take("ada", at: now) == nil) }
    #expect(throttle.take("ada", at: now) == .seconds(10))
    #expect(throttle.take("eve", at: now) == nil)
    #expect(throttle.take("ada", at: now.advanced(by: .seconds(10))) == nil)
    #expect(throttle.take("ada", at: now.advanced(by: .seconds(10))) != nil)
  }

  @Test func givesBackNoMoreThanThereWas() {
    let throttle = AttemptThrottle(perMinute: 2)
    for _ in 0..<20 {
      #expect(throttle.take("ada", at: now) == nil)
      throttle.giveBack("ada", at: now)
    }
    throttle.giveBack("ada", at: now)
    throttle.giveBack("nobody", at: now)
    for _ in 0..<2 { #expect(throttle.take("ada", at: now) == nil) }
    #expect(throttle.take("ada", at: now) != nil)
  }

  @Test func aCrowdSharesOneBucketRatherThanEscape() {
    let throttle = AttemptThrottle(perMinute: 1)
    for number in 0..<20_000 { #expect(throttle.take("name \(number)", at: now) == nil) }
    #expect(throttle.take("one more", at: now) == nil)
    #expect(throttle.take("and another", at: now) != nil)
    throttle.giveBack("one more", at: now)
    #expect(throttle.take("and another", at: now) == nil)
  }
}
