import Foundation
import Testing

@testable import Larder

/// What fails, as the app sees it.
struct ErrorTests {
  private struct AppError: Error {}

  private func phone() async throws -> Larder {
    let transport = ScriptedLarder { request in
      ScriptedLarder.account(request) ?? (200, ["data": ["title": 1]])
    }
    let larder = try await ScriptedLarder.registered(transport)
    return larder
  }

  @Test("Content of another type than the app's is `unexpected_content`")
  func reportsContent() async throws {
    let larder = try await phone()
    let query = TitleQuery(variables: Stars(stars: 1))
    #expect(await failure { _ = try await larder.query(query) }?.code == "unexpected_content")
    #expect(await failure { _ = try JSONValue(parsing: "{") }?.code == "unexpected_content")
    try await larder.write([["op": "insert", "type": "Film", "id": "f1", "data": ["title": 1]]])
    let found = await failure { try await larder.read { db in _ = try Film.all.fetchAll(db) } }?
      .code
    #expect(found == "unexpected_content")
    let observed = await failure { for try await _ in larder.observe(Film.all) {} }?.code
    #expect(observed == "unexpected_content")
  }

  @Test("A value that cannot be JSON is `invalid_argument`")
  func reportsArguments() async throws {
    let larder = try await phone()
    let query = TitleQuery(variables: Stars(stars: .infinity))
    #expect(await failure { _ = try await larder.query(query) }?.code == "invalid_argument")
    let mutation = RateFilmMutation(variables: query.variables)
    #expect(await failure { _ = try await larder.lazy(mutation) }?.code == "invalid_argument")
    #expect(await failure { _ = try larder.live(query) }?.code == "invalid_argument")
  }

  @Test(
    "A generated operation of another kind than the call takes is `invalid_argument`, and nothing is sent"
  )
  func reportsKinds() async throws {
    let transport = ScriptedLarder { ScriptedLarder.account($0) ?? (200, ["data": nil]) }
    let larder = try await ScriptedLarder.registered(transport)
    let variables = Stars(stars: 1)
    let (query, mutation) = (
      TitleQuery(variables: variables), RateFilmMutation(variables: variables)
    )
    #expect(await failure { try await larder.lazy(query) }?.code == "invalid_argument")
    #expect(await failure { try await larder.steady(query) }?.code == "invalid_argument")
    #expect(await failure { _ = try await larder.force(query) }?.code == "invalid_argument")
    #expect(await failure { _ = try await larder.query(mutation) }?.code == "invalid_argument")
    #expect(await failure { _ = try larder.live(mutation) }?.code == "invalid_argument")
    #expect(await failure { _ = try await larder.query("") }?.code == "invalid_argument")
    #expect(await failure { try await larder.submit("") }?.code == "invalid_argument")
    #expect(await failure { _ = try await larder.force("") }?.code == "invalid_argument")
    #expect(
      await failure { for try await _ in larder.live(.operation("")) {} }?.code
        == "invalid_argument")
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
    #expect(
      await failure { _ = try await Larder(url: url, store: .memory) }?.code == "invalid_argument")
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
    let found = await failure { _ = try await Larder(url: url, store: .file(below)) }?.code
    #expect(found == "storage_failed")
    let noDatabase = await failure {
      let credentials = MemoryCredentialStore()
      _ = try await Larder(url: url, store: .file(file), credentials: credentials)
    }?.code
    #expect(noDatabase == "store_damaged")
  }

  @Test("What the app throws within `read` comes out unchanged")
  func passesErrors() async throws {
    let larder = try await phone()
    await #expect(throws: AppError.self) { try await larder.read { _ in throw AppError() } }
  }
}
