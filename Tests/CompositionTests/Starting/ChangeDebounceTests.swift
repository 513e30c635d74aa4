import Testing

@testable import Composition

struct ChangeDebounceTests {
  /// The looks, counted from 1, after which a change was reported.
  private static func reports(_ looks: [Int]) -> [Int] {
    var debounce = ChangeDebounce(0)
    return looks.enumerated().compactMap { debounce.note($1) ? $0 + 1 : nil }
  }

  @Test("Nothing is reported without a change")
  func unchangedStatesAreQuiet() {
    #expect(Self.reports([0, 0, 0]) == [])
  }

  @Test("A change is reported once, when two looks have found it")
  func changesAreReportedOnce() {
    #expect(Self.reports([1, 1, 1, 1]) == [2])
    #expect(Self.reports([0, 1, 1, 0, 0, 0]) == [3, 5])
  }

  @Test("Changes in a row are one")
  func changesInARowAreOne() {
    #expect(Self.reports([1, 2, 3, 3, 3]) == [4])
  }

  @Test("A change that is taken back in time is none")
  func changesCanBeTakenBack() {
    #expect(Self.reports([1, 0, 0, 0]) == [])
  }

  @Test("Endless changes are reported in between")
  func endlessChangesAreReported() {
    #expect(Self.reports(Array(1...20)) == [8, 16])
  }
}
