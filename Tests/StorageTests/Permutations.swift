/// Every order of a few things.
enum Permutations {
  static func all(of count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return all(of: count - 1).flatMap { shorter in
      (0...shorter.count).map { place in
        var order = shorter
        order.insert(count - 1, at: place)
        return order
      }
    }
  }
}
