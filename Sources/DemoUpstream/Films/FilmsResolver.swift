import LosslessJSON

/// An object of the film schema, passed from a field to its sub-selections.
indirect enum FilmsObject {
  /// The root value of this type.
  case root(String)
  case row(Row)
  /// A small object that was made with all its fields.
  case made(String, [String: Resolved<FilmsObject>])
}

/// Resolves the film schema over one state of the library, for one caller.
struct FilmsResolver: FieldResolver {
  var library: Library
  /// The user named by the Authorization header.
  let viewer: Row?
  /// The time of the request, as a `DateTime`.
  let now: String

  func root(_ typeName: String) -> FilmsObject { .root(typeName) }

  func typeName(of object: FilmsObject) -> String {
    switch object {
    case .root(let type), .made(let type, _): type
    case .row(let row): row.type
    }
  }

  mutating func resolve(
    _ field: String, of object: FilmsObject, arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch object {
    case .root("Mutation"): try mutation(field, arguments)
    case .root: try query(field, arguments)
    case .made(_, let fields): fields[field] ?? .missing(field)
    case .row(let row): try self.field(field, of: row, arguments)
    }
  }

  /// A field that is computed, else the row's own value.
  private func field(
    _ field: String, of row: Row, _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let id = row.id
    return switch (row.type, field) {
    case (_, "rating"):
      .made("Rating", ["average": .value(row.average.json), "votes": .value(.int(row.votes))])
    // Every ninth work has no poster.
    case (_, "poster"): id.hasSuffix("9") ? .null : picture(of: id, row["title"], arguments)
    case (_, "studio"): object("Studio", row["studioId"]?.string)
    case (_, "director"): object("Person", row["directorId"]?.string)
    case (_, "cast"): try cast(row.castIDs, arguments)
    case (_, "credits"): try credits(row, arguments)
    case (_, "boxOffice"):
      row["boxOffice"].map { money in
        .made(
          "Money",
          [
            "amount": .value(money["amount"] ?? .null),
            "currency": .text(money["currency"]?.string),
          ])
      } ?? .null
    case (_, "length"): .value(row["runtimeMinutes"] ?? .null)
    case (_, "similar"): try list(similar(to: row), arguments)
    case (_, "myStars"): .value(storedViewer?["stars"]?[id] ?? .null)
    case (_, "portrait"):
      row["biography"] == nil ? .null : picture(of: id, row["name"], arguments)
    case ("Person", "films"): try list(newestFirst(library.filmIDs("cast", id)), arguments)
    case ("Person", "directed"): try list(newestFirst(library.filmIDs("director", id)), arguments)
    case ("Person", "filmCount"): .int(library.filmIDs("cast", id).count)
    case ("Studio", "films"):
      try list(
        FilmOrder(arguments["orderBy"]).sorted(newestFirst(library.filmIDs("studio", id))),
        arguments)
    case ("Studio", "filmCount"): .int(library.filmIDs("studio", id).count)
    case (_, "owner"): .object(.row(user(row["ownerId"]?.string ?? "")))
    case ("FilmList", "films"): films(row["filmIds"]?.strings ?? [])
    case (_, "watchlist"): films(row["watchlist"]?.strings ?? [])
    case (_, "lists"):
      .list(
        library["FilmList"].rows.filter { $0["ownerId"]?.string == id }.map { .object(.row($0)) })
    case (_, "rated"): films((row["stars"]?.members ?? []).map(\.name).sorted())
    default: row.values[field].map { .value($0) } ?? .missing(field)
    }
  }

  /// A picture by its address. Sizes are the schema's `PosterSize`.
  private func picture(
    of id: String, _ title: JSONValue?, _ arguments: JSONValue
  ) -> Resolved<FilmsObject> {
    let width = ["SMALL": 120, "LARGE": 960][arguments["size"]?.string ?? ""] ?? 360
    let height = width * 3 / 2
    return .made(
      "Poster",
      [
        "url": .text(
          "https://images.films.example/\(id)/\(width)x\(height).webp?v=1&fit=cover"),
        "width": .int(width), "height": .int(height), "alt": .value(title ?? .null),
      ])
  }

  private func credits(
    _ row: Row, _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    let known = (row["credits"]?.array ?? []).filter {
      library["Person"][$0["personId"]?.string ?? ""] != nil
    }
    return .list(
      try page(known, arguments).map { credit in
        .made(
          "Credit",
          [
            "role": .text(credit["role"]?.string),
            "person": object("Person", credit["personId"]?.string),
          ])
      })
  }

  /// Films of the same director first, then of the first genre and country, by id.
  private func similar(to film: Row) -> some Sequence<Row> {
    let byDirector =
      film["directorId"]?.string.map { newestFirst(library.filmIDs("director", $0)) } ?? []
    let known = Set(byDirector.map(\.id))
    let akin = library["Film"].rows.lazy.filter {
      $0["genres"]?[0] == film["genres"]?[0] && $0["country"] == film["country"]
        && !known.contains($0.id)
    }
    return (byDirector + akin.prefix(Self.pageMax)).filter { $0.id != film.id }
  }
}

extension Resolved<FilmsObject> {
  static func made(_ type: String, _ fields: [String: Resolved]) -> Resolved {
    .object(.made(type, fields))
  }

  /// The error for a field of the schema without a resolver.
  static func missing(_ field: String) -> Resolved {
    .failure(FieldFailure("\(field) is not resolved.", code: "INTERNAL_SERVER_ERROR"))
  }
}

/// Look-ups of objects by id, shared by all fields.
extension FilmsResolver {
  /// Maximum elements of a list field.
  static let pageMax = 1_000

  func object(_ type: String, _ id: String?) -> Resolved<FilmsObject> {
    .object(id.flatMap { library[type][$0] }.map { .row($0) })
  }

  /// The films among the ids, in the order of the ids.
  func films(_ ids: [String]) -> Resolved<FilmsObject> {
    .list(ids.compactMap { library["Film"][$0] }.map { .object(.row($0)) })
  }

  /// A stored user, or a new one with defaults.
  func user(_ id: String) -> Row {
    library["User"][id] ?? viewer.flatMap { $0.id == id ? $0 : nil }
      ?? DemoViewer.user(id, name: id)
  }

  /// The viewer with its stored data.
  var storedViewer: Row? { viewer.map { user($0.id) } }

  func newestFirst(_ ids: [String]) -> [Row] {
    ids.compactMap { library["Film"][$0] }
      .sorted { ($1.int("year"), $0.id) < ($0.int("year"), $1.id) }
  }

  /// The elements of a list selected by `limit` and `offset`.
  func page<Element>(
    _ elements: some Sequence<Element>, _ arguments: JSONValue
  ) throws(FieldFailure) -> [Element] {
    let limit = arguments["limit"]?.int64.map(Int.init) ?? Self.pageMax
    let offset = arguments["offset"]?.int64.map(Int.init) ?? 0
    guard (0...Self.pageMax).contains(limit) else {
      throw .badInput("limit", "The limit must be 0 to \(Self.pageMax).")
    }
    guard offset >= 0 else { throw .badInput("offset", "The offset must not be negative.") }
    return Array(elements.dropFirst(offset).prefix(limit))
  }

  func list(
    _ rows: some Sequence<Row>, _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    .list(try page(rows, arguments).map { .object(.row($0)) })
  }

  /// The people of a cast selected by `limit` and `offset`.
  private func cast(
    _ ids: [String], _ arguments: JSONValue
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    var seen: Set<String> = []
    return try list(
      ids.filter { seen.insert($0).inserted }.compactMap { library["Person"][$0] }, arguments)
  }
}

/// The caller identified by the Authorization header: `Bearer user-ada` is the user `u-ada`, without
/// verification. Any other value is an anonymous caller.
enum DemoViewer {
  private static let prefix = "Bearer user-"
  private static let nameLengthMax = 32

  static func user(authorization: String?) -> Row? {
    guard let authorization, authorization.hasPrefix(prefix) else { return nil }
    let name = authorization.dropFirst(prefix.count)
    let isName = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
    }
    guard isName, (1...nameLengthMax).contains(name.utf8.count) else { return nil }
    return user("u-\(name)", name: name.prefix(1).uppercased() + name.dropFirst())
  }

  /// A user without stored data.
  static func user(_ id: String, name: String) -> Row {
    Row(
      "User", id: id,
      [
        "name": .string(name), "memberSince": "2020-01-01", "watchlist": [], "stars": .object([]),
      ])
  }
}
