@testable import Larder

// Operations as `larder generate swift` writes them.

struct TitleQuery: GraphQLOperation {
  static let name = "Film"
  static let kind = OperationKind.query

  var variables = Stars(stars: 1)

  struct Response: Codable, Hashable, Sendable {
    var title: String?
  }
}

struct RateFilmMutation: GraphQLOperation {
  static let name = "RateFilm"
  static let kind = OperationKind.mutation

  var variables: Stars

  struct Response: Codable, Hashable, Sendable {
    var rateFilm: String?
  }
}

/// The variables of both, which need not be JSON.
struct Stars: Codable, Hashable, Sendable {
  var stars: Double
}
