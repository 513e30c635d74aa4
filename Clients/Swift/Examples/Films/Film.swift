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
  public var tagline: String?

  /// The members that filters and orders can name.
  public struct Columns: Sendable {
    public let id = Column<String>("id")
    public let title = Column<String>("title")
    public let year = Column<Int>("year")
    public let tagline = Column<String>("tagline")
  }
}

/// A part of what it writes for the demo's mutation `UpdateFilm`.
public struct UpdateFilmMutation: GraphQLOperation {
  public static let name = "UpdateFilm"
  public static let kind = OperationKind.mutation

  public var variables: Variables

  public init(id: String, patch: FilmPatch) {
    variables = Variables(id: id, patch: patch)
  }

  public struct Variables: Codable, Hashable, Sendable {
    public var id: String
    public var patch: FilmPatch
  }

  public struct Response: Codable, Hashable, Sendable {
    public var updateFilm: UpdateFilm?

    public struct UpdateFilm: Codable, Hashable, Sendable {
      public var id: String
      public var tagline: String?
    }
  }
}

extension GraphQLOperation where Self == UpdateFilmMutation {
  public static func updateFilm(id: String, patch: FilmPatch) -> UpdateFilmMutation {
    UpdateFilmMutation(id: id, patch: patch)
  }
}

/// The fields of a film that change.
public struct FilmPatch: Codable, Hashable, Sendable {
  public var tagline: String?

  public init(tagline: String? = nil) {
    self.tagline = tagline
  }
}
