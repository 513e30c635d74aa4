import Testing

@testable import Traces

struct SamplingTests {
  @Test(
    "The share of recorded traces is the ratio",
    arguments: [0.0, 0.000_1, 0.01, 0.25, 0.5, 0.99, 1.0], [1 as UInt64, 2, 3])
  func recordsTheShare(share: Double, seed: UInt64) {
    let ratio = SamplingRatio(share)
    var dice = SamplingDice(seed: seed)
    let rolls = 200_000
    let count = (0..<rolls).count { _ in ratio.includes(dice.roll()) }
    // Six standard deviations: no seed is unlucky.
    let deviation = (Double(rolls) * share * (1 - share)).squareRoot()
    #expect((Double(count) - Double(rolls) * share).magnitude <= 6 * deviation)
  }

  @Test("0 records nothing and 1 everything, whatever the number", arguments: [0, 1, UInt64.max])
  func knowsItsEnds(number: UInt64) {
    #expect(!SamplingRatio(0).includes(number))
    #expect(!SamplingRatio(-1).includes(number))
    #expect(!SamplingRatio(.nan).includes(number))
    #expect(SamplingRatio(1).includes(number))
    #expect(SamplingRatio(2).includes(number))
  }

  @Test("A tiny ratio still records")
  func recordsRarely() {
    #expect(SamplingRatio(1e-12).includes(0))
    #expect(!SamplingRatio(1e-12).includes(.max))
  }
}
