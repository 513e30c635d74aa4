struct Film: Row {
  /// A person and the part they play.
  struct Credit: Sendable, Hashable {
    let role: String
    let personID: String
  }

  struct Money: Sendable, Hashable {
    let amount: Hundredths
    let currency: String
  }

  let id: String
  var title: String
  var originalTitle: String?
  var year: Int
  var synopsis: String?
  var tagline: String?
  var genres: [String]
  var country: String
  var runtimeMinutes: Int?
  var releaseDate: String?
  var catalogueNumber: Int64
  var views: Int64
  var boxOffice: Money?
  var rating: Rating
  var directorID: String?
  var credits: [Credit]
  var studioID: String?
  var updatedAt: String
}

struct Series: Row {
  let id: String
  var title: String
  var year: Int
  /// Absent while the series runs.
  var endYear: Int?
  var synopsis: String?
  var genres: [String]
  var country: String
  var seasons: Int
  var episodes: Int
  var rating: Rating
  var studioID: String?
  var castIDs: [String]
  var updatedAt: String
}

struct Studio: Row {
  let id: String
  var name: String
  var country: String
  var city: String?
  var foundedIn: Int?
  var website: String?
  var updatedAt: String
}

struct Person: Row {
  let id: String
  var name: String
  /// Family name first.
  var sortName: String
  var nationality: String?
  var bornOn: String?
  var diedOn: String?
  var biography: String?
  var updatedAt: String

  /// The year of birth, from the day.
  var bornIn: Int? { bornOn.flatMap { Int($0.prefix(4)) } }
}

/// Someone who signed in: what they noted and rated is all the library knows of them.
struct User: Row {
  let id: String
  var name: String
  var memberSince: String
  /// Film ids, the latest last.
  var watchlist: [String] = []
  /// Stars by film id.
  var stars: [String: Int] = [:]
}

struct FilmList: Row {
  let id: String
  var name: String
  var note: String?
  let ownerID: String
  var filmIDs: [String]
  let createdAt: String
}

/// The votes for a film, kept as a whole sum, so that removing a vote restores the previous value.
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

/// A decimal number with exactly two places, so that `7.40` and `1250000.00` keep their zeros.
struct Hundredths: Sendable, Hashable, Comparable {
  let count: Int64

  init(_ count: Int64) {
    self.count = count
  }

  /// - Parameter digits: a JSON number without exponent and with at most two places.
  init?(digits: String) {
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let units = Int64(parts[0]), Self.units.contains(units) else {
      return nil
    }
    var cents: Int64 = 0
    if parts.count == 2 {
      guard let fraction = Int64(parts[1]), (1...2).contains(parts[1].utf8.count) else {
        return nil
      }
      cents = parts[1].utf8.count == 1 ? fraction * 10 : fraction
    }
    count = units * 100 + (digits.hasPrefix("-") ? -cents : cents)
  }

  var digits: String {
    let magnitude = count.magnitude
    let cents = magnitude % 100
    return "\(count < 0 ? "-" : "")\(magnitude / 100).\(cents < 10 ? "0" : "")\(cents)"
  }

  static func < (left: Hundredths, right: Hundredths) -> Bool { left.count < right.count }

  /// Far past any box office, and safe from overflow when counted in hundredths.
  private static let units: ClosedRange<Int64> = -1_000_000_000_000_000...1_000_000_000_000_000
}
