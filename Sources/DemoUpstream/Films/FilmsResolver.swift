/// Resolves the film schema over one state of the library, for one caller.
struct FilmsResolver: Resolver {
  var library: Library
  /// Who the Authorization header names.
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
  /// The named one of a small object's fields.
  static func part(_ field: String, _ fields: [String: Resolved]) -> Resolved {
    fields[field] ?? .missing(field)
  }

  /// The schema has a field that the demo forgot.
  static func missing(_ field: String) -> Resolved {
    .failure(FieldFailure("\(field) is not resolved.", code: "INTERNAL_SERVER_ERROR"))
  }
}
