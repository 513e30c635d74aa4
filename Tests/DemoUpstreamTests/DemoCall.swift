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
    let request = ExecutionRequest(query: query, variables: variables)
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
  func at(_ steps: JSONValue...) -> JSONValue? {
    steps.reduce(self) { value, step in
      step.string.map { value?[$0] } ?? step.int64.map { value?[Int($0)] } ?? nil
    }
  }

  /// The code of the first error.
  var errorCode: String? { self["errors"]?[0]?["extensions"]?["code"]?.string }
}
