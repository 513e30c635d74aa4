/// The random choices of one run, from its seed.
package protocol SeededChance {
  var generator: SeededGenerator { get set }
}

extension SeededChance {
  /// Draws whether an event with this probability in percent happens.
  package mutating func percent(_ share: Int) -> Bool {
    Int.random(in: 0..<100, using: &generator) < share
  }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  package mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &generator)
  }
}
