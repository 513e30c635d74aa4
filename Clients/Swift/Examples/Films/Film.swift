import Larder

/// A part of what `larder generate swift` writes for the demo's type `Film`.
public struct Film: Entity {
  public static let typeName = "Film"
  public static let keyFields = ["id"]
  public static let isLocal = false
  public static let columns = Columns()

  public var id: String
  public var title: String?
  public var year: Int?
  public var myStars: Int?

  /// The members that filters and orders can name.
  public struct Columns: Sendable {
    public let id = Column<String>("id")
    public let title = Column<String>("title")
    public let year = Column<Int>("year")
    public let myStars = Column<Int>("myStars")
  }
}

/// A mutation of the demo's operations.
public struct RateFilm: GraphQLOperation {
  public static let name = "RateFilm"
  public static let kind = OperationKind.mutation

  public var variables: Variables

  public struct Variables: Codable, Hashable, Sendable {
    public var id: String
    public var stars: Int
  }

  public struct Response: Codable, Hashable, Sendable {
    public var rateFilm: Rated?
  }

  public struct Rated: Codable, Hashable, Sendable {
    public var id: String
    public var myStars: Int?
  }
}
