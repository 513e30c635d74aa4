import LosslessJSON

/// An `IntFilter` input.
struct NumberCondition {
  private let equal: Int?
  private let above: Int?
  private let least: Int?
  private let below: Int?
  private let most: Int?
  private let among: [Int]?

  init(_ input: Arguments) {
    equal = input.int("eq")
    above = input.int("gt")
    least = input.int("gte")
    below = input.int("lt")
    most = input.int("lte")
    among = input["in"]?.array?.compactMap { $0.int64.flatMap(Int.init(exactly:)) }
  }

  func admits(_ number: Int) -> Bool {
    (equal.map { number == $0 } ?? true) && (above.map { number > $0 } ?? true)
      && (least.map { number >= $0 } ?? true) && (below.map { number < $0 } ?? true)
      && (most.map { number <= $0 } ?? true) && (among.map { $0.contains(number) } ?? true)
  }
}
