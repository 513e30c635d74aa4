/// Stars given so far: the sum stays whole, so that taking a vote back restores what was.
struct Rating: Sendable, Hashable {
  private(set) var starsSum: Int
  private(set) var votes: Int

  init(starsSum: Int, votes: Int) {
    self.starsSum = starsSum
    self.votes = votes
  }

  /// 0.00 without any vote.
  var average: Hundredths {
    votes == 0 ? Hundredths(0) : Hundredths(Int64((starsSum * 100 + votes / 2) / votes))
  }

  /// Puts one voter's stars in the place of what they gave before.
  mutating func replace(_ former: Int?, with stars: Int) {
    starsSum += stars - (former ?? 0)
    if former == nil { votes += 1 }
  }
}
