import GraphQL
import LosslessJSON
import Testing

@testable import DemoUpstream

/// The schema defines fields by name and the resolver resolves them by name; only these tests check that
/// the two agree.
struct EveryFieldTests {
  /// A selection of all fields of a type, with the scalars of its object fields.
  static func selection(of type: NamedType, depth: Int) -> String {
    let schema = FilmsSchema.schema
    let fields = type.fields.compactMap { field -> String? in
      guard let inner = schema.type(of: field.type) else { return nil }
      if inner.isLeaf { return field.name }
      if depth == 0 { return nil }
      let members = schema.possibleTypes(of: inner).map {
        "... on \($0.name) { \(selection(of: $0, depth: depth - 1)) }"
      }
      return "\(field.name) { __typename \(members.joined(separator: " ")) }"
    }
    return fields.joined(separator: " ")
  }

  @Test(
    "Every field of an entity is resolved",
    arguments: ["film", "series", "person", "studio"])
  func everyFieldOfAnEntityResolves(root: String) throws {
    let type = try #require(
      FilmsSchema.schema.type(named: root.prefix(1).uppercased() + root.dropFirst()))
    let letter = root == "series" ? "t" : String(root.prefix(1))
    let call = DemoCall()
    for number in 1...12 {
      let answer = try call(
        "{ \(root)(id: \"\(letter)\(number)\") { \(Self.selection(of: type, depth: 2)) } }",
        user: "ada")
      #expect(answer["errors"] == nil, "\(answer["errors"]?.text ?? "")")
      #expect(answer["data"]?[root]?["id"]?.string == "\(letter)\(number)")
    }
  }

  @Test("Every field of Query is resolved")
  func everyFieldOfTheQueryResolves() throws {
    let type = try #require(FilmsSchema.schema.type(named: "Query"))
    for field in type.fields {
      let inner = try #require(FilmsSchema.schema.type(of: field.type))
      let needed = field.arguments.filter(\.isRequired)
        .map { "\($0.name): \"f1\"" }.joined(separator: ", ")
      let members = FilmsSchema.schema.possibleTypes(of: inner).map {
        "... on \($0.name) { \(Self.selection(of: $0, depth: 1)) }"
      }
      let body = inner.isLeaf ? "" : "{ __typename \(members.joined(separator: " ")) }"
      let answer = try DemoCall()(
        "{ \(field.name)\(needed.isEmpty ? "" : "(\(needed))") \(body) }", user: "ada")
      #expect(answer["errors"] == nil, "\(field.name): \(answer["errors"]?.text ?? "")")
    }
  }

  @Test("Every field of a user and of a list is resolved")
  func everyFieldOfAUserAndAListResolves() throws {
    let call = DemoCall()
    let user = try #require(FilmsSchema.schema.type(named: "User"))
    let list = try #require(FilmsSchema.schema.type(named: "FilmList"))
    _ = try call("mutation { addToWatchlist(filmId: \"f3\") { id } }", user: "ada")
    _ = try call("mutation { rateFilm(id: \"f4\", stars: 5) { id } }", user: "ada")
    let created = try call(
      "mutation { createList(input: {name: \"N\", filmIds: [\"f1\"]}) { list { \(Self.selection(of: list, depth: 1)) } userErrors { path message } } }",
      user: "ada")
    #expect(created["errors"] == nil)
    #expect(created.at("data", "createList", "list", "films", 0, "id") == "f1")
    let me = try call("{ me { \(Self.selection(of: user, depth: 2)) } }", user: "ada")
    #expect(me["errors"] == nil, "\(me["errors"]?.text ?? "")")
    #expect(me.at("data", "me", "watchlist", 0, "id") == "f3")
    #expect(me.at("data", "me", "rated", 0, "myStars") == 5)
    #expect(me.at("data", "me", "lists", 0, "name") == "N")
  }
}
