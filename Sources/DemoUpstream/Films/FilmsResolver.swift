/// Resolves the film schema over one state of the library, for one caller.
struct FilmsResolver: FieldResolver {
  var library: Library
  /// The user named by the Authorization header.
  let viewer: User?
  /// The time of the request, as a `DateTime`.
  let now: String

  func root(_ typeName: String) -> FilmsObject {
    typeName == "Mutation" ? .mutation : .query
  }

  func typeName(of object: FilmsObject) -> String { object.typeName }

  mutating func resolve(
    _ field: String, of object: FilmsObject, arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    switch object {
    case .query: try query(field, arguments)
    case .mutation: try mutation(field, arguments)
    case .film(let film): try self.field(field, of: film, arguments)
    case .series(let series): try self.field(field, of: series, arguments)
    case .person(let person): try self.field(field, of: person, arguments)
    case .studio(let studio): try self.field(field, of: studio, arguments)
    case .user(let user): self.field(field, of: user)
    case .list(let list): self.field(field, of: list)
    case .poster(let poster): self.field(field, of: poster)
    case .money(let money):
      .part(field, ["amount": .number(money.amount.digits), "currency": .string(money.currency)])
    case .rating(let rating):
      .part(field, ["average": .number(rating.average.digits), "votes": .int(rating.votes)])
    case .credit(let credit):
      .part(field, ["role": .string(credit.role), "person": person(credit.personID)])
    case .connection(let page): self.field(field, of: page)
    case .edge(let film):
      .part(field, ["cursor": .string(FilmPage.cursor(of: film)), "node": .object(.film(film))])
    case .pageInfo(let page): pageInfo(field, of: page)
    case .createdList(let list, let faults):
      .part(
        field,
        [
          "list": .object(list.map { .list($0) }),
          "userErrors": .list(faults.map { .object(.userError($0)) }),
        ])
    case .userError(let fault):
      .part(field, ["path": .strings(fault.path), "message": .string(fault.message)])
    }
  }

  // MARK: Small objects

  private func field(_ field: String, of poster: Poster) -> Resolved<FilmsObject> {
    .part(
      field,
      [
        "url": .string(poster.url), "width": .int(poster.width), "height": .int(poster.height),
        "alt": .string(poster.alt),
      ])
  }

  private func field(_ field: String, of page: FilmPage) -> Resolved<FilmsObject> {
    .part(
      field,
      [
        "edges": .list(page.films.map { .object(.edge($0)) }),
        "pageInfo": .object(.pageInfo(page)), "totalCount": .int(page.totalCount),
      ])
  }

  private func pageInfo(_ field: String, of page: FilmPage) -> Resolved<FilmsObject> {
    .part(
      field,
      [
        "hasNextPage": .bool(page.hasNext), "hasPreviousPage": .bool(page.hasPrevious),
        "startCursor": .string(page.films.first.map(FilmPage.cursor)),
        "endCursor": .string(page.films.last.map(FilmPage.cursor)),
      ])
  }

  private func field(_ field: String, of list: FilmList) -> Resolved<FilmsObject> {
    .part(
      field,
      [
        "id": .string(list.id), "name": .string(list.name), "note": .string(list.note),
        "owner": .object(.user(user(list.ownerID))), "films": films(list.filmIDs),
        "createdAt": .string(list.createdAt),
      ])
  }

  private func field(_ field: String, of user: User) -> Resolved<FilmsObject> {
    switch field {
    case "id": .string(user.id)
    case "name": .string(user.name)
    case "memberSince": .string(user.memberSince)
    case "watchlist": films(user.watchlist)
    case "lists":
      .list(library.lists.rows.filter { $0.ownerID == user.id }.map { .object(.list($0)) })
    case "rated": films(user.stars.keys.sorted())
    default: .missing(field)
    }
  }
}

extension Resolved {
  /// The field of a small object with the given name.
  static func part(_ field: String, _ fields: [String: Resolved]) -> Resolved {
    fields[field] ?? .missing(field)
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

  func film(_ id: String) -> Resolved<FilmsObject> {
    .object(library.films[id].map { .film($0) })
  }

  func person(_ id: String) -> Resolved<FilmsObject> {
    .object(library.people[id].map { .person($0) })
  }

  func studio(_ id: String?) -> Resolved<FilmsObject> {
    .object(id.flatMap { library.studios[$0] }.map { .studio($0) })
  }

  func series(_ id: String) -> Resolved<FilmsObject> {
    .object(library.series[id].map { .series($0) })
  }

  /// The films among the ids, in the order of the ids.
  func films(_ ids: some Sequence<String>) -> Resolved<FilmsObject> {
    .list(ids.compactMap { library.films[$0] }.map { .object(.film($0)) })
  }

  /// A stored user, or a new one with defaults.
  func user(_ id: String) -> User {
    library.users[id] ?? viewer.flatMap { $0.id == id ? $0 : nil }
      ?? User(id: id, name: id, memberSince: DemoViewer.memberSince)
  }

  /// The viewer with its stored data.
  var storedViewer: User? { viewer.map { user($0.id) } }

  func newestFirst(_ ids: [String]) -> [Film] {
    ids.compactMap { library.films[$0] }.sorted { ($1.year, $0.id) < ($0.year, $1.id) }
  }

  /// The elements of a list selected by `limit` and `offset`.
  func page<Element>(
    _ elements: some Sequence<Element>, _ arguments: Arguments
  ) throws(FieldFailure) -> [Element] {
    let limit = arguments.int("limit") ?? Self.pageMax
    let offset = arguments.int("offset") ?? 0
    guard (0...Self.pageMax).contains(limit) else {
      throw .badInput("limit", "The limit must be 0 to \(Self.pageMax).")
    }
    guard offset >= 0 else { throw .badInput("offset", "The offset must not be negative.") }
    return Array(elements.dropFirst(offset).prefix(limit))
  }

  /// The people of a cast selected by `limit` and `offset`.
  func cast(
    _ ids: [String], _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    var seen: Set<String> = []
    let people = ids.filter { seen.insert($0).inserted }.compactMap { library.people[$0] }
    return .list(try page(people, arguments).map { .object(.person($0)) })
  }

  func filmList(
    _ films: some Sequence<Film>, _ arguments: Arguments
  ) throws(FieldFailure) -> Resolved<FilmsObject> {
    .list(try page(films, arguments).map { .object(.film($0)) })
  }
}

/// The caller identified by the Authorization header: `Bearer user-ada` is the user `u-ada`, without
/// verification. Any other value is an anonymous caller.
enum DemoViewer {
  static let memberSince = "2020-01-01"
  private static let prefix = "Bearer user-"
  private static let nameLengthMax = 32

  static func user(authorization: String?) -> User? {
    guard let authorization, authorization.hasPrefix(prefix) else { return nil }
    let name = authorization.dropFirst(prefix.count)
    guard (1...nameLengthMax).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte) else {
      return nil
    }
    return User(
      id: "u-\(name)", name: name.prefix(1).uppercased() + name.dropFirst(),
      memberSince: memberSince)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
