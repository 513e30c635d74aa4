import Foundation
import Testing

@testable import Larder

/// Problems and GraphQL errors, as the app sees them.
struct ProblemTests {
  private static let graphQLErrors: JSONValue = [
    "data": ["rateFilm": nil],
    "errors": [
      ["message": "Stars are 1 to 5.", "extensions": ["code": "BAD_USER_INPUT"]],
      ["message": "And whole."],
    ],
  ]

  private func phone(_ answer: @escaping ScriptedLarder.Answer) async throws -> Larder {
    let transport = ScriptedLarder.withAccount { request in
      return try await answer(request)
    }
    var options = Larder.Options()
    options.pollInterval = .milliseconds(1)
    let larder = try await ScriptedLarder.registered(transport, options: options)
    return larder
  }

  @Test(
    "An item ends only if the problem does not ask to send it again",
    arguments: [
      (400, "body_incomplete", "same-key", true), (409, "write_conflict", "after", true),
      (408, "request_timeout", "after", true), (422, "invalid_mutation", "never", false),
      (424, "dependency_rejected", "new-key", false),
    ])
  func keepsItemsToRetry(status: Int, code: String, retry: String, isKept: Bool) async throws {
    let isRefusing = Locked(true)
    let larder = try await phone { _ in
      isRefusing.withLock { $0 }
        ? (status, ["code": .string(code), "retry": .string(retry)])
        : (202, ["id": "m1", "state": "queued"])
    }
    let key = try await larder.submit("RateFilm")
    let result = try await larder.send()
    #expect(result.error?.code == (isKept ? code : nil))
    #expect(try await larder.outbox().map(\.key) == (isKept ? [key] : []))
    #expect(try await larder.outcomes().map(\.state) == (isKept ? [] : ["refused"]))
    isRefusing.withLock { $0 = false }
    #expect(try await larder.send().sent == (isKept ? 1 : 0))
  }

  @Test("A generated mutation that is sent now fails with your API's errors")
  func throwsGraphQLErrors() async throws {
    let larder = try await phone { _ in
      (200, ["id": "m1", "state": "rejected", "response": Self.graphQLErrors])
    }
    let mutation = RateFilmMutation(variables: .init(stars: 99))
    let error = await failure { _ = try await larder.force(mutation) }
    guard case .refused(let problem) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(problem.code == "BAD_USER_INPUT")
    #expect(problem.detail == "Stars are 1 to 5.")
    #expect(problem.json["errors"]?.array?.count == 2)
    #expect(error?.description == "Stars are 1 to 5.\nAnd whole.")
    let untyped = try await larder.force("RateFilm", variables: ["stars": 99])
    #expect(untyped.response == Self.graphQLErrors)
  }

  @Test("A live sequence of a generated query reports your API's errors", .timeLimit(.minutes(1)))
  func reportsLiveErrors() async throws {
    let polls = Locked(0)
    let larder = try await phone { request in
      if request.isStream { return (404, ["code": "not_found"]) }
      let number = polls.withLock { polls in
        polls += 1
        return polls
      }
      return number == 1
        ? (200, ["data": nil, "errors": [["message": "No."]]]) : (200, ["data": ["title": "One"]])
    }
    let silent = await failure { for try await _ in try larder.live(TitleQuery()) {} }
    #expect(silent?.code == "upstream_rejected")
    #expect(silent?.description == "No.")
    polls.withLock { $0 = 0 }
    let errors = Locked<[JSONValue]>([])
    let responses = try larder.live(TitleQuery()) { new in errors.withLock { $0 += new } }
    for try await response in responses {
      #expect(response.title == "One")
      break
    }
    #expect(errors.withLock { $0 } == [["message": "No."]])
  }

  @Test("The text of an error has the faults of the problem, with their places")
  func describesFaults() async throws {
    let larder = try await phone { _ in
      (
        400,
        [
          "code": "invalid_variables", "detail": "2 of the variables are invalid.",
          "errors": [
            ["parameter": "id", "detail": "It is missing."],
            ["pointer": "/stars", "detail": "It is no Int."],
          ],
        ]
      )
    }
    let error = await failure { _ = try await larder.query("Film") }
    #expect(
      error?.description
        == "2 of the variables are invalid.\nid: It is missing.\n/stars: It is no Int.")
  }
}
