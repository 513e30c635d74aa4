import Foundation
import Testing

@testable import Larder

/// What fails, as the app sees it.
struct ErrorTests {
  private struct FilmQuery: GraphQLOperation {
    static let name = "Film"
    static let kind = OperationKind.query

    var variables: Variables

    struct Variables: Codable, Hashable, Sendable {
      var stars: Double
    }

    struct Response: Codable, Hashable, Sendable {
      var title: String
    }
  }

  private struct RenameMutation: GraphQLOperation {
    static let name = "Rename"
    static let kind = OperationKind.mutation

    var variables: FilmQuery.Variables

    typealias Response = FilmQuery.Response
  }

  private struct AppError: Error {}

  private func phone() async throws -> Larder {
    let transport = ScriptedLarder { request in
      ScriptedLarder.account(request) ?? (200, ["data": ["title": 1]])
    }
    let larder = try await ScriptedLarder.open(transport)
    try await larder.register()
    return larder
  }

  private func code(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? LarderError)?.code ?? "\(type(of: error))"
    }
  }

  @Test("Content of another type than the app's is `unexpected_content`")
  func reportsContent() async throws {
    let larder = try await phone()
    let query = FilmQuery(variables: FilmQuery.Variables(stars: 1))
    #expect(await code { _ = try await larder.query(query) } == "unexpected_content")
    #expect(await code { _ = try JSONValue(parsing: "{") } == "unexpected_content")
    try await larder.write([["op": "insert", "type": "Film", "id": "f1", "data": ["title": 1]]])
    let found = await code { try await larder.read { db in _ = try Film.all.fetchAll(db) } }
    #expect(found == "unexpected_content")
    let observed = await code { for try await _ in larder.observe(Film.all) {} }
    #expect(observed == "unexpected_content")
  }

  @Test("A value that cannot be JSON is `invalid_argument`")
  func reportsArguments() async throws {
    let larder = try await phone()
    let query = FilmQuery(variables: FilmQuery.Variables(stars: .infinity))
    #expect(await code { _ = try await larder.query(query) } == "invalid_argument")
    let mutation = RenameMutation(variables: query.variables)
    #expect(await code { _ = try await larder.lazy(mutation) } == "invalid_argument")
    #expect(await code { _ = try larder.live(query) } == "invalid_argument")
  }

  @Test(
    "A generated operation of another kind than the call takes is `invalid_argument`, and nothing is sent"
  )
  func reportsKinds() async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (200, ["data": nil]) }
    let larder = try await ScriptedLarder.open(transport)
    try await larder.register()
    let variables = FilmQuery.Variables(stars: 1)
    let (query, mutation) = (FilmQuery(variables: variables), RenameMutation(variables: variables))
    #expect(await code { try await larder.lazy(query) } == "invalid_argument")
    #expect(await code { try await larder.steady(query) } == "invalid_argument")
    #expect(await code { _ = try await larder.force(query) } == "invalid_argument")
    #expect(await code { _ = try await larder.query(mutation) } == "invalid_argument")
    #expect(await code { _ = try larder.live(mutation) } == "invalid_argument")
    #expect(await code { _ = try await larder.query("") } == "invalid_argument")
    #expect(await code { try await larder.submit("") } == "invalid_argument")
    #expect(await code { _ = try await larder.force("") } == "invalid_argument")
    #expect(await code { for try await _ in larder.live(.operation("")) {} } == "invalid_argument")
    #expect(try await larder.outbox().isEmpty)
    #expect(transport.requests == ["POST /v1/devices"])
  }

  @Test(
    "An address that cannot be Larder's is `invalid_argument`",
    arguments: [
      "localhost:8080", "ftp://larder", "http://", "larder", "http://larder/?a=1",
      "https://larder/#a",
    ])
  func reportsAddresses(text: String) async throws {
    let url = try #require(URL(string: text))
    #expect(await code { _ = try await Larder(url: url, store: .memory) } == "invalid_argument")
  }

  @Test("Without a profile the error says what to call")
  func reportsMissingProfile() async throws {
    let url = try #require(URL(string: "http://larder"))
    let larder = try await Larder(url: url, store: .memory)
    do {
      try await larder.sync()
      Issue.record("A sync without a profile ends.")
    } catch {
      #expect("\(error)".contains("no active profile") && "\(error)".contains("register or signIn"))
    }
  }

  @Test("Faults of the store are `storage_failed`, within `read` too")
  func reportsStorage() async throws {
    let larder = try await phone()
    let inner = try await larder.read { db in
      do {
        return try db.rows(sql: "SELECT nothing FROM nowhere").description
      } catch let error as LarderError {
        return error.code
      }
    }
    #expect(inner == "storage_failed")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(repeating: 1, count: 4_096).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let url = try #require(URL(string: "http://larder"))
    let below = file.appendingPathComponent("larder.sqlite")
    let found = await code { _ = try await Larder(url: url, store: .file(below)) }
    #expect(found == "storage_failed")
    let noDatabase = await code {
      let credentials = MemoryCredentialStore()
      _ = try await Larder(url: url, store: .file(file), credentials: credentials)
    }
    #expect(noDatabase == "store_damaged")
  }

  @Test("What the app throws within `read` comes out unchanged")
  func passesErrors() async throws {
    let larder = try await phone()
    await #expect(throws: AppError.self) { try await larder.read { _ in throw AppError() } }
  }
}
