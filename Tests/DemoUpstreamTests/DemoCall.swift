import LosslessJSON

@testable import DemoUpstream

/// A demo engine without HTTP that returns the JSON of its responses.
struct DemoCall {
  let engine: DemoEngine

  init(seed: UInt64 = DemoOptions.usualSeed) {
    engine = DemoEngine(seed: seed, now: { 1_709_194_500 })
  }

  func answer(
    _ query: String, _ variables: JSONValue = .object([]), user: String? = nil,
    key: String? = nil, isSafe: Bool = false, brokenFields: Set<String> = []
  ) -> DemoResponse {
    let request = GraphQLRequest(query: query, variables: variables)
    let caller = DemoEngine.Caller(
      authorization: user.map { "Bearer user-\($0)" }, idempotencyKey: key, isSafe: isSafe)
    switch engine.prepare(request) {
    case .success(let prepared):
      return engine.answer(prepared, of: request, from: caller, brokenFields: brokenFields)
    case .failure(let rejection):
      return DemoResponse(outcome: .rejected(rejection.reason), bytes: rejection.bytes)
    }
  }

  func callAsFunction(
    _ query: String, _ variables: JSONValue = .object([]), user: String? = nil, key: String? = nil
  ) throws -> JSONValue {
    try JSONValue(parsing: answer(query, variables, user: user, key: key).bytes)
  }
}

extension JSONValue {
  /// The value at a path of member names and indexes.
  func at(_ steps: PathStep...) -> JSONValue? {
    steps.reduce(self) { value, step in
      switch step {
      case .key(let key): value?[key]
      case .index(let index): value?[index]
      }
    }
  }

  /// The code of the first error.
  var errorCode: String? { self["errors"]?[0]?["extensions"]?["code"]?.string }
}

extension PathStep: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral value: String) { self = .key(value) }
  public init(integerLiteral value: Int) { self = .index(value) }
}
