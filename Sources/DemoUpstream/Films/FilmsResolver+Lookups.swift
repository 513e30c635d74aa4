/// Ways from ids to objects, shared by all fields.
extension FilmsResolver {
  /// The most a list field gives at once.
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

  /// A user as stored, or as everyone begins.
  func user(_ id: String) -> User {
    library.users[id] ?? viewer.flatMap { $0.id == id ? $0 : nil }
      ?? User(id: id, name: id, memberSince: Viewer.memberSince)
  }

  /// The viewer with all that was stored since.
  var storedViewer: User? { viewer.map { user($0.id) } }

  func newestFirst(_ ids: [String]) -> [Film] {
    ids.compactMap { library.films[$0] }.sorted { ($1.year, $0.id) < ($0.year, $1.id) }
  }

  /// What `limit` and `offset` leave of a list.
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

  /// The people of a cast that `limit` and `offset` leave.
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
