/// Which elements of a sequence of distinct numbers are part of one longest increasing
/// subsequence: patience sorting, O(n log n).
enum LongestIncreasingSubsequence {
  /// - Returns: for each place, whether its number is part of it.
  static func members(of numbers: [Int32]) -> [Bool] {
    // By length, the place where the smallest last number of such a subsequence stands.
    var tails: [Int32] = []
    var smallest: [Int32] = []
    var previous = [Int32](repeating: -1, count: numbers.count)
    for (place, number) in numbers.enumerated() {
      var low = 0
      // Lists that hardly changed go on at the end nearly always.
      var high = smallest.count
      if let last = smallest.last, last < number {
        low = high
      }
      while low < high {
        let middle = (low + high) / 2
        if smallest[middle] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[place] = tails[low - 1] }
      if low == smallest.count {
        smallest.append(number)
        tails.append(Int32(place))
      } else {
        smallest[low] = number
        tails[low] = Int32(place)
      }
    }
    var members = [Bool](repeating: false, count: numbers.count)
    var place = tails.last ?? -1
    while place >= 0 {
      members[Int(place)] = true
      place = previous[Int(place)]
    }
    return members
  }
}
