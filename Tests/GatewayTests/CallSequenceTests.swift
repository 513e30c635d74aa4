import Gateway
import Model
import Testing

struct CallSequenceTests {
  @Test func continuesAfterTheHighestStoredNumber() {
    let calls = CallSequence(after: CallNumber(41))
    #expect(calls.begin() == CallNumber(42))
    #expect(calls.begin() == CallNumber(43))
    #expect(calls.begin() == CallNumber(44))
  }

  @Test func theHorizonIsTheOldestCallInFlight() {
    let calls = CallSequence(after: .none)
    let first = calls.begin()
    let second = calls.begin()
    #expect(calls.horizon(of: second) == first)
    calls.end(first)
    #expect(calls.horizon(of: second) == second)
    calls.end(second)
    let third = calls.begin()
    #expect(calls.horizon(of: third) == third)
  }
}
